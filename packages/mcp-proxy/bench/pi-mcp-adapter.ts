/** The same tasks on pi-mcp-adapter, fetched from npm into a temporary folder, and on ours: `tsx bench/pi-mcp-adapter.ts`. */
import { execFile, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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
}

/** A proxy in a process of its own that has done its tasks and waits for rounds of calls. */
interface Driven {
  readonly report: Report;
  /** Times of so many calls, in microseconds. */
  round(calls: number): Promise<readonly number[]>;
  end(): void;
}

const ROUNDS = 25;
const CALLS_A_ROUND = 40;

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

const times = { ours: [] as number[], theirs: [] as number[] };
const rounds = { ours: [] as number[], theirs: [] as number[] };
for (let round = -1; round < ROUNDS; round += 1) {
  // They take turns, so that what else the machine does falls on both; the first round warms up.
  const [mine, other] = [await ours.round(CALLS_A_ROUND), await theirs.round(CALLS_A_ROUND)];
  if (round < 0) continue;
  times.ours.push(...mine);
  times.theirs.push(...other);
  rounds.ours.push(quantile(mine, 0.5));
  rounds.theirs.push(quantile(other, 0.5));
}
ours.end();
theirs.end();

const print = (label: string, mine: string, other: string): void =>
  console.log(`${label.padEnd(52)} ${mine.padStart(16)} ${other.padStart(16)}`);
const row = (label: string, value: (report: Report) => string): void =>
  print(label, value(ours.report), value(theirs.report));
const timeRow = (label: string, value: (all: readonly number[], medians: readonly number[]) => string): void =>
  print(label, value(times.ours, rounds.ours), value(times.theirs, rounds.theirs));
console.log();
print('four real servers over stdio', 'mcp-proxy', 'pi-mcp-adapter');
row('definition, tokens (o200k)', ({ definition }) => String(countTokens(JSON.stringify(definition))));
row('25 lazy servers, nothing known: status after, ms', ({ lazyMs }) => lazyMs.toFixed(0));
row('  upstreams started meanwhile', ({ started }) => String(started));
row(`search: a right tool among the first 5, of ${steps.length}`, ({ hits }) => String(hits));
row('  empty answers', ({ empty }) => String(empty));
timeRow(`call of echo, p50 µs (${ROUNDS} rounds of ${CALLS_A_ROUND} in turns)`, (all) => quantile(all, 0.5).toFixed(0));
timeRow('  p50 of the rounds, least and most', (_all, medians) =>
  [quantile(medians, 0), quantile(medians, 1)].map((time) => time.toFixed(0)).join('–'),
);
timeRow('  p90 µs', (all) => quantile(all, 0.9).toFixed(0));
timeRow('  p99 µs', (all) => quantile(all, 0.99).toFixed(0));

async function drive(which: string, runner: string, module: string, driver: string): Promise<Driven> {
  // A home of its own: neither may find what a person has configured.
  const env = { ...process.env, HOME: folder, XDG_STATE_HOME: folder };
  const child = spawn(process.execPath, [runner, driver, which, module, input], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async <T>(kind: string): Promise<T> => {
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      if (line.value.startsWith(`${kind} `)) return JSON.parse(line.value.slice(kind.length)) as T;
    }
    throw new Error(`${which} ended before it had told its ${kind}`);
  };
  return {
    report: await next<Report>('REPORT'),
    round: (calls) => {
      child.stdin.write(`${calls}\n`);
      return next<number[]>('TIMES');
    },
    end: () => child.stdin.end(),
  };
}

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
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
