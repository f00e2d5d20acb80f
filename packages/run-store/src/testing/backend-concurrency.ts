/** Many takers of many runs on every connection of a driver: one winner a run. */
import type { RunBackend } from '../backend.js';
import { ensure, ensureSame, needed } from './assert.js';
import { aKey, aToken, aValue, backendTest, LIFE_MS, type RunBackendHarness } from './backend-harness.js';
import { asBytes } from './backend-values.js';
import type { ConformanceTest } from './harness.js';

const RUNS = 100;
const TAKERS = 16;
const CONNECTIONS = 4;

export function backendConcurrencySuite(harness: RunBackendHarness): ConformanceTest[] {
  return [
    backendTest(harness, `of ${TAKERS} concurrent takers of a run, one wins`, async (place) => {
      const { atomicTake } = place.backend.capabilities;
      if (atomicTake === 'none') return;
      const connections = [place.backend];
      if (atomicTake === 'store' && place.backend.capabilities.shared) {
        const connect = needed(place.connect, 'connect', "atomicTake: 'store'").bind(place);
        connections.push(...(await Promise.all(Array.from({ length: CONNECTIONS - 1 }, connect))));
      }
      await Promise.all(Array.from({ length: RUNS }, () => raceForOneRun(connections)));
    }),
  ];
}

async function raceForOneRun(connections: readonly RunBackend[]): Promise<void> {
  const [key, value] = [aKey(), aValue()];
  await connections[0]!.put(key, value, { existing: 'replace', ttlMs: LIFE_MS });
  const taken = await Promise.all(
    Array.from({ length: TAKERS }, (_, taker) =>
      connections[taker % connections.length]!.take(key, { token: aToken(), retainMs: 60_000 }),
    ),
  );
  const winners = taken.filter((bytes) => bytes !== null);
  ensure(winners.length === 1, () => `${winners.length} of ${TAKERS} concurrent takers got the run.`);
  ensureSame(asBytes(winners[0]!), value, 'the run that was won');
}
