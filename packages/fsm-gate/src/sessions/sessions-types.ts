/** The face of `createGateSessions`: many sessions of one gate, each call an interlocked reserve → execute → commit. */
import type { AuditRecord } from '../audit/audit-types.js';
import type { Awaitable } from '../awaitable.js';
import type { AllowedDecision, GateDecision, RefusedDecision } from '../decision-types.js';
import type { GateLike, GateModel } from '../model.js';
import type { FsmSnapshot, FsmStateStore, TransitionResult } from '../snapshot.js';
import type { GateStore } from './store.js';

/** What happens to a call that moves a session while another such call is in flight. */
export type Contention =
  /** It queues, first come first served within a process, for at most `timeoutMs`; then it is refused as busy. */
  | { readonly kind: 'wait'; readonly timeoutMs: number; readonly pollMs?: number }
  /** It is refused at once, naming the state and the tool that holds the session. */
  | { readonly kind: 'refuse' };

/** Timers, injected so that tests hold the clock. */
export interface GateTimers {
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** Options of `createGateSessions`. */
export interface GateSessionsOptions {
  /** The gate: a `StateMachineGate` or a gate of `@mcp-interlock/fsm-gate/xstate`. Its own current state is not used. */
  readonly gate: GateLike;
  /** Where sessions live. Default: `memoryGateStore()`. A plain `load`/`save` store is serialised in this process, no more. */
  readonly store?: GateStore | FsmStateStore;
  /** Every registered tool name. When given, `verifyGate` runs at once and its errors are thrown. */
  readonly tools?: readonly string[];
  /** For how long a lease holds without renewal, in milliseconds. Default 30,000. It is renewed at a third of that. */
  readonly leaseMs?: number;
  /** How long a call may hold its session, renewals included, in milliseconds. Default 3,600,000 (one hour). */
  readonly maxHoldMs?: number;
  /**
   * What the loser of a race gets, for all tools or by tool; a function is asked only where the session may not be free. Default:
   * wait for at most 10,000 ms.
   */
  readonly contention?: Contention | ((tool: string) => Contention);
  /** What a callback's result means. Default `outcomeOfResult`: `isError` and `input_required` roll back, the rest commits. */
  readonly outcomeOf?: (result: unknown) => 'commit' | 'rollback';
  /** Brings a snapshot of another definition into this one; without it such a snapshot is refused. */
  readonly migrate?: (snapshot: FsmSnapshot, reason: Error) => FsmSnapshot | undefined;
  /** Every decision, in order. */
  readonly onDecision?: (record: AuditRecord) => void;
  /** What failed where nobody waits for an answer (a renewal, a release, a listener). Default: `console.error`. */
  readonly onError?: (error: unknown) => void;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  readonly timers?: GateTimers;
  /** Default `crypto.randomUUID`. */
  readonly randomId?: () => string;
}

/** A session as it stands. */
export interface SessionView {
  readonly state: string;
  readonly version: number;
  readonly updatedAt: number;
  readonly snapshot: FsmSnapshot;
  /** The bound tools that are closed now. */
  readonly closed: ReadonlySet<string>;
}

/** A session moved. */
export interface SessionChange {
  readonly key: string;
  readonly previousState: string;
  readonly currentState: string;
  readonly version: number;
  /** Whether the set of open tools is another one than before. */
  readonly visibleChanged: boolean;
  /** `false`: the change was made by another process and came through the store. */
  readonly local: boolean;
}

/** Serialisable name of a reservation, by which another process can finish what this one began. */
export interface CallToken {
  readonly key: string;
  readonly tool: string;
  readonly fence: number;
}

/** A call that was let through, between its reservation and its end. End it exactly once, by `commit` or by `rollback`. */
export interface GateCall {
  readonly key: string;
  readonly tool: string;
  readonly decision: AllowedDecision;
  /**
   * The fencing token: greater than that of every earlier call that moved this session. Hand it to the system that carries out
   * the effect, so that it can turn down a call whose lease ended. `undefined` for tools without an event, which take no lease.
   */
  readonly fence: number | undefined;
  /** For `sessions.resume` in another process; `undefined` for tools without an event. */
  readonly token: CallToken | undefined;
  /** Aborts when the lease is lost while the call still runs. */
  readonly lost: AbortSignal;
  /**
   * Moves the session: the call succeeded. Idempotent.
   * @throws `EffectNotRecordedError` when the state could not be moved though the effect happened.
   */
  commit(result?: unknown): Promise<TransitionResult>;
  /** `commit`, answering at once where the store does: for integrations that count microseconds. Rejects, never throws. */
  settle(result?: unknown): Awaitable<TransitionResult>;
  /** Frees the session where it was. Idempotent; never rejects (what fails goes to `onError`, the lease then expires). */
  rollback(reason: string): Promise<void>;
}

/** The answer to a reservation. */
export type Admission =
  | { readonly kind: 'admitted'; readonly call: GateCall }
  | { readonly kind: 'refused'; readonly decision: RefusedDecision };

/** What became of `run`. */
export type RunOutcome<T> =
  | { readonly kind: 'done'; readonly result: T; readonly transition: TransitionResult }
  /** The callback answered, but its answer means that the state stays (`isError`, `input_required`). */
  | { readonly kind: 'rolled_back'; readonly result: T; readonly state: string }
  | { readonly kind: 'refused'; readonly decision: RefusedDecision };

/** Who acts on a session from outside, and why; kept in the audit. */
export interface OperatorNote {
  readonly by: string;
  readonly reason: string;
}

/** How to wait. */
export interface CallOptions {
  /** Ends the wait for the session; never undoes a call that was admitted. */
  readonly signal?: AbortSignal;
}

/** How to wait, for integrations. */
export interface AdmitOptions extends CallOptions {
  /**
   * In place of `signal`: looked at only where there is something to wait for, so that a call that need not wait is let through
   * although it is aborted. Reading an `AbortSignal` takes as long as the rest of a reservation.
   */
  readonly waitSignal?: AbortSignal | undefined;
}

/** How an event is sent from outside a tool call. */
export interface SendOptions extends CallOptions, Partial<OperatorNote> {
  /** Given to a machine with the event, as a tool's arguments are. */
  readonly args?: unknown;
}

/** Many sessions of one gate. Nothing of an idle session is kept here; its slot is in the store. */
export interface GateSessions {
  readonly model: GateModel;
  /** Where the session stands; a new session stands in the initial state. */
  inspect(key: string): Promise<SessionView>;
  /** The names that are open for the session, in their order. */
  visibleTools(key: string, names: readonly string[]): Promise<string[]>;
  /** What `reserve` would say now, without taking anything (and so without `busy`). */
  decide(key: string, tool: string, args?: unknown): Promise<GateDecision>;
  /** Takes the session for a call, or says why not. The lease is renewed until the call is ended. */
  reserve(key: string, tool: string, args?: unknown, options?: CallOptions): Promise<Admission>;
  /**
   * `reserve`, answering at once where nobody is to be waited for, which is so for a session of `memoryGateStore` that has been
   * written and that no call holds: for integrations that count microseconds. Rejects, never throws.
   */
  admit(key: string, tool: string, args?: unknown, options?: AdmitOptions): Awaitable<Admission>;
  /** Goes on with a reservation made elsewhere (a task). `undefined` when its lease is gone. */
  resume(token: CallToken, args?: unknown): Promise<GateCall | undefined>;
  /** reserve → execute → commit or roll back. What `execute` throws is thrown on, after the rollback. */
  run<T>(
    key: string,
    tool: string,
    args: unknown,
    execute: (call: GateCall) => T | Promise<T>,
    options?: CallOptions,
  ): Promise<RunOutcome<T>>;
  /**
   * Sends an event that no tool stands for (an operator's approval, a webhook, a timer), under the same interlock.
   * @throws `GateError` `SESSION_BUSY` when a call held the session for as long as the contention option waits.
   */
  send(key: string, event: string, options?: SendOptions): Promise<TransitionResult>;
  /** Back to the initial state, whoever holds the session; audited. */
  reset(key: string, note: OperatorNote): Promise<SessionView>;
  /** Into a given state, whoever holds the session; audited. */
  force(key: string, state: string | FsmSnapshot, note: OperatorNote): Promise<SessionView>;
  /** The session is over: its listeners hear that it is at its beginning again, then they and its slot are freed. */
  end(key: string): Promise<void>;
  /** Called after each change of any session, or of one; a listener that throws disturbs nobody. Returns the unsubscribe function. */
  onChange(listener: (change: SessionChange) => void): () => void;
  onChange(key: string, listener: (change: SessionChange) => void): () => void;
  /** Stops renewals and the store's subscription. Calls in flight lose their lease when it expires. */
  close(): void;
}
