/** A line that breaks at the worst moment. What must never happen: `null` for a run that this very call took. */
import { ensure, ensureSame, needed } from './assert.js';
import type { AgentRunStore, ConformanceTest, RunStoreHarness, UnreliableConnection } from './harness.js';
import { checkHistory, describeViolation, HistoryRecorder } from './history.js';
import { aPausedRun } from './sample-runs.js';
import { aRunId, testOn } from './suite.js';

const ROUNDS = 20;

export function faultSuite(harness: RunStoreHarness): ConformanceTest[] {
  if (!harness.capabilities.retrySafe) return [];
  return [
    testOn(harness, 'a consume whose reply is lost answers with the run or rejects, never with null', async (place) => {
      const line = await needed(place.unreliable, 'unreliable', 'retrySafe').call(place);
      await takeOverABrokenLine(place.store, line, () => line.loseNextReply(), 'the reply was lost');
    }),

    testOn(
      harness,
      'a consume whose request is lost answers with the run or rejects, never with null',
      async (place) => {
        const line = await needed(place.unreliable, 'unreliable', 'retrySafe').call(place);
        await takeOverABrokenLine(place.store, line, () => line.loseNextRequest(), 'the request was lost');
      },
    ),

    testOn(harness, 'a store whose reply is lost has stored the run or rejects', async (place) => {
      const line = await needed(place.unreliable, 'unreliable', 'retrySafe').call(place);
      const runId = aRunId();
      line.loseNextReply();
      const outcome = await settle(line.store.store(runId, aPausedRun(runId)));
      const found = await place.store.load(runId);
      if (outcome.kind === 'value') ensureSame(found, aPausedRun(runId), 'a run whose storing was confirmed');
    }),

    testOn(harness, 'among healthy and broken lines a run still has at most one winner', async (place) => {
      const line = await needed(place.unreliable, 'unreliable', 'retrySafe').call(place);
      const history = new HistoryRecorder();
      const healthy = history.watch(place.store, 'healthy line');
      const broken = history.watch(line.store, 'broken line');
      for (let round = 0; round < ROUNDS; round += 1) {
        const runId = aRunId();
        await healthy.store(runId, aPausedRun(runId));
        if (round % 2 === 0) line.loseNextReply();
        else line.loseNextRequest();
        const overTheBroken = Promise.allSettled([broken.consume(runId), broken.load(runId)]);
        // Sometimes somebody else comes at the same time, sometimes only when the broken line has had its say.
        if (round % 4 < 2) await overTheBroken;
        await Promise.allSettled([healthy.consume(runId), healthy.load(runId)]);
        await overTheBroken;
        await Promise.allSettled([healthy.consume(runId), healthy.load(runId)]);
      }
      const { violations, winners, unknown } = checkHistory(history.calls);
      ensure(violations.length === 0, () => `Over a broken line: ${describeViolation(violations[0]!)}`);
      ensure(winners + unknown >= ROUNDS, () => `${ROUNDS - winners - unknown} runs vanished and nobody was told.`);
    }),
  ];
}

async function takeOverABrokenLine(
  healthy: AgentRunStore,
  line: UnreliableConnection,
  breakLine: () => void,
  what: string,
): Promise<void> {
  const runId = aRunId();
  await healthy.store(runId, aPausedRun(runId));
  // The line is up before it breaks: what is tested is the command, not the greeting.
  ensureSame(await line.store.load(runId), aPausedRun(runId), 'load over the line before it breaks');
  breakLine();
  const outcome = await settle(line.store.consume(runId));
  const leftover = await healthy.consume(runId);
  if (outcome.kind === 'error') return;
  ensure(outcome.value !== null, () => `consume answered null though the run was there and ${what}.`);
  ensureSame(outcome.value, aPausedRun(runId), 'the run taken over the broken line');
  ensure(
    leftover === null,
    () => `the run was handed out twice: ${what}, was answered again, and a second caller got it.`,
  );
}

type Settled<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'error' };

function settle<T>(call: Promise<T>): Promise<Settled<T>> {
  return call.then<Settled<T>, Settled<T>>(
    (value) => ({ kind: 'value', value }),
    () => ({ kind: 'error' }),
  );
}
