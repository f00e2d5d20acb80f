/** The contract of a store that can arbitrate: one slot a session, with a version, a lease and a fencing token. */
import type { Awaitable } from '../awaitable.js';
import type { FsmSnapshot } from '../snapshot.js';

/** What a store holds of one session. */
export interface StoredSession {
  readonly snapshot: FsmSnapshot;
  /** Grows by one with every write of the snapshot; 0 for a session that was never written. */
  readonly version: number;
}

/** Who wants the slot, and from where. */
export interface ReserveRequest {
  /** Unguessable and unique for each reservation: asking again with the same id is the same reservation (a lost reply). */
  readonly id: string;
  /** The tool, told to those who wait. */
  readonly tool: string;
  /** What a session that is not stored yet starts from; made when it is asked for. */
  readonly initial: () => FsmSnapshot;
  /** For how long the lease holds unless it is renewed, in milliseconds. */
  readonly leaseMs: number;
  /** Take the lease only in one of these states; `undefined`: in any. */
  readonly onlyIn: readonly string[] | undefined;
}

/** What became of a reservation. */
export type ReserveOutcome =
  /** The slot is the caller's until the lease ends. `fence` is greater than every earlier one of this session. */
  | { readonly kind: 'granted'; readonly session: StoredSession; readonly fence: number }
  /** Another reservation holds the slot. */
  | { readonly kind: 'held'; readonly session: StoredSession; readonly tool: string; readonly expiresInMs: number }
  /** The slot is free, but in none of the wanted states; no lease was taken. */
  | { readonly kind: 'elsewhere'; readonly session: StoredSession };

/** What became of a commit. */
export type CommitOutcome =
  | { readonly kind: 'committed'; readonly version: number }
  /** The lease expired, was taken over, or was cut by an operator; nothing was written. */
  | { readonly kind: 'lost' };

/** One change of a session, as a store tells it to every process. */
export interface StoreChange {
  readonly key: string;
  readonly previous: FsmSnapshot | undefined;
  readonly current: FsmSnapshot;
  readonly version: number;
}

/**
 * Where sessions live. Every method is atomic for its key. Prove an implementation with `gateStoreChecks` of
 * `@mcp-interlock/fsm-gate/testing`.
 */
export interface GateStore {
  /** The session, `undefined` when nothing is stored. */
  read(key: string): Awaitable<StoredSession | undefined>;
  /** Takes the slot's lease, or says who has it. */
  reserve(key: string, request: ReserveRequest): Awaitable<ReserveOutcome>;
  /** Lengthens the lease to `leaseMs` from now; false when it is no longer the caller's. */
  renew(key: string, fence: number, leaseMs: number): Awaitable<boolean>;
  /** Writes the snapshot and frees the slot, if the lease is still the caller's. A repeated commit of one fence is the same commit. */
  commit(key: string, fence: number, snapshot: FsmSnapshot): Awaitable<CommitOutcome>;
  /** Frees the slot without writing; does nothing when the lease is no longer the caller's. */
  release(key: string, fence: number): Awaitable<void>;
  /** Overwrites the session whoever holds it, and cuts the lease: for operators. */
  force(key: string, snapshot: FsmSnapshot): Awaitable<StoredSession>;
  /** Forgets the session and cuts its lease. */
  delete(key: string): Awaitable<void>;
  /** Tells of the changes that *other* processes made, where the store can. Returns the unsubscribe function. */
  subscribe?(listener: (change: StoreChange) => void): () => void;
}
