/**
 * A history of concurrent calls on a store, and a checker that says whether any order of events explains it.
 *
 * Every run of a history is stored once, so the only states of a run are absent, stored and taken, and the check is
 * exact: it needs the real-time order of calls (after Herlihy and Wing, Linearizability, 1990) and nothing else.
 */

import type { AgentRunStore } from './harness.js';
import { tagOf } from './sample-runs.js';

/** What a caller learned. `unknown`: the call rejected, so that it may or may not have had an effect. */
export type Outcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'state'; readonly tag: string }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unknown'; readonly error: unknown };

export interface HistoryCall {
  readonly operation: 'store' | 'load' | 'consume';
  /** Who called, for messages: `connection 3`, `process 1`. */
  readonly client: string;
  readonly runId: string;
  /** Places in the one order of all begins and ends. */
  readonly beganAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome;
}

export type Violation =
  | { readonly rule: 'two winners'; readonly runId: string; readonly calls: readonly HistoryCall[] }
  | { readonly rule: 'read after consume'; readonly runId: string; readonly calls: readonly HistoryCall[] }
  | { readonly rule: 'wrong state'; readonly runId: string; readonly calls: readonly HistoryCall[] }
  | { readonly rule: 'lost run'; readonly runId: string; readonly calls: readonly HistoryCall[] };

export interface HistoryReport {
  readonly calls: number;
  /** Consumes that got the state. */
  readonly winners: number;
  /** Consumes whose outcome the caller does not know. Never counted as a winner or as a loser. */
  readonly unknown: number;
  readonly violations: readonly Violation[];
}

/** Records what callers see. Wrap each connection with {@link HistoryRecorder.watch} and call the wrapped store. */
export class HistoryRecorder {
  readonly #calls: HistoryCall[] = [];
  #order = 0;

  get calls(): readonly HistoryCall[] {
    return this.#calls;
  }

  watch(store: AgentRunStore, client: string): AgentRunStore {
    return {
      store: (runId, state) =>
        this.#record(
          'store',
          client,
          runId,
          () => store.store(runId, state),
          () => ({ kind: 'stored' }),
        ),
      load: (runId) => this.#record('load', client, runId, () => store.load(runId), readOutcome),
      consume: (runId) => this.#record('consume', client, runId, () => store.consume(runId), readOutcome),
    };
  }

  async #record<T>(
    operation: HistoryCall['operation'],
    client: string,
    runId: string,
    call: () => Promise<T>,
    outcomeOf: (result: T) => Outcome,
  ): Promise<T> {
    const beganAt = this.#order++;
    const note = (outcome: Outcome) =>
      this.#calls.push({ operation, client, runId, beganAt, endedAt: this.#order++, outcome });
    try {
      const result = await call();
      note(outcomeOf(result));
      return result;
    } catch (error) {
      note({ kind: 'unknown', error });
      throw error;
    }
  }
}

/**
 * Checks a history in which each run was stored once and nothing expired: at most one consumer got the state, nobody
 * read a run after its consumer had it, everybody read what was stored, and no run vanished without a taker.
 */
export function checkHistory(calls: readonly HistoryCall[]): HistoryReport {
  const consumes = calls.filter((call) => call.operation === 'consume');
  const runs = new Map<string, HistoryCall[]>();
  for (const call of calls) runs.set(call.runId, [...(runs.get(call.runId) ?? []), call]);
  return {
    calls: calls.length,
    winners: consumes.filter(gotState).length,
    unknown: consumes.filter((call) => call.outcome.kind === 'unknown').length,
    violations: [...runs].flatMap(([runId, ofRun]) => checkRun(runId, ofRun)),
  };
}

/** Says in a sentence what a violation is and who was involved. */
export function describeViolation(violation: Violation): string {
  const who = violation.calls.map((call) => `${call.operation} by ${call.client} (${call.beganAt}–${call.endedAt})`);
  return `${violation.rule}: run ${violation.runId}: ${who.join(', ')}`;
}

function checkRun(runId: string, calls: readonly HistoryCall[]): Violation[] {
  const violations: Violation[] = [];
  const winners = calls.filter((call) => call.operation === 'consume' && gotState(call));
  const [winner] = winners;
  if (winners.length > 1) violations.push({ rule: 'two winners', runId, calls: winners });

  const late = winner ? calls.filter((call) => gotState(call) && call.beganAt > winner.endedAt && call !== winner) : [];
  if (winner && late.length > 0) violations.push({ rule: 'read after consume', runId, calls: [winner, ...late] });

  const wrong = calls.filter((call) => call.outcome.kind === 'state' && call.outcome.tag !== runId);
  if (wrong.length > 0) violations.push({ rule: 'wrong state', runId, calls: wrong });

  const misses = calls.filter((call) => call.outcome.kind === 'nothing' && !missIsExplained(call, calls));
  if (misses.length > 0) violations.push({ rule: 'lost run', runId, calls: misses });
  return violations;
}

/** A miss is honest before the run is surely stored, and once somebody may have taken it. */
function missIsExplained(miss: HistoryCall, calls: readonly HistoryCall[]): boolean {
  const stored = calls.some(
    (call) => call.operation === 'store' && call.outcome.kind === 'stored' && call.endedAt < miss.beganAt,
  );
  if (!stored) return true;
  return calls.some(
    (call) =>
      call.operation === 'consume' &&
      call.beganAt < miss.endedAt &&
      (call.outcome.kind === 'state' || call.outcome.kind === 'unknown'),
  );
}

function gotState(call: HistoryCall): boolean {
  return call.outcome.kind === 'state';
}

function readOutcome(state: Awaited<ReturnType<AgentRunStore['load']>>): Outcome {
  return state === null ? { kind: 'nothing' } : { kind: 'state', tag: tagOf(state) };
}
