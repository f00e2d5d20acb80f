/** What the audit knows of one decision. */

/** What happened. */
export type AuditKind =
  /** A tool without an event was let through. */
  | 'allowed'
  | 'refused'
  | 'reserved'
  | 'committed'
  | 'rolled_back'
  /** The effect happened but the state did not move: the lease was lost, or the store failed. */
  | 'lost'
  /** An operator reset or forced the session. */
  | 'forced'
  | 'ended';

/** One decision about one session. Plain JSON: it survives a file. */
export interface AuditRecord {
  readonly kind: AuditKind;
  /** The session's key. */
  readonly session: string;
  readonly gate: string;
  /** The tool; `event:NAME` where an event was sent without one, `undefined` where an operator acted. */
  readonly tool?: string | undefined;
  readonly event?: string | undefined;
  /** The state at the decision. */
  readonly state: string;
  /** The state after it, where it moved. */
  readonly nextState?: string | undefined;
  /** The session's version after the decision. */
  readonly version: number;
  readonly fence?: number | undefined;
  /** Why: `closed`, `arguments: …` or `busy: …` of a refusal; a rollback's cause; an operator's note. */
  readonly reason?: string | undefined;
  /** The operator. */
  readonly by?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly time: number;
}
