/**
 * What a driver has to do: keep bytes under a key, and hand them out once.
 *
 * The engine above it owns codec, encryption, scope, decisions, events; a driver sees opaque bytes, keys that the
 * engine has hashed, and durations. Durations are relative and in milliseconds, so that the store's own clock decides
 * when something is over, never the clock of the machine that asks.
 *
 * Every method is atomic per key. Nothing is atomic across keys, and nothing in the engine needs it to be. Byte arrays
 * that cross this interface are modified by neither side.
 */

/**
 * A run's key: `<prefix>{<hash of the run id>}`. The braces make everything that a driver derives from it fall into one
 * slot of a Redis Cluster; other drivers take the string as it is.
 */
export type RunKey = string;

/** Length of the stamp: the first bytes of every stored value, which differ between any two `put`s. */
export const STAMP_BYTES = 16;

/** What a driver promises. The conformance kit tests exactly this, and `requireAtomic` reads it. */
export interface RunBackendCapabilities {
  /**
   * Among whom `take` has at most one winner: every client of the store, the callers within this process only, or
   * nobody.
   */
  readonly atomicTake: 'store' | 'process' | 'none';
  /** `take` repeated with the same token, within its `retainMs`, answers with the same bytes. */
  readonly retrySafeTake: boolean;
  /** `ttlMs` is kept: a value is never handed out after it. */
  readonly expiry: boolean;
  /** What a value survives: nothing, the end of this process, or a restart of the store as well. */
  readonly durability: 'none' | 'process-exit' | 'store-restart';
  /** Other processes see the same runs. */
  readonly shared: boolean;
}

/** Where a run is listed. The names are hashed by the engine; only `bytes` (sealed by it) says who and what. */
export interface RunIndexEntry {
  /** Key of the tenant, of the shape of a {@link RunKey}. */
  readonly tenant: string;
  /** Hash of the principal; of the empty string when there is none. */
  readonly principal: string;
  readonly kind: string;
  /** What the engine wants back from `index.list`. */
  readonly bytes: Uint8Array;
}

export interface PutOptions {
  /** Life of the value in milliseconds; absent: for ever. */
  readonly ttlMs?: number | undefined;
  /** `'replace'` overwrites a waiting run; `'keep'` leaves it and answers `'exists'`. */
  readonly existing: 'replace' | 'keep';
  /** Present only for a backend that has an `index`. */
  readonly index?: RunIndexEntry | undefined;
}

export interface TakeOptions {
  /** The caller's own token, unguessable: who repeats it gets the same copy again. */
  readonly token: string;
  /** How long the taken copy stays readable for that token, in milliseconds. */
  readonly retainMs: number;
  /** Life that this store gives to its runs, in milliseconds; absent: runs may have no end, and the copy needs one. */
  readonly ttlMs?: number | undefined;
  /**
   * Take only if the stored value still begins with this stamp (see {@link STAMP_BYTES}); else leave it. The copy that
   * the token has already taken is answered either way.
   */
  readonly ifStamp?: Uint8Array | undefined;
  /** Take only if the cell still holds exactly this (`null`: is empty). Given only to a backend that has `cells`. */
  readonly ifCell?: Uint8Array | null | undefined;
}

export interface TouchOptions {
  /** New remaining life in milliseconds, from now. */
  readonly ttlMs: number;
  /** As stored, so that the run stays listed for as long as it lives. */
  readonly index?: RunIndexEntry | undefined;
  /** Only the run that carries this stamp, waiting or claimed; another of the same key is left as it is. */
  readonly ifStamp?: Uint8Array | undefined;
}

export interface RemoveOptions {
  /** As in {@link TouchOptions}. */
  readonly ifStamp?: Uint8Array | undefined;
}

/**
 * The driver interface. `put`, `get`, `take`, `putBack`, `touch`, `remove` are the whole of the obligation; the facets below are
 * there or absent, and the engine says so in words where one is missing.
 *
 * Errors: a driver throws `RunStoreError` (`BACKEND_REFUSED`) when it is certain that nothing happened, and
 * `OutcomeUnknownError` when it cannot tell. The engine takes anything else that a writing method throws as the latter.
 */
export interface RunBackend {
  /** For messages and events: `'memory'`, `'redis'`, … */
  readonly name: string;
  readonly capabilities: RunBackendCapabilities;
  /** Stores a waiting run. Repeating the call with the same bytes has the same result (`'stored'`). */
  put(key: RunKey, bytes: Uint8Array, options: PutOptions): Promise<'stored' | 'exists'>;
  /** Reads without taking and without extending; also sees a run that is claimed. `null`: unknown, expired or taken. */
  get(key: RunKey): Promise<Uint8Array | null>;
  /** Reads and removes. A run under a live lease is not taken (`null`); one whose lease has passed is. */
  take(key: RunKey, options: TakeOptions): Promise<Uint8Array | null>;
  /**
   * Undoes a `take`: the token's copy waits again, for the rest of its life or, where the driver does not know that any
   * more, for `ttlMs` (absent: for ever) or longer. `false` when the copy is gone or another run waits there by now. It
   * is listed again, unless its entry was cleaned by a `list` in between.
   */
  putBack(key: RunKey, copy: { readonly token: string; readonly ttlMs?: number | undefined }): Promise<boolean>;
  /** Sets the remaining life of a waiting or claimed run; `false` when there is none. */
  touch(key: RunKey, options: TouchOptions): Promise<boolean>;
  /** Removes the run with its cell, claim and outcome; `false` when no run was there. Copies already taken stay. */
  remove(key: RunKey, options?: RemoveOptions): Promise<boolean>;
  /** One small mutable value beside a run: where partial decisions gather. */
  readonly cells?: RunCells;
  /** Work under a lease. */
  readonly claims?: RunClaims;
  /** Listing by tenant and principal. */
  readonly index?: RunIndex;
  /**
   * Deletes what has expired, for stores that do not do it by themselves, and answers with the number of runs removed.
   * At most `limit` a call; call again while it answers `limit`. Each is named to `onExpired`.
   */
  sweep?(options: SweepOptions): Promise<number>;
}

export interface SweepOptions {
  readonly limit: number;
  readonly onExpired?: ((key: RunKey) => void) | undefined;
}

/**
 * A cell is one value per key. It is kept as long as its run, after a `take` for `retainMs`, and cleared by `remove` and
 * `settle`; it may outlive a `put`, so its content has to say which run it belongs to.
 */
export interface RunCells {
  read(key: RunKey): Promise<Uint8Array | null>;
  /**
   * Writes `next` if the cell still holds exactly `expected` (`null`: is empty) and the run that carries `ifStamp`
   * still waits, unclaimed. `false` otherwise, and then nothing is changed.
   */
  swap(
    key: RunKey,
    change: { readonly expected: Uint8Array | null; readonly next: Uint8Array; readonly ifStamp: Uint8Array },
  ): Promise<boolean>;
}

export interface ClaimRequest {
  /** Unguessable, one a claim: who repeats it while the lease lives gets the same claim again. */
  readonly token: string;
  readonly leaseMs: number;
  /** Claim only the run that carries this stamp. */
  readonly ifStamp?: Uint8Array | undefined;
}

export type ClaimReply =
  /** The run is the caller's until the lease ends. `fence` is greater than that of every earlier claim of this key. */
  | { readonly kind: 'claimed'; readonly bytes: Uint8Array; readonly fence: number }
  /** Somebody else's lease lives. */
  | { readonly kind: 'held'; readonly retryInMs: number }
  /** Acknowledged before, with an outcome that is still kept. */
  | { readonly kind: 'settled'; readonly outcome: Uint8Array }
  | { readonly kind: 'missing' };

/**
 * A lease is kept by the store's clock. A claim stays its token's until somebody else claims, takes or removes the run,
 * also past the end of the lease: late work that nobody has redone is not thrown away. `'stale'` says that it is over.
 * A claim never lets its run expire under the worker: from `claim` and `extend` on, the run has at least two leases left.
 */
export interface RunClaims {
  claim(key: RunKey, request: ClaimRequest): Promise<ClaimReply>;
  extend(key: RunKey, lease: { readonly token: string; readonly leaseMs: number }): Promise<'ok' | 'stale'>;
  /** Gives the run back at once. Repeating it is `'ok'` until somebody else claims. */
  release(key: RunKey, lease: { readonly token: string }): Promise<'ok' | 'stale'>;
  /** What `settle` kept, without taking anything; `null` when there is none. */
  outcome(key: RunKey): Promise<Uint8Array | null>;
  /** Ends the run and keeps `outcome` for `outcomeTtlMs`. Repeating it with the same token, meanwhile, is `'ok'`. */
  settle(
    key: RunKey,
    settlement: {
      readonly token: string;
      /** Absent: nothing is answered to later claims. */
      readonly outcome?: Uint8Array | undefined;
      readonly outcomeTtlMs: number;
    },
  ): Promise<'ok' | 'stale'>;
}

export interface IndexQuery {
  readonly tenant: string;
  readonly principal?: string | undefined;
  readonly kind?: string | undefined;
  /** From an earlier page; opaque to the engine and untrusted by the driver. */
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface IndexedRun {
  readonly key: RunKey;
  readonly bytes: Uint8Array;
  readonly status: 'waiting' | 'claimed';
  /** Absent: never. */
  readonly expiresInMs?: number | undefined;
}

export interface IndexPage {
  readonly runs: readonly IndexedRun[];
  /** Absent on the last page. A page may hold fewer runs than `limit` and still have a cursor. */
  readonly cursor?: string | undefined;
}

export interface RunIndex {
  /** Only runs that exist now. The order is the driver's own, and a run keeps its place from page to page. */
  list(query: IndexQuery): Promise<IndexPage>;
  /** Removes every run of the tenant with all that belongs to it; answers with how many there were. */
  eraseTenant(tenant: string): Promise<number>;
}
