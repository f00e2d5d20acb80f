/** What the parts of the engine share: the backend, how to name and seal, and how failures are told apart. */
import type { RunBackend, RunKey } from '../backend.js';
import { STAMP_BYTES } from '../backend.js';
import { corrupt } from '../codec/decode.js';
import { OutcomeUnknownError, RunScopeError, RunStoreError } from '../errors.js';
import type { KeyMaker } from '../ids.js';
import type { Sealer } from '../seal/sealer.js';
import type { AgentPauseKind, RunScope } from '../types.js';
import type { RunEvents } from './events.js';
import type { ResolvedTimes } from './options.js';
import { scopeDifferences } from './scope.js';

export interface EngineContext<TState> {
  readonly backend: RunBackend;
  readonly keys: KeyMaker;
  /** Seals runs, cells, outcomes and index entries, each under a name of its own. */
  readonly sealer: Sealer;
  readonly indexing: 'sealed' | 'clear' | 'off';
  readonly times: ResolvedTimes;
  readonly events: RunEvents;
  readonly schemaVersion: number;
  readonly migrations: Readonly<Record<number, (state: unknown) => unknown>>;
  readonly redact: (state: TState) => TState;
  readonly now: () => number;
  newToken(): string;
}

/** A stored run, read. */
export interface OpenedRun<TState> {
  readonly state: TState;
  readonly scope: RunScope | undefined;
  readonly storedAt: number;
  readonly stamp: Uint8Array;
}

/** A read that fails says so; it is never mistaken for an absent run. */
export async function reading<T>(operation: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw readFailure(operation, cause);
  }
}

export function readFailure(operation: string, cause: unknown): RunStoreError {
  if (cause instanceof RunStoreError && !(cause instanceof OutcomeUnknownError)) return cause;
  const reason = cause instanceof Error ? cause.message : 'unknown reason';
  const message = `${operation} could not read from the store: ${reason}. Try again.`;
  return new RunStoreError('BACKEND_UNAVAILABLE', message, { cause });
}

export interface WriteAttempt {
  readonly operation: string;
  readonly key?: RunKey;
  readonly token?: string;
}

/** A write that fails without a certain "nothing happened" has an unknown outcome. */
export async function writing<T, TState>(
  context: EngineContext<TState>,
  attempt: WriteAttempt,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw writeFailure(context, attempt, cause);
  }
}

export function writeFailure<TState>(
  context: EngineContext<TState>,
  attempt: WriteAttempt,
  cause: unknown,
): RunStoreError {
  if (cause instanceof RunStoreError && !(cause instanceof OutcomeUnknownError)) return cause;
  context.events.emit('outcome_unknown', { key: attempt.key, code: 'OUTCOME_UNKNOWN' });
  const root = cause instanceof OutcomeUnknownError && cause.cause !== undefined ? cause.cause : cause;
  const isLossy = attempt.token !== undefined && !context.backend.capabilities.retrySafeTake;
  const kind = isLossy ? 'lossy' : 'repeatable';
  return new OutcomeUnknownError(attempt.operation, { cause: root, token: attempt.token, kind });
}

/** Opens stored bytes and brings the state to the current schema. What cannot be read is told and left where it is. */
export async function openRun<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  bytes: Uint8Array,
): Promise<OpenedRun<TState>> {
  try {
    const opened = context.sealer.open(key, bytes);
    // A turn of the microtask queue less where nothing has to be waited for.
    const { value, schemaVersion } = opened instanceof Promise ? await opened : opened;
    if (!isRecord(value)) throw corrupt('it is not a run');
    return {
      // The type of a state is the caller's promise; bytes cannot prove it.
      state: (schemaVersion === context.schemaVersion
        ? value.state
        : await migrate(context, value.state, schemaVersion)) as TState,
      scope: readScope(value.scope),
      storedAt: typeof value.storedAt === 'number' ? value.storedAt : 0,
      stamp: bytes.subarray(0, STAMP_BYTES),
    };
  } catch (error) {
    context.events.emit('unreadable', { key, code: error instanceof RunStoreError ? error.code : 'unknown' });
    throw error;
  }
}

export function demandScope<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  run: Pick<OpenedRun<TState>, 'scope'>,
  given: RunScope | undefined,
): void {
  const differences = scopeDifferences(run.scope, given);
  if (differences.length === 0) return;
  context.events.emit('refused', { key, scope: given, code: 'SCOPE_MISMATCH' });
  throw new RunScopeError(differences);
}

/** The run that lies there, if it is the scope's. What is done to it next names its stamp, so that it meets no other run. */
export async function lookAt<TState>(
  context: EngineContext<TState>,
  operation: string,
  key: RunKey,
  scope: RunScope | undefined,
): Promise<OpenedRun<TState> | undefined> {
  const bytes = await reading(operation, () => context.backend.get(key));
  if (bytes === null) return undefined;
  const run = await openRun(context, key, bytes);
  if (scope !== undefined) demandScope(context, key, run, scope);
  return run;
}

/** The two fields of a state that the engine reads; looked at, since stored bytes are untrusted. */
export function pauseOf(state: unknown): { readonly pauseKind: AgentPauseKind; readonly pending: readonly string[] } {
  if (isRecord(state)) {
    const { pendingToolCallIds: pending, pauseKind = 'client_tool' } = state;
    const idsAreStrings = Array.isArray(pending) && pending.every((id) => typeof id === 'string');
    if (idsAreStrings && (pauseKind === 'client_tool' || pauseKind === 'approval')) return { pauseKind, pending };
  }
  throw corrupt('its state has no list of pending tool calls, or a pause of an unknown kind');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readScope(value: unknown): RunScope | undefined {
  if (value === undefined) return undefined;
  if (!isRecord(value)) throw corrupt('its scope is malformed');
  const scope: RunScope = {};
  for (const field of ['tenant', 'principal', 'threadId'] as const) {
    const name = value[field];
    if (name === undefined) continue;
    if (typeof name !== 'string') throw corrupt('its scope is malformed');
    scope[field] = name;
  }
  return scope;
}

async function migrate<TState>(context: EngineContext<TState>, stored: unknown, from: number): Promise<unknown> {
  if (from > context.schemaVersion) {
    throw new RunStoreError(
      'RUN_VERSION_UNKNOWN',
      `The stored run has schema version ${from}, this store knows up to ${context.schemaVersion}. It is left in place; update this reader.`,
    );
  }
  let state = stored;
  for (let version = from; version < context.schemaVersion; version++) {
    const step = context.migrations[version];
    if (step === undefined) {
      throw new RunStoreError(
        'RUN_VERSION_UNKNOWN',
        `The stored run has schema version ${from}, and \`migrations\` has no step from ${version}. It is left in place; add the step.`,
      );
    }
    state = await step(state); // An async step fits the type as well.
  }
  return state;
}
