/** The same tasks on pi-mcp-adapter, fetched from npm into a temporary folder, and on ours: `tsx bench/pi-mcp-adapter.ts`. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { installedServers } from '../test/fixtures/installed-servers.js';
import { aFolder, scripted } from '../test/fixtures/scripted.js';

interface Report {
  readonly definition: unknown;
  readonly lazyMs: number;
  readonly started: number;
  readonly hits: number;
  readonly empty: number;
  readonly p50: number;
  readonly p99: number;
}

const run = promisify(execFile);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const folder = await aFolder();
const servers = installedServers(folder);
const input = join(folder, 'input.json');
const steps = await stepsForTheseServers();
await writeFile(
  input,
  JSON.stringify({
    servers,
    lazyServers: Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`s${index}`, scripted()])),
    steps,
    call: { server: 'everything', tool: 'echo', args: { message: 'hi' } },
    stateFolder: join(folder, 'state'),
  }),
);

await writeFile(join(folder, 'package.json'), '{"private": true}');
const packages = ['pi-mcp-adapter@2', '@earendil-works/pi-coding-agent', 'tsx@4'];
console.log(`fetching ${packages.join(', ')} …`);
await run('npm', ['i', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
  cwd: folder,
  maxBuffer: 1 << 26,
});
await writeFile(join(folder, 'task-driver.mjs'), await readFile(here('gateway/task-driver.mjs')));

const tsx = (await import.meta.resolve('tsx/cli')).replace('file://', '');
const ours = await drive(
  'ours',
  tsx,
  pathToFileURL(here('../src/node/index.ts')).href,
  here('gateway/task-driver.mjs'),
);
const theirs = await drive(
  'pi',
  join(folder, 'node_modules/tsx/dist/cli.mjs'),
  'pi-mcp-adapter',
  join(folder, 'task-driver.mjs'),
);

const row = (label: string, value: (report: Report) => string): void =>
  console.log(`${label.padEnd(52)} ${value(ours).padStart(16)} ${value(theirs).padStart(16)}`);
console.log(
  `\n${'four real servers over stdio'.padEnd(52)} ${'mcp-proxy'.padStart(16)} ${'pi-mcp-adapter'.padStart(16)}`,
);
row('definition, tokens (o200k)', ({ definition }) => String(countTokens(JSON.stringify(definition))));
row('25 lazy servers, nothing known: status after, ms', ({ lazyMs }) => lazyMs.toFixed(0));
row('  upstreams started meanwhile', ({ started }) => String(started));
row(`search: a right tool among the first 5, of ${steps.length}`, ({ hits }) => String(hits));
row('  empty answers', ({ empty }) => String(empty));
row('call of echo, p50 µs', ({ p50 }) => p50.toFixed(0));
row('  p99 µs', ({ p99 }) => p99.toFixed(0));

async function drive(which: string, runner: string, module: string, driver: string): Promise<Report> {
  // A home of its own: neither may find what a person has configured.
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder };
  const { stdout } = await run(process.execPath, [runner, driver, which, module, input], {
    cwd: folder,
    env,
    maxBuffer: 1 << 26,
  });
  return JSON.parse(/^REPORT (.*)$/m.exec(stdout)?.[1] ?? '') as Report;
}

/** The queries of our regression set whose answer is on one of these servers. */
async function stepsForTheseServers(): Promise<{ query: string; gold: string[] }[]> {
  const { openProxy } = await import('../src/node/index.js');
  const opened = await openProxy({ config: { mcpServers: servers }, stateFolder: join(folder, 'names') });
  for (const name of Object.keys(servers)) await opened.proxy.perform({ kind: 'connect', server: name });
  const names = new Set(
    Object.keys(servers).flatMap((name) => (opened.proxy.visibleTools(name) ?? []).map((tool) => tool.name)),
  );
  await opened.close();
  const { steps: all } = JSON.parse(await readFile(here('queries/published-servers.json'), 'utf8')) as {
    steps: { query: string; gold: string[] }[];
  };
  return all
    .map(({ query, gold }) => ({ query, gold: gold.filter((name) => names.has(name)) }))
    .filter(({ gold }) => gold.length > 0);
}
