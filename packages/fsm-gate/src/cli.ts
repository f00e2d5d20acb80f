/** The command `fsm-gate`: proves or draws a gate that a file describes. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { runCli } from './cli/run.js';

process.exitCode = await runCli(process.argv.slice(2), {
  readFile: (file) => readFile(file, 'utf8'),
  importModule: (file) => import(pathToFileURL(resolve(file)).href),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
