/** The vocabulary of tool errors. */

/** A stable name for a kind of failure. Any string will do; the listed ones are those that models and hosts know. */
export type ErrorCode =
  | 'MISSING_DISCRIMINATOR'
  | 'UNKNOWN_ACTION'
  | 'VALIDATION_ERROR'
  | 'MISSING_REQUIRED_FIELD'
  | 'INTERNAL_ERROR'
  | 'RATE_LIMITED'
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'TIMEOUT'
  | 'SERVER_BUSY'
  | 'DEPRECATED'
  | 'AUTH_REQUIRED'
  | 'CANCELLED'
  | 'UNREACHABLE'
  | (string & {});

/**
 * - `warning`: it was done, but there is something to know (the result is no error).
 * - `error`: it failed; the model should try the way out.
 * - `critical`: it failed for good; the model should tell the user.
 */
export type ErrorSeverity = 'warning' | 'error' | 'critical';

/** What a {@link toolError} says. */
export interface ToolErrorOptions {
  /** What went wrong, in words for the model. */
  message: string;
  /** What to do now. */
  suggestion?: string;
  /** What may be called instead. */
  availableActions?: string[];
  /** Default `error`. */
  severity?: ErrorSeverity;
  /** Facts about the failure: the value refused, the id not found. */
  details?: Record<string, string>;
  /** Seconds to wait before the next try; said only if finite and above 0. */
  retryAfter?: number;
  /**
   * Longest text in characters, escapes included. Default 10,000: hosts cut error texts near 11,000, which would tear
   * the envelope open. What is longer is shortened field by field and says so.
   */
  maxChars?: number;
}

/** What `parseToolError` gives back; it can be passed to `toolError(code, parsed)` again. */
export interface ParsedToolError {
  /** Absent for `error(message)` without a code. */
  readonly code?: ErrorCode;
  readonly message: string;
  readonly severity: ErrorSeverity;
  readonly suggestion?: string;
  readonly availableActions: string[];
  readonly details: Record<string, string>;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** Where the machine-readable twin of the error text is kept in `_meta`. */
export const ERROR_META_KEY = 'interlock/error';
