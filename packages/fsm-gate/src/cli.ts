/** The command `fsm-gate`: proves or draws a gate that a file describes. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { runCli } from './cli/run.js';

const write = process.stdout.write.bind(process.stdout);
// What a module prints while it is imported must not get into the diagram or the JSON.
process.stdout.write = process.stderr.write.bind(process.stderr);

process.exitCode = await runCli(process.argv.slice(2), {
  readFile: (file) => readFile(file, 'utf8'),
  importModule: (file) => import(pathToFileURL(resolve(file)).href),
  out: (text) => write(text),
  version: async () => JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')).version,
  err: (text) => process.stderr.write(text),
});
