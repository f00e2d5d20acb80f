/** Resuming with a decision: look, check, gather what is partial, and only then take. */
import { type RunKey, STAMP_BYTES } from '../backend.js';
import { sameBytes, startsWith, toBase64 } from '../bytes.js';
import { corrupt } from '../codec/decode.js';
import { DecisionError, RunStoreError } from '../errors.js';
import type { RunScope } from '../types.js';
import {
  demandScope,
  type EngineContext,
  isRecord,
  type OpenedRun,
  openRun,
  pauseOf,
  reading,
  writing,
} from './context.js';
import { type CompleteDecision, checkDecision, type RunDecision, type Verdict } from './decision.js';

export interface ResumeRunOptions {
  /**
   * `'complete'` (default): what is still missing is an error. `'partial'`: it is kept beside the run until later
   * decisions complete it; needs a backend with cells.
   */
  readonly mode?: 'complete' | 'partial' | undefined;
  /** As in `ConsumeRunOptions`. */
  readonly token?: string | undefined;
  /** Who decides, for the audit events. */
  readonly by?: string | undefined;
}

export type ResumeResult<TState> =
  /** The run is the caller's, and nobody else's. */
  | {
      readonly kind: 'resumed';
      readonly state: TState;
      readonly decision: CompleteDecision;
      readonly scope: RunScope | undefined;
    }
  /** The decision is kept; these ids are still to be decided. */
  | { readonly kind: 'waiting'; readonly missing: readonly string[] }
  /** Unknown, expired, taken by somebody else, or under somebody's live lease. */
  | { readonly kind: 'not_found' };

/** A run that was looked at with what has been decided of it. */
interface Question<TState> {
  readonly run: OpenedRun<TState>;
  readonly cell: Uint8Array | null;
  readonly decided: readonly Verdict[];
}

export type Verified<TState> = Question<TState> & { readonly decision: CompleteDecision };

/** How often we look again after somebody else's decision came between; each time somebody made progress. */
const MAX_ROUNDS = 1024;
/** No value begins with it: a `take` under it hands out an earlier copy and never a waiting run. */
export const NO_STAMP: Uint8Array = new Uint8Array(STAMP_BYTES);

export async function resumeRun<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  request: ResumeRunOptions & { readonly decision: RunDecision; readonly scope: RunScope | undefined },
): Promise<ResumeResult<TState>> {
  const { decision, scope, mode = 'complete', by, token = context.newToken() } = request;
  const { backend, events, times } = context;
  if (request.token !== undefined) {
    // What the token took in an earlier try comes before whatever waits under the same id by now.
    const again = await resumeAgain(context, key, { decision, scope, token });
    if (again !== undefined) return again;
  }
  let before: Question<TState> | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const question = await lookAt(context, key);
    // Refused though nothing has changed: the run is under somebody's lease.
    if (question === undefined || (before !== undefined && isUnchanged(before, question))) return missed(context, key);
    before = question;
    demandScope(context, key, question.run, scope);
    const check = checkDecision({ ...pauseOf(question.run.state), decided: question.decided }, decision);
    switch (check.kind) {
      case 'invalid':
        throw refused(context, key, new DecisionError(check.problems), by);
      case 'partial': {
        if (mode === 'complete') {
          const problems = check.missing.map((id) => ({ kind: 'missing' as const, id }));
          throw refused(context, key, new DecisionError(problems), by);
        }
        if (!(await keepDecided(context, key, question, check.decided))) continue;
        events.emit('decided', { key, scope: question.run.scope, by });
        return { kind: 'waiting', missing: check.missing };
      }
      case 'complete': {
        const taken = await writing(context, { operation: 'resume', key, token }, () =>
          backend.take(key, {
            token,
            retainMs: times.retainMs,
            ifStamp: question.run.stamp,
            ...(backend.cells === undefined ? {} : { ifCell: question.cell }),
          }),
        );
        if (taken === null) continue;
        if (!startsWith(taken, question.run.stamp)) {
          // The token has just taken another run, in a try that runs beside this one.
          const again = await resumeAgain(context, key, { decision, scope, token });
          return again ?? missed(context, key);
        }
        events.emit('resumed', { key, scope: question.run.scope, by });
        return { kind: 'resumed', state: question.run.state, decision: check.decision, scope: question.run.scope };
      }
      default:
        return check satisfies never;
    }
  }
  throw new RunStoreError('BACKEND_REFUSED', 'Others kept deciding about this run. Nothing was changed; try again.');
}

/** For `claim` with a decision: the same checks, nothing taken. Partial decisions gathered before count. */
export async function verifyDecision<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  request: { readonly decision: RunDecision; readonly scope: RunScope | undefined; readonly by: string },
): Promise<Verified<TState> | undefined> {
  const question = await lookAt(context, key);
  if (question === undefined) return undefined;
  demandScope(context, key, question.run, request.scope);
  const check = checkDecision({ ...pauseOf(question.run.state), decided: question.decided }, request.decision);
  switch (check.kind) {
    case 'complete':
      return { ...question, decision: check.decision };
    case 'partial': {
      const problems = check.missing.map((id) => ({ kind: 'missing' as const, id }));
      throw refused(context, key, new DecisionError(problems), request.by);
    }
    case 'invalid':
      throw refused(context, key, new DecisionError(check.problems), request.by);
    default:
      return check satisfies never;
  }
}

/** The token may have taken the run in an earlier try whose answer was lost; `undefined` when it has none. */
async function resumeAgain<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  request: { readonly decision: RunDecision; readonly scope: RunScope | undefined; readonly token: string },
): Promise<Extract<ResumeResult<TState>, { readonly kind: 'resumed' }> | undefined> {
  const { token, decision, scope } = request;
  const copy = await writing(context, { operation: 'resume', key, token }, () =>
    context.backend.take(key, { token, retainMs: context.times.retainMs, ifStamp: NO_STAMP }),
  );
  if (copy === null) return undefined;
  const run = await openRun(context, key, copy);
  demandScope(context, key, run, scope);
  const cell = await reading('resume', async () => (await context.backend.cells?.read(key)) ?? null);
  const check = checkDecision({ ...pauseOf(run.state), decided: await readDecided(context, key, run, cell) }, decision);
  if (check.kind !== 'complete') {
    const problems =
      check.kind === 'invalid' ? check.problems : check.missing.map((id) => ({ kind: 'missing' as const, id }));
    throw new DecisionError(problems);
  }
  return { kind: 'resumed', state: run.state, decision: check.decision, scope: run.scope };
}

async function lookAt<TState>(context: EngineContext<TState>, key: RunKey): Promise<Question<TState> | undefined> {
  const { backend } = context;
  const [bytes, cell] = await reading('resume', () =>
    Promise.all([backend.get(key), backend.cells?.read(key) ?? null]),
  );
  if (bytes === null) return undefined;
  const run = await openRun(context, key, bytes);
  return { run, cell, decided: await readDecided(context, key, run, cell) };
}

function isUnchanged<TState>(before: Question<TState>, now: Question<TState>): boolean {
  return sameBytes(before.run.stamp, now.run.stamp) && sameBytes(before.cell, now.cell);
}

/** Verdicts kept for this very run; those of an earlier run under the same id do not count. */
async function readDecided<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  run: OpenedRun<TState>,
  cell: Uint8Array | null,
): Promise<readonly Verdict[]> {
  if (cell === null) return [];
  const { value } = await context.sealer.open(cellName(key), cell);
  if (!isRecord(value) || !Array.isArray(value.decided)) throw corrupt('its partial decisions are malformed');
  // Sealed by `keepDecided`; the checksum or the tag has vouched for it.
  return value.run === toBase64(run.stamp) ? (value.decided as readonly Verdict[]) : [];
}

async function keepDecided<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  question: Question<TState>,
  decided: readonly Verdict[],
): Promise<boolean> {
  const { cells } = context.backend;
  if (cells === undefined) {
    throw new RunStoreError(
      'UNSUPPORTED',
      `The backend "${context.backend.name}" cannot gather decisions. Decide everything at once, or use the memory, Redis, SQLite or Postgres backend.`,
    );
  }
  if (decided.length === question.decided.length) return true;
  const { stamp } = question.run;
  const next = await context.sealer.seal(cellName(key), { run: toBase64(stamp), decided });
  return writing(context, { operation: 'a partial decision', key }, () =>
    cells.swap(key, { expected: question.cell, next, ifStamp: stamp }),
  );
}

function cellName(key: RunKey): string {
  return `${key}:decided`;
}

function refused<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  error: DecisionError,
  by: string | undefined,
): DecisionError {
  context.events.emit('refused', { key, by, code: error.code });
  return error;
}

function missed<TState>(context: EngineContext<TState>, key: RunKey): { readonly kind: 'not_found' } {
  context.events.emit('missed', { key });
  return { kind: 'not_found' };
}
