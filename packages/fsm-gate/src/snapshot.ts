/** What is stored of one session, and what a transition reports. */

/** One session's place in the machine; plain JSON, safe to store and to send between processes. */
export interface FsmSnapshot {
  /** The state's name; of a nested or parallel machine, its canonical path text such as `a.b` or `(cart.full|pay.open)`. */
  state: string;
  /** When the state last changed (of a new session: when it began), in milliseconds since the epoch. */
  updatedAt: number;
  /** Set by gates of `@mcp-interlock/fsm-gate/xstate` only: all that the machine needs to go on. */
  machine?: MachineMemo;
  /** Written by `createGateSessions` into a plain `load`/`save` store, which has no other place for it. */
  version?: number;
}

/** A whole XState snapshot with the identity of the machine that made it. */
export interface MachineMemo {
  /** The machine's id. */
  id: string;
  /** A hash of the machine's definition: a snapshot of another definition is refused or migrated. */
  definition: string;
  /** What `getPersistedSnapshot()` gave: state value, context, history. */
  snapshot: unknown;
}

/** What became of one event. */
export interface TransitionResult {
  /** Whether the state is another one than before; false for a self-loop and for an event that was not accepted. */
  changed: boolean;
  /** The state before the event. */
  previousState: string;
  /** The state after the event. */
  currentState: string;
}

/**
 * The smallest store: reads and overwrites a session's snapshot. It cannot arbitrate between processes; use a `GateStore`
 * (`memoryGateStore`, `redisGateStore`) where more than one process serves a session.
 */
export interface FsmStateStore {
  /** The snapshot last saved for the session, `undefined` for a new one. */
  load(sessionId: string): Promise<FsmSnapshot | undefined>;
  /** Keeps the snapshot. */
  save(sessionId: string, snapshot: FsmSnapshot): Promise<void>;
  /** Forgets the session, where the store can; without it, an ended session stays until the store drops it. */
  delete?(sessionId: string): Promise<void>;
}
