import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  aPausedRun,
  checkHistory,
  describeViolation,
  type HistoryCall,
  HistoryRecorder,
} from '../../src/testing/index.js';

let order = 0;

describe('a history is', () => {
  test('sound when one consumer gets the run and the other nothing', () => {
    expect(checkHistory([stored(), took(), missed('consume')])).toMatchObject({
      winners: 1,
      unknown: 0,
      violations: [],
    });
  });

  test('broken when two consumers get the run, and both are named', () => {
    const { violations } = checkHistory([stored(), ...overlapping(took(), took())]);
    expect(violations.map(({ rule }) => rule)).toEqual(['two winners']);
    expect(describeViolation(violations[0]!)).toMatch(/two winners: run r: consume by c .*, consume by c/);
  });

  test('broken when a load that began after the winner was done still read the run', () => {
    expect(rulesOf([stored(), took(), read()])).toEqual(['read after consume']);
  });

  test('sound when such a load began before the winner was done', () => {
    expect(rulesOf([stored(), ...overlapping(took(), read())])).toEqual([]);
  });

  test('broken when a stored run is missing and nobody can have taken it', () => {
    expect(rulesOf([stored(), missed('load')])).toEqual(['lost run']);
  });

  test('sound when a run is missing after a consume with an unknown outcome, which is counted apart', () => {
    expect(checkHistory([stored(), lost('consume'), missed('load')])).toMatchObject({
      winners: 0,
      unknown: 1,
      violations: [],
    });
  });

  test('sound when a run is missing whose storing was never confirmed', () => {
    expect(rulesOf([lost('store'), missed('load')])).toEqual([]);
  });

  test("broken when a caller reads another run's state", () => {
    expect(rulesOf([stored(), { ...took(), outcome: { kind: 'state', tag: 'other' } }])).toEqual(['wrong state']);
  });
});

test('what any interleaving of callers sees of an atomic store is sound', async () => {
  const callers = fc.array(fc.constantFrom('load' as const, 'consume' as const), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(callers, fc.scheduler(), async (calls, scheduler) => {
      const runs = new Map<string, ReturnType<typeof aPausedRun>>();
      const history = new HistoryRecorder();
      const store = history.watch(
        {
          store: async (runId, state) => void runs.set(runId, state),
          load: scheduler.scheduleFunction(async (runId: string) => runs.get(runId) ?? null),
          consume: scheduler.scheduleFunction(async (runId: string) => {
            const state = runs.get(runId) ?? null;
            runs.delete(runId);
            return state;
          }),
        },
        'caller',
      );
      await store.store('r', aPausedRun('r'));
      const done = Promise.all(calls.map((call) => store[call]('r')));
      await scheduler.waitFor(done);
      const report = checkHistory(history.calls);
      expect(report.violations).toEqual([]);
      expect(report.winners).toBe(calls.includes('consume') ? 1 : 0);
    }),
  );
});

test('a recorded call that rejects is unknown, and rejects all the same', async () => {
  const history = new HistoryRecorder();
  const failing = async () => {
    throw new Error('connection reset');
  };
  const store = history.watch({ store: failing, load: failing, consume: failing }, 'caller');
  await expect(store.consume('r')).rejects.toThrow('connection reset');
  expect(checkHistory(history.calls)).toMatchObject({ calls: 1, unknown: 1 });
});

function aCall(operation: HistoryCall['operation'], outcome: HistoryCall['outcome']): HistoryCall {
  order += 2;
  return { operation, client: 'c', runId: 'r', beganAt: order, endedAt: order + 1, outcome };
}
const stored = () => aCall('store', { kind: 'stored' });
const took = () => aCall('consume', { kind: 'state', tag: 'r' });
const read = () => aCall('load', { kind: 'state', tag: 'r' });
const missed = (operation: 'load' | 'consume') => aCall(operation, { kind: 'nothing' });
const lost = (operation: 'store' | 'consume') => aCall(operation, { kind: 'unknown', error: new Error('reset') });

/** Makes the second call begin before the first is done. */
function overlapping(first: HistoryCall, second: HistoryCall): HistoryCall[] {
  return [first, { ...second, beganAt: first.beganAt }];
}

function rulesOf(calls: readonly HistoryCall[]): string[] {
  return checkHistory(calls).violations.map(({ rule }) => rule);
}
