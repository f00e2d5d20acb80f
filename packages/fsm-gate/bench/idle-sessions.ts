/** What an idle session costs in memory: 100,000 sessions of each kind, weighed in a process of their own. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { StateMachineGate } from '../src/index.js';
import { createGateSessions, memoryGateStore } from '../src/sessions/index.js';

const SESSIONS = 100_000;
const TARGET_BYTES = 500;
const ROUNDS = 5;

export function benchIdleSessions(): void {
  const weighed = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', fileURLToPath(import.meta.url)], {
    encoding: 'utf8',
  });
  if (weighed.status !== 0) throw new Error(weighed.stderr);
  const bytes = weighed.stdout
    .trim()
    .split(' ')
    .map(Number)
    .sort((a, b) => a - b);
  const median = bytes[Math.floor(bytes.length / 2)] ?? Number.NaN;
  const verdict = median <= TARGET_BYTES ? 'met' : 'missed';
  console.log(`\n${SESSIONS} idle sessions, keys of 36 characters included: median ${median} bytes each`);
  console.log(`(${bytes[0]}–${bytes.at(-1)} over ${bytes.length} rounds; target ≤ ${TARGET_BYTES}: ${verdict})`);
}

async function weigh(): Promise<number> {
  const gate = new StateMachineGate({ initial: 'empty', states: { empty: { on: { ADD: 'full' } }, full: {} } });
  gate.bindTool('add', 'empty', 'ADD').bindTool('view', 'full');
  const sessions = createGateSessions({ gate, store: memoryGateStore({ maxSessions: SESSIONS * 2 }) });
  const before = settledHeap();
  for (let at = 0; at < SESSIONS; at += 1) await sessions.run(aKey(), 'add', {}, () => 1);
  const after = settledHeap();
  await sessions.inspect('kept alive until here');
  return Math.round((after - before) / SESSIONS);
}

/**
 * A key as it comes out of a header: one flat text. What `crypto.randomUUID()` returns is a rope of some 490 bytes, which its
 * maker (a transport) keeps whether there is a gate or not.
 */
function aKey(): string {
  return randomBytes(18).toString('hex');
}

function settledHeap(): number {
  for (let at = 0; at < 4; at += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

if (process.argv[1] === fileURLToPath(import.meta.url) && globalThis.gc) {
  const rounds: number[] = [];
  for (let at = 0; at < ROUNDS; at += 1) rounds.push(await weigh());
  console.log(rounds.join(' '));
}
