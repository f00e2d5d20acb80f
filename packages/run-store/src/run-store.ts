/** The engine: one store of paused runs over any backend. */
import type { PutOptions, RunBackend, RunKey } from './backend.js';
import { toBase64Url } from './bytes.js';
import { type ClaimResult, type ClaimRunOptions, claimRun, readOutcome } from './engine/claim.js';
import {
  demandScope,
  type EngineContext,
  lookAt,
  type OpenedRun,
  openRun,
  pauseOf,
  readFailure,
  writeFailure,
  writing,
} from './engine/context.js';
import type { RunDecision } from './engine/decision.js';
import { createRunEvents, type RunCounters } from './engine/events.js';
import { eraseTenantRuns, indexEntryOf, type ListedRuns, type ListRunsQuery, listRuns } from './engine/listing.js';
import {
  checkAtomic,
  checkCount,
  invalid,
  milliseconds,
  type RunStoreOptions,
  resolveIndex,
  resolveKeyPrefix,
  resolveKeySecret,
  resolveTimes,
} from './engine/options.js';
import { NO_STAMP, type ResumeResult, type ResumeRunOptions, resumeRun } from './engine/resume.js';
import { checkScope } from './engine/scope.js';
import { RunStoreError } from './errors.js';
import { checkRunId, createKeyMaker } from './ids.js';
import { type Awaitable, webRuntime } from './runtime.js';
import { createSealer } from './seal/sealer.js';
import type { AgentPauseKind, ConsumeRunOptions, LoadRunOptions, RunScope, StoreRunOptions } from './types.js';

export interface TouchRunOptions {
  /** New remaining life in seconds, from now. Default: the store's `ttlSeconds`. */
  readonly ttlSeconds?: number;
  /** As in `LoadRunOptions`. */
  readonly scope?: RunScope;
}

/** Everything that can be done with a paused run. */
export interface RunStore<TState> {
  readonly backend: RunBackend;
  /** Number of events of each kind since construction. */
  readonly counters: RunCounters;
  /** Keeps a run until it is taken or its life is over. Replaces a waiting run of the same id. */
  store(runId: string, state: TState, options?: StoreRunOptions): Promise<void>;
  /** Peeks; neither takes nor extends. `null`: unknown, expired or taken. */
  load(runId: string, options?: LoadRunOptions): Promise<TState | null>;
  /** Takes: at most one caller ever gets the run. `null`: unknown, expired, taken, or under a live lease. */
  consume(runId: string, options?: ConsumeRunOptions): Promise<TState | null>;
  /** Takes if scope and decision fit; else throws and leaves the run. */
  resume(
    runId: string,
    decision: RunDecision,
    scope?: RunScope,
    options?: ResumeRunOptions,
  ): Promise<ResumeResult<TState>>;
  /** Takes under a lease, for work that may crash. */
  claim(runId: string, options: ClaimRunOptions): Promise<ClaimResult<TState>>;
  /** What `ack` recorded, for `outcomeSeconds`; takes nothing. `null`: not settled, or nothing recorded. */
  outcome(runId: string, options?: LoadRunOptions): Promise<{ readonly outcome: unknown } | null>;
  /** Gives the run a new remaining life; `false` when there is none. */
  touch(runId: string, options?: TouchRunOptions): Promise<boolean>;
  /** Removes the run; `false` when there was none. */
  cancel(runId: string, options?: LoadRunOptions): Promise<boolean>;
  /** One page of the tenant's runs. */
  list(query: ListRunsQuery): Promise<ListedRuns>;
  /** Removes every run of the tenant that this store has listed, and answers with their number. */
  eraseTenant(tenant: string): Promise<number>;
  /**
   * Deletes what has expired where the backend does not do it by itself, tells of each run by an `expired` event, and
   * answers with their number. Call it again while that is `limit` (default 1000).
   */
  sweep(options?: { readonly limit?: number }): Promise<number>;
  /** The hashed key that stands for the run in events. */
  keyOf(runId: string): Promise<RunKey>;
  /** The bytes that `store` would write: for benchmarks, exports and tests. */
  encode(runId: string, state: TState, options?: Pick<StoreRunOptions, 'scope'>): Promise<Uint8Array>;
}

/** The one implementation of `RunStore`; the classes of the contract are faces of it. */
export class RunStoreEngine<TState> implements RunStore<TState> {
  readonly backend: RunBackend;
  readonly #context: EngineContext<TState>;

  constructor(options: RunStoreOptions<TState>) {
    checkAtomic(options);
    const { backend, runtime = webRuntime, now = Date.now, maxBytes = 4 * 1024 * 1024, migrations = {} } = options;
    const schemaVersion = checkCount('schemaVersion', options.schemaVersion ?? 1);
    checkCount('maxBytes', maxBytes);
    const maxInflatedBytes = checkCount(
      'maxInflatedBytes',
      options.maxInflatedBytes ?? Math.max(maxBytes, 16 * 1024 * 1024),
    );
    if (maxInflatedBytes < maxBytes) throw invalid('maxInflatedBytes', 'at least `maxBytes`');
    const { compression, encryption } = options;
    const secret = resolveKeySecret(options.keySecret);
    this.backend = backend;
    this.#context = {
      backend,
      keys: createKeyMaker({ runtime, keyPrefix: resolveKeyPrefix(options.keyPrefix), secret }),
      sealer: createSealer({ runtime, maxBytes, maxInflatedBytes, compression, encryption, schemaVersion }),
      indexing: resolveIndex(options),
      times: resolveTimes(options),
      events: createRunEvents(options, now),
      schemaVersion,
      migrations,
      redact: options.redact ?? ((state) => state),
      now,
      newToken: () => toBase64Url(runtime.randomBytes(16)),
    };
  }

  get counters(): RunCounters {
    return this.#context.events.counters;
  }

  async store(runId: string, state: TState, options: StoreRunOptions = {}): Promise<void> {
    const { backend, events, times } = this.#context;
    const key = await this.#key(runId);
    const { ttlSeconds, ifAbsent = false } = options;
    const scope = checkScope(options.scope);
    const { bytes, index } = await this.#sealed(key, runId, state, scope);
    const put: PutOptions = {
      ttlMs: ttlSeconds === undefined ? times.ttlMs : milliseconds('ttlSeconds', ttlSeconds),
      existing: ifAbsent ? 'keep' : 'replace',
      index,
    };
    let reply: 'stored' | 'exists';
    try {
      reply = await backend.put(key, bytes, put);
    } catch (cause) {
      throw writeFailure(this.#context, { operation: 'store', key }, cause);
    }
    if (reply === 'exists') {
      events.emit('refused', { key, scope, code: 'RUN_EXISTS' });
      throw new RunStoreError('RUN_EXISTS', 'A run of this id waits already (`ifAbsent`). Use a fresh id.');
    }
    events.emit('stored', { key, scope });
  }

  async load(runId: string, options: LoadRunOptions = {}): Promise<TState | null> {
    const { backend, events } = this.#context;
    const key = await this.#key(runId);
    let bytes: Uint8Array | null;
    try {
      bytes = await backend.get(key);
    } catch (cause) {
      throw readFailure('load', cause);
    }
    if (bytes === null) {
      events.emit('missed', { key });
      return null;
    }
    const run = await openRun(this.#context, key, bytes);
    if (options.scope !== undefined) demandScope(this.#context, key, run, options.scope);
    events.emit('loaded', { key, scope: run.scope });
    return run.state;
  }

  async consume(runId: string, options: ConsumeRunOptions = {}): Promise<TState | null> {
    const { backend, events, times } = this.#context;
    const key = await this.#key(runId);
    const token = checkToken(options.token) ?? this.#context.newToken();
    const { retainMs, ttlMs } = times;
    let ifStamp: Uint8Array | undefined;
    if (options.scope !== undefined)
      ifStamp = (await lookAt(this.#context, 'consume', key, options.scope))?.stamp ?? NO_STAMP;
    let bytes: Uint8Array | null;
    try {
      bytes = await backend.take(key, { token, retainMs, ttlMs, ifStamp });
    } catch (cause) {
      throw writeFailure(this.#context, { operation: 'consume', key, token }, cause);
    }
    if (bytes === null) {
      events.emit('missed', { key });
      return null;
    }
    let run: OpenedRun<TState>;
    try {
      run = await openRun(this.#context, key, bytes);
    } catch (error) {
      // Nothing is lost because it could not be read: whoever has the right key or release finds it again.
      await writing(this.#context, { operation: 'putting an unreadable run back', key, token }, () =>
        backend.putBack(key, { token, ttlMs }),
      );
      throw error;
    }
    // A copy that the token took before has not been looked at above.
    if (options.scope !== undefined) demandScope(this.#context, key, run, options.scope);
    events.emit('consumed', { key, scope: run.scope });
    return run.state;
  }

  async resume(
    runId: string,
    decision: RunDecision,
    scope?: RunScope,
    options: ResumeRunOptions = {},
  ): Promise<ResumeResult<TState>> {
    checkToken(options.token);
    return resumeRun(this.#context, await this.#key(runId), { ...options, decision, scope });
  }

  async claim(runId: string, options: ClaimRunOptions): Promise<ClaimResult<TState>> {
    checkToken(options.token);
    return claimRun(this.#context, await this.#key(runId), options);
  }

  async outcome(runId: string, options: LoadRunOptions = {}): Promise<{ readonly outcome: unknown } | null> {
    return readOutcome(this.#context, await this.#key(runId), options.scope);
  }

  async touch(runId: string, options: TouchRunOptions = {}): Promise<boolean> {
    const { backend, events, times, indexing } = this.#context;
    const key = await this.#key(runId);
    const { ttlSeconds, scope } = options;
    const ttlMs = ttlSeconds === undefined ? times.ttlMs : milliseconds('ttlSeconds', ttlSeconds);
    if (ttlMs === undefined) throw invalid('ttlSeconds', 'given to `touch` where the store keeps runs for ever');
    let index: PutOptions['index'];
    let ifStamp: Uint8Array | undefined;
    if (scope !== undefined || indexing !== 'off') {
      const run = await lookAt(this.#context, 'touch', key, scope);
      if (run === undefined) return false;
      ifStamp = run.stamp;
      const kind = kindOf(run.state);
      index = await indexEntryOf(this.#context, { runId, scope: run.scope, kind, storedAt: run.storedAt });
    }
    const touched = await writing(this.#context, { operation: 'touch', key }, () =>
      backend.touch(key, { ttlMs, index, ifStamp }),
    );
    if (touched) events.emit('touched', { key });
    return touched;
  }

  async cancel(runId: string, options: LoadRunOptions = {}): Promise<boolean> {
    const { backend, events } = this.#context;
    const key = await this.#key(runId);
    let ifStamp: Uint8Array | undefined;
    if (options.scope !== undefined) {
      const run = await lookAt(this.#context, 'cancel', key, options.scope);
      if (run === undefined) return false;
      // Another principal may store a run of the same id before this one is removed.
      ifStamp = run.stamp;
    }
    const removed = await writing(this.#context, { operation: 'cancel', key }, () => backend.remove(key, { ifStamp }));
    if (removed) events.emit('cancelled', { key });
    return removed;
  }

  list(query: ListRunsQuery): Promise<ListedRuns> {
    return listRuns(this.#context, query);
  }

  eraseTenant(tenant: string): Promise<number> {
    return eraseTenantRuns(this.#context, tenant);
  }

  async sweep(options: { readonly limit?: number } = {}): Promise<number> {
    const limit = checkCount('limit', options.limit ?? 1000);
    const { events } = this.#context;
    const onExpired = (key: RunKey): void => events.emit('expired', { key });
    const sweep = async (): Promise<number> => (await this.backend.sweep?.({ limit, onExpired })) ?? 0;
    const count = await writing(this.#context, { operation: 'sweep' }, sweep);
    events.emit('swept', { count });
    return count;
  }

  /** For backends that make room: tells that a run had to go. */
  protected noteEviction(key: RunKey): void {
    this.#context.events.emit('evicted', { key });
  }

  async keyOf(runId: string): Promise<RunKey> {
    return this.#key(runId);
  }

  #key(runId: string): Awaitable<RunKey> {
    checkRunId(runId);
    return this.#context.keys.run(runId);
  }

  async encode(runId: string, state: TState, options: Pick<StoreRunOptions, 'scope'> = {}): Promise<Uint8Array> {
    return (await this.#sealed(await this.#key(runId), runId, state, checkScope(options.scope))).bytes;
  }

  async #sealed(
    key: RunKey,
    runId: string,
    state: TState,
    scope: RunScope | undefined,
  ): Promise<{ readonly bytes: Uint8Array; readonly index: PutOptions['index'] }> {
    const { sealer, redact, now, indexing } = this.#context;
    const kept = redact(state);
    const storedAt = now();
    const record = scope === undefined ? { state: kept, storedAt } : { state: kept, storedAt, scope };
    const bytes = await sealer.seal(key, record);
    if (indexing === 'off') return { bytes, index: undefined };
    return { bytes, index: await indexEntryOf(this.#context, { runId, scope, kind: kindOf(kept), storedAt }) };
  }
}

/**
 * A store of paused runs over `backend`.
 *
 * @example
 * const runs = createRunStore<AgentRunState>({ backend: memoryRunBackend() });
 * await runs.store(runId, state, { scope: { tenant: 'acme', principal: 'ada' } });
 * const answer = await runs.resume(runId, { approved: ['call_1'] }, { tenant: 'acme', principal: 'ada' });
 */
export function createRunStore<TState>(options: RunStoreOptions<TState>): RunStore<TState> {
  return new RunStoreEngine(options);
}

function checkToken(token: string | undefined): string | undefined {
  if (token === undefined || /^[\w-]{16,128}$/.test(token)) return token;
  throw invalid('token', '16 to 128 unguessable characters of A–Z, a–z, 0–9, - and _');
}

/** A state that names no kind, or is no state at all, waits for client tools as far as the index is concerned. */
function kindOf(state: unknown): AgentPauseKind {
  try {
    return pauseOf(state).pauseKind;
  } catch {
    return 'client_tool';
  }
}
