/** Many callers, one winner: on one object, over several connections, from several processes. */
import { ConformanceError, ensure, needed } from './assert.js';
import type { AgentRunStore, ConformanceTest, RunStoreHarness, StoreUnderTest } from './harness.js';
import { checkHistory, describeViolation, HistoryRecorder } from './history.js';
import { aPausedRun } from './sample-runs.js';
import { aRunId, testOn } from './suite.js';

const RUNS = 100;
const CALLERS = 16;
const CONNECTIONS = 4;
const PROCESSES = 3;

export function concurrencySuite(harness: RunStoreHarness): ConformanceTest[] {
  switch (harness.capabilities.atomicConsume) {
    case 'none':
      return [];
    case 'process':
      return [oneObject(harness)];
    case 'shared':
      return [oneObject(harness), severalConnections(harness), severalProcesses(harness)];
    default:
      throw unknownClaim(harness.capabilities.atomicConsume);
  }
}

/** A harness in JavaScript may claim anything, and what is not understood must not pass for tested. */
function unknownClaim(claimed: never): ConformanceError {
  return new ConformanceError(
    'HARNESS_INCOMPLETE',
    `capabilities.atomicConsume is ${JSON.stringify(claimed)}. Claim 'none', 'process' (one winner among the callers of one store) or 'shared' (among all connections and processes).`,
  );
}

function oneObject(harness: RunStoreHarness): ConformanceTest {
  return testOn(harness, `of ${CALLERS} callers of one store, one gets the run`, async ({ store }) => {
    await race(Array.from({ length: CALLERS }, () => store));
  });
}

function severalConnections(harness: RunStoreHarness): ConformanceTest {
  return testOn(harness, `of ${CALLERS} callers on ${CONNECTIONS} connections, one gets the run`, async (place) => {
    const connect = needed(place.connect, 'connect', "atomicConsume: 'shared'").bind(place);
    const stores = await Promise.all(Array.from({ length: CONNECTIONS }, connect));
    await race(Array.from({ length: CALLERS }, (_, caller) => stores[caller % stores.length]!));
  });
}

function severalProcesses(harness: RunStoreHarness): ConformanceTest {
  return testOn(harness, `of callers in ${PROCESSES} processes, one gets the run`, async (place) => {
    const fork = needed(place.connectFromProcess, 'connectFromProcess', "atomicConsume: 'shared'").bind(place);
    const stores = [place.store, ...(await Promise.all(Array.from({ length: PROCESSES }, fork)))];
    await race(Array.from({ length: CALLERS }, (_, caller) => stores[caller % stores.length]!));
  });
}

/** Lets every caller peek at and take every run at once, and checks what they saw. */
async function race(callers: readonly StoreUnderTest['store'][]): Promise<void> {
  const history = new HistoryRecorder();
  const watched = callers.map((store, index) => history.watch(store, `caller ${index + 1}`));
  await Promise.all(Array.from({ length: RUNS }, () => raceForOneRun(watched)));

  const report = checkHistory(history.calls);
  ensure(report.violations.length === 0, () => {
    const [first] = report.violations;
    return `${report.violations.length} of ${RUNS} runs went wrong, first ${describeViolation(first!)}`;
  });
  ensure(report.unknown === 0, () => `${report.unknown} calls were rejected though nothing was wrong with the line.`);
  ensure(report.winners === RUNS, () => `${RUNS} runs were stored and ${report.winners} were won.`);
}

async function raceForOneRun(callers: readonly AgentRunStore[]): Promise<void> {
  const runId = aRunId();
  await callers[0]!.store(runId, aPausedRun(runId));
  await Promise.allSettled(callers.flatMap((caller) => [caller.load(runId), caller.consume(runId)]));
  await Promise.allSettled([callers[0]!.load(runId), callers.at(-1)!.consume(runId)]);
}
