/** Many takers of many runs on every connection of a driver: one winner a run. */
import type { RunBackend } from '../backend.js';
import { ensure, ensureSame, needed } from './assert.js';
import {
  aKey,
  aToken,
  aValue,
  type BackendUnderTest,
  backendTest,
  LIFE_MS,
  type RunBackendHarness,
} from './backend-harness.js';
import { asBytes } from './backend-values.js';
import type { ConformanceTest } from './harness.js';

const RUNS = 100;
const TAKERS = 16;
const CONNECTIONS = 4;

export function backendConcurrencySuite(harness: RunBackendHarness): ConformanceTest[] {
  return [
    backendTest(harness, `of ${TAKERS} concurrent takers of a run, one wins`, async (place) => {
      if (place.backend.capabilities.atomicTake === 'none') return;
      const connections = await connectionsOf(place);
      await Promise.all(Array.from({ length: RUNS }, () => raceForOneRun(connections)));
    }),

    backendTest(
      harness,
      `of ${TAKERS} concurrent claimers of a run, one holds it, with fences that grow`,
      async (place) => {
        if (!place.backend.claims) return;
        const connections = await connectionsOf(place);
        await Promise.all(Array.from({ length: RUNS / 5 }, () => claimInTurns(connections)));
      },
    ),
  ];
}

async function connectionsOf(place: BackendUnderTest): Promise<RunBackend[]> {
  const { atomicTake, shared } = place.backend.capabilities;
  if (atomicTake !== 'store' || !shared) return [place.backend];
  const connect = needed(place.connect, 'connect', "atomicTake: 'store'").bind(place);
  return [place.backend, ...(await Promise.all(Array.from({ length: CONNECTIONS - 1 }, connect)))];
}

/** Everybody claims at once; the one who holds the run gives it back; and again. */
async function claimInTurns(connections: readonly RunBackend[]): Promise<void> {
  const [key, value] = [aKey(), aValue()];
  await connections[0]!.put(key, value, { existing: 'replace', ttlMs: LIFE_MS });
  let lastFence = Number.NEGATIVE_INFINITY;
  for (let turn = 0; turn < 3; turn += 1) {
    const claims = await Promise.all(
      Array.from({ length: TAKERS }, async (_, claimer) => {
        const { claims } = connections[claimer % connections.length]!;
        const token = aToken();
        return { token, reply: await claims!.claim(key, { token, leaseMs: LIFE_MS }) };
      }),
    );
    const [holder, ...others] = claims.filter(({ reply }) => reply.kind === 'claimed');
    ensure(holder !== undefined && others.length === 0, () => `${others.length + 1} claimers hold the run at once.`);
    const fence = holder.reply.kind === 'claimed' ? holder.reply.fence : Number.NaN;
    ensure(fence > lastFence, () => `the fence went from ${lastFence} to ${fence}.`);
    lastFence = fence;
    ensureSame(await connections[0]!.claims!.release(key, { token: holder.token }), 'ok', 'release by the holder');
  }
}

async function raceForOneRun(connections: readonly RunBackend[]): Promise<void> {
  const [key, value] = [aKey(), aValue()];
  await connections[0]!.put(key, value, { existing: 'replace', ttlMs: LIFE_MS });
  const taken = await Promise.all(
    Array.from({ length: TAKERS }, (_, taker) =>
      connections[taker % connections.length]!.take(key, { token: aToken(), retainMs: 60_000, ttlMs: 600_000 }),
    ),
  );
  const winners = taken.filter((bytes) => bytes !== null);
  ensure(winners.length === 1, () => `${winners.length} of ${TAKERS} concurrent takers got the run.`);
  ensureSame(asBytes(winners[0]!), value, 'the run that was won');
}
