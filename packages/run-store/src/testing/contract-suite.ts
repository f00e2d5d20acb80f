/** What every store must do for one caller: store, peek, take once. */
import { ensure, ensureSame } from './assert.js';
import type { ConformanceTest, RunStoreHarness } from './harness.js';
import { aPausedRun, aRunBeyondJson, aRunWithAwkwardText } from './sample-runs.js';
import { aRunId, testOn } from './suite.js';

export function contractSuite(harness: RunStoreHarness): ConformanceTest[] {
  return [
    testOn(harness, 'an unknown run id loads and consumes as null', async ({ store }) => {
      const runId = aRunId();
      ensure((await store.load(runId)) === null, () => 'load of an unknown id did not answer null.');
      ensure((await store.consume(runId)) === null, () => 'consume of an unknown id did not answer null.');
    }),

    testOn(harness, 'a stored run can be peeked at any number of times and is still there', async ({ store }) => {
      const runId = aRunId();
      await store.store(runId, aPausedRun());
      for (let peek = 0; peek < 3; peek += 1) ensureSame(await store.load(runId), aPausedRun(), `peek ${peek + 1}`);
      ensureSame(await store.consume(runId), aPausedRun(), 'consume after peeks');
    }),

    testOn(harness, 'a consumed run is gone for load and for a second consume', async ({ store }) => {
      const runId = aRunId();
      await store.store(runId, aPausedRun());
      ensureSame(await store.consume(runId), aPausedRun(), 'the first consume');
      ensure((await store.consume(runId)) === null, () => 'a second consume did not answer null.');
      ensure((await store.load(runId)) === null, () => 'load after consume did not answer null.');
    }),

    testOn(harness, 'consuming one run leaves the others', async ({ store }) => {
      const [one, other] = [aRunId(), aRunId()];
      await Promise.all([store.store(one, aPausedRun('one')), store.store(other, aPausedRun('other'))]);
      ensureSame(await store.consume(one), aPausedRun('one'), 'the consumed run');
      ensureSame(await store.load(other), aPausedRun('other'), 'the other run');
    }),

    testOn(harness, 'a run stored again under its id is replaced', async ({ store }) => {
      const runId = aRunId();
      await store.store(runId, aPausedRun('first'));
      await store.store(runId, aPausedRun('second'));
      ensureSame(await store.consume(runId), aPausedRun('second'), 'the run stored last');
      ensure((await store.consume(runId)) === null, () => 'the replaced run came back.');
    }),

    testOn(harness, 'a run id can be used again after its run was consumed', async ({ store }) => {
      const runId = aRunId();
      await store.store(runId, aPausedRun('first'));
      await store.consume(runId);
      await store.store(runId, aPausedRun('second'));
      ensureSame(await store.load(runId), aPausedRun('second'), 'the second run of the id');
      ensureSame(await store.consume(runId), aPausedRun('second'), 'the second run of the id');
    }),

    testOn(harness, 'changing a state after storing or loading it changes nothing in the store', async ({ store }) => {
      const runId = aRunId();
      const mine = aPausedRun();
      await store.store(runId, mine);
      mine.messages.length = 0;
      const peeked = await store.load(runId);
      ensureSame(peeked, aPausedRun(), 'load after the stored object was changed');
      peeked?.pendingToolCallIds.push('forged');
      ensureSame(await store.consume(runId), aPausedRun(), 'consume after the loaded object was changed');
    }),

    testOn(harness, 'an id named like a property of every object is no run', async ({ store }) => {
      for (const runId of ['__proto__', 'constructor', 'toString']) {
        // A store may refuse such an id; it must not answer with something that was never stored.
        const found = await store.consume(runId).catch(() => null);
        ensure(found === null, () => `consume('${runId}') answered ${typeof found} though nothing was stored.`);
      }
    }),

    testOn(harness, 'a run id with wildcards takes no other run', async ({ store }) => {
      const runId = aRunId();
      await store.store(runId, aPausedRun());
      for (const pattern of ['*', 'run-*', `${runId.slice(0, -1)}?`, `${runId}:`, `../${runId}`]) {
        const found = await store.consume(pattern).catch(() => null);
        ensure(found === null, () => `consume('${pattern}') took another id's run.`);
      }
      ensureSame(await store.consume(runId), aPausedRun(), 'the run itself');
    }),

    testOn(harness, 'text of every kind comes back as it was', async ({ store }) => {
      const runId = aRunId();
      await store.store(runId, aRunWithAwkwardText());
      ensureSame(await store.load(runId), aRunWithAwkwardText(), 'load');
      ensureSame(await store.consume(runId), aRunWithAwkwardText(), 'consume');
    }),

    ...(harness.capabilities.payload === 'structured' ? [structuredPayload(harness)] : []),
  ];
}

function structuredPayload(harness: RunStoreHarness): ConformanceTest {
  return testOn(harness, 'values that JSON would lose come back as they were', async ({ store }) => {
    const runId = aRunId();
    await store.store(runId, aRunBeyondJson());
    ensureSame(await store.load(runId), aRunBeyondJson(), 'load');
    ensureSame(await store.consume(runId), aRunBeyondJson(), 'consume');
  });
}
