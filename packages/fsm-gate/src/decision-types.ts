/** What a gate answers when it is asked about a call: data, to be worded by whoever tells the model. */

/** The tool may run now. */
export interface AllowedDecision {
  readonly kind: 'allowed';
  readonly tool: string;
  readonly state: string;
  /** The events that a success may send; empty for a tool that moves nothing. */
  readonly events: readonly string[];
}

interface Refusal {
  readonly kind: 'refused';
  readonly tool: string;
  /** The session's state at the time of the decision. */
  readonly state: string;
  /** The bound tools that are open in that state. */
  readonly openTools: readonly string[];
}

/** The tool does not exist in this state. */
export interface ClosedDecision extends Refusal {
  readonly reason: 'closed';
  /** The shortest sequence of tools that opens the wanted one; `undefined` where nothing does. */
  readonly wayIn: readonly string[] | undefined;
  /** Whether that is proven. Where guards, context or arguments decide, it is the best that can be said beforehand. */
  readonly certain: boolean;
}

/** The tool is open, these arguments are not. */
export interface ArgumentsDecision extends Refusal {
  readonly reason: 'arguments';
  /** What the binding's guard said. */
  readonly detail: string;
}

/** Another call that moves this session is in flight. */
export interface BusyDecision extends Refusal {
  readonly reason: 'busy';
  /** The tool that holds the session. */
  readonly holder: string;
  /** For how long its lease still runs unless it is renewed, in milliseconds. */
  readonly retryAfterMs: number;
}

/** Why a call must not run. */
export type RefusedDecision = ClosedDecision | ArgumentsDecision | BusyDecision;

/** The answer about one call. */
export type GateDecision = AllowedDecision | RefusedDecision;
