/** Everything that a run store throws: one class a reason that callers tell apart, each with a stable `code`. */

export type RunStoreErrorCode =
  /** An option of a store cannot work. */
  | 'INVALID_OPTION'
  /** A run id that no store would have given out. */
  | 'INVALID_RUN_ID'
  /** The state holds something that cannot be kept; `path` says where. */
  | 'STATE_NOT_SERIALIZABLE'
  | 'RUN_TOO_LARGE'
  /** `ifAbsent`, and the id is taken. */
  | 'RUN_EXISTS'
  /** Stored bytes are damaged or cut off. */
  | 'RUN_CORRUPT'
  /** Stored bytes of a format, codec or schema version that this release does not know. */
  | 'RUN_VERSION_UNKNOWN'
  /** Encrypted bytes whose key is not in the key ring, or that belong to another run. */
  | 'RUN_UNREADABLE'
  | 'SCOPE_MISMATCH'
  | 'DECISION_INVALID'
  /** A claim that another claimer has overtaken. */
  | 'STALE_FENCE'
  /** The backend cannot do what was asked of it. */
  | 'UNSUPPORTED'
  /** The backend said no; nothing has happened. */
  | 'BACKEND_REFUSED'
  /** A read that failed; nothing has happened. */
  | 'BACKEND_UNAVAILABLE'
  /** The request may or may not have been carried out. */
  | 'OUTCOME_UNKNOWN'
  /** An optional package is missing. */
  | 'PEER_MISSING';

export interface RunStoreErrorOptions {
  cause?: unknown;
}

/** Base of all; catch by class or switch on `code`. */
export class RunStoreError extends Error {
  override readonly name: string = 'RunStoreError';
  readonly code: RunStoreErrorCode;
  constructor(code: RunStoreErrorCode, message: string, options: RunStoreErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
  }
}

export interface OutcomeUnknownErrorOptions extends RunStoreErrorOptions {
  token?: string | undefined;
  /** `'lossy'`: a take of a backend that is not retry-safe. Default `'repeatable'`. */
  kind?: 'repeatable' | 'lossy';
}

/**
 * The store did not answer, so it is not known whether the operation happened. Never mistaken for "no such run". For
 * `consume`, `resume` and `claim` the way out is to ask again with the same `token`.
 */
export class OutcomeUnknownError extends RunStoreError {
  override readonly name: string = 'OutcomeUnknownError';
  readonly operation: string;
  /** Hand it back to the same method to get what may have been taken. Absent where repeating needs none. */
  readonly token: string | undefined;
  constructor(operation: string, options: OutcomeUnknownErrorOptions = {}) {
    super(
      'OUTCOME_UNKNOWN',
      `Whether ${operation} was carried out is not known: no answer came. ${wayOutOf(options)}`,
      options,
    );
    this.operation = operation;
    this.token = options.token;
  }
}

function wayOutOf({ token, kind = 'repeatable' }: OutcomeUnknownErrorOptions): string {
  if (kind === 'lossy') return 'This backend cannot hand out again what it may have taken: look with load().';
  if (token === undefined) return 'Repeating it is safe.';
  return 'Repeat it with `token` of this error: what was taken is handed to that token again.';
}

/** A value that would not come back as it went in. */
export class StateNotSerializableError extends RunStoreError {
  override readonly name: string = 'StateNotSerializableError';
  /** Where it sits, e.g. `$.messages[3].toolCalls[0].arguments.callback`. */
  readonly path: string;
  constructor(path: string, reason: string) {
    super(
      'STATE_NOT_SERIALIZABLE',
      `${path} cannot be stored: ${reason}. Replace it with plain data before storing the run.`,
    );
    this.path = path;
  }
}

export class RunTooLargeError extends RunStoreError {
  override readonly name: string = 'RunTooLargeError';
  readonly bytes: number;
  readonly maxBytes: number;
  constructor(what: string, bytes: number, maxBytes: number, wayOut: string) {
    super('RUN_TOO_LARGE', `${what} has ${bytes} bytes, ${maxBytes} are allowed. ${wayOut}`);
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}

/** The caller is not the one whom the run was stored for. The run is left as it was. */
export class RunScopeError extends RunStoreError {
  override readonly name: string = 'RunScopeError';
  /** Names of the scope's fields that differ; never their values. */
  readonly fields: readonly string[];
  constructor(fields: readonly string[]) {
    super(
      'SCOPE_MISMATCH',
      `The run belongs to another ${fields.join(', ')}. Pass the scope it was stored with; answer strangers as if there were no run.`,
    );
    this.fields = fields;
  }
}

/** One thing that is wrong with a decision. */
export interface DecisionProblem {
  readonly kind:
    | 'not_pending'
    | 'missing'
    | 'doubled'
    | 'contradicting'
    | 'wrong_kind'
    | 'already_decided'
    | 'malformed';
  /** The tool call that it is about, or the field for `wrong_kind` and `malformed`. */
  readonly id: string;
}

/** The decision does not answer what the run waits for. The run is left as it was. */
export class DecisionError extends RunStoreError {
  override readonly name: string = 'DecisionError';
  readonly problems: readonly DecisionProblem[];
  constructor(problems: readonly DecisionProblem[]) {
    super('DECISION_INVALID', `The decision does not fit the run, which still waits. ${summaryOf(problems)}.`);
    this.problems = problems;
  }
}

/** Ids come from outside, and a message is for a log line: some of them, and the beginning of each. */
function summaryOf(problems: readonly DecisionProblem[]): string {
  const shown = problems.slice(0, 8).map(({ id, kind }) => {
    const name = id.length > 64 ? `${id.slice(0, 64)}…` : id;
    return `${JSON.stringify(name)} ${kind.replaceAll('_', ' ')}`;
  });
  const more = problems.length - shown.length;
  return more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ');
}

/** Somebody else has claimed, taken or ended the run since. What this worker did must not be committed. */
export class StaleFenceError extends RunStoreError {
  override readonly name: string = 'StaleFenceError';
  readonly fence: number;
  constructor(operation: string, fence: number) {
    super(
      'STALE_FENCE',
      `${operation} was refused: the claim with fence ${fence} has been overtaken. Drop this worker's result; whoever holds the run now decides.`,
    );
    this.fence = fence;
  }
}
