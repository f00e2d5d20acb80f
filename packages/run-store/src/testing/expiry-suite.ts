/** The edges of a run's life. Time is moved by the harness; a margin of seconds keeps a slow machine out of it. */
import { ensure, ensureSame, needed } from './assert.js';
import type { ConformanceTest, RunStoreHarness } from './harness.js';
import { aPausedRun } from './sample-runs.js';
import { aRunId, TTL_SECONDS, testOn } from './suite.js';

const TTL_MS = TTL_SECONDS * 1000;
/** Real time that a test may take before a store with a clock of its own disagrees with the test. */
const MARGIN_MS = TTL_MS / 4;

export function expirySuite(harness: RunStoreHarness): ConformanceTest[] {
  if (!harness.capabilities.ttl) return [];
  return [
    testOn(harness, 'a run is there until its time is over', async (place) => {
      const advance = needed(place.advance, 'advance', 'ttl').bind(place);
      const runId = aRunId();
      await place.store.store(runId, aPausedRun());
      await advance(TTL_MS - MARGIN_MS);
      ensureSame(await place.store.load(runId), aPausedRun(), 'load before the end');
      ensureSame(await place.store.consume(runId), aPausedRun(), 'consume before the end');
    }),

    testOn(harness, 'an expired run loads and consumes as null', async (place) => {
      const advance = needed(place.advance, 'advance', 'ttl').bind(place);
      const [peeked, taken] = [aRunId(), aRunId()];
      await place.store.store(peeked, aPausedRun());
      await place.store.store(taken, aPausedRun());
      await advance(TTL_MS + 1);
      ensure((await place.store.load(peeked)) === null, () => 'an expired run could be loaded.');
      ensure((await place.store.consume(taken)) === null, () => 'an expired run could be consumed.');
    }),

    testOn(harness, 'loading a run does not prolong its life', async (place) => {
      const advance = needed(place.advance, 'advance', 'ttl').bind(place);
      const runId = aRunId();
      await place.store.store(runId, aPausedRun());
      await advance(TTL_MS - MARGIN_MS);
      ensureSame(await place.store.load(runId), aPausedRun(), 'load before the end');
      await advance(MARGIN_MS + 1);
      ensure((await place.store.load(runId)) === null, () => 'a load prolonged the life of a run.');
      ensure((await place.store.consume(runId)) === null, () => 'a load prolonged the life of a run.');
    }),

    testOn(harness, 'storing a run again gives it a whole life', async (place) => {
      const advance = needed(place.advance, 'advance', 'ttl').bind(place);
      const runId = aRunId();
      await place.store.store(runId, aPausedRun('first'));
      await advance(TTL_MS - MARGIN_MS);
      await place.store.store(runId, aPausedRun('second'));
      await advance(2 * MARGIN_MS);
      ensureSame(await place.store.consume(runId), aPausedRun('second'), 'the run stored again');
    }),

    testOn(harness, 'concurrent consumers of an expired run all get null', async (place) => {
      const advance = needed(place.advance, 'advance', 'ttl').bind(place);
      const runId = aRunId();
      await place.store.store(runId, aPausedRun());
      await advance(TTL_MS + 1);
      const found = await Promise.all(Array.from({ length: 8 }, () => place.store.consume(runId)));
      ensure(
        found.every((state) => state === null),
        () => 'an expired run was handed to one of several consumers.',
      );
    }),
  ];
}
