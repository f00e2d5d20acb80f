/** The errors of this package: each has a stable `code` and says the way out. */

/** What went wrong, for programs. */
export type GateErrorCode =
  /** The config cannot work; refused at construction. */
  | 'CONFIG_INVALID'
  /** A binding names something impossible. */
  | 'BINDING_INVALID'
  /** `verifyGate` found errors at boot. */
  | 'GATE_UNSOUND'
  /** A stored snapshot is no snapshot. */
  | 'SNAPSHOT_INVALID'
  /** A stored snapshot belongs to another machine or to another definition of it. */
  | 'SNAPSHOT_FOREIGN'
  /** The machine needs what a gate has not: a living actor. */
  | 'MACHINE_UNSUPPORTED'
  /** The store failed, or answered nonsense. */
  | 'STORE_FAILED'
  /** The session's lease could not be had in time, where no decision can say so (`send`). */
  | 'SESSION_BUSY'
  /** The effect happened and the state did not move. */
  | 'EFFECT_NOT_RECORDED'
  /** A peer package is missing. */
  | 'PEER_MISSING'
  /** An argument of ours is wrong. */
  | 'ARGUMENT_INVALID';

/** Any error of this package. */
export class GateError extends Error {
  override readonly name: string = 'GateError';
  readonly code: GateErrorCode;

  constructor(code: GateErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * The callback of a call succeeded, but its transition could not be written: the effect happened, the state did not move. Do
 * not run the call again blindly; look at the effect, then `force` the session or undo the effect.
 */
export class EffectNotRecordedError extends GateError {
  override readonly name: string = 'EffectNotRecordedError';
  /** What the callback answered. */
  readonly result: unknown;

  constructor(message: string, result: unknown, options?: ErrorOptions) {
    super('EFFECT_NOT_RECORDED', message, options);
    this.result = result;
  }
}
