/** Any thrown value as an error result that gives nothing away. */

import { checkObject } from '../check.js';
import { ResponseError } from '../response-error.js';
import type { Meta, ToolResult } from '../types.js';
import { asText } from './as-text.js';
import { classifyError, isObject, read } from './classify-error.js';
import { toolError } from './error.js';
import type { ErrorCode, ToolErrorOptions } from './error-types.js';
import { fromZodError, type ValidationErrorLike, type ValidationIssueLike } from './from-zod-error.js';

/** Registered, so that two copies of the package know each other's; and no parsed JSON can have it. */
const TOOL_FAILURE = Symbol.for('interlock:tool-failure');

/**
 * Thrown by a handler that knows what the model should hear: `fromError` and `guardTool` send it as it is, as
 * `toolError(code, options)` would.
 */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly code: ErrorCode;
  readonly options: ToolErrorOptions;

  constructor(code: ErrorCode, options: ToolErrorOptions & { readonly cause?: unknown }) {
    checkObject(options, 'ToolFailure: options');
    const { cause, ...said } = options;
    super(said.message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.options = said;
    Object.defineProperty(this, TOOL_FAILURE, { value: true });
  }
}

export interface FromErrorOptions {
  /** Under which the whole error is logged: the model and the user may name it. */
  readonly correlationId?: string;
  /** The arguments of the call, for validation errors to tell what came. */
  readonly input?: unknown;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/**
 * Maps what was thrown to a code, a sentence and a way out: a {@link ToolFailure} as it says, validation errors field by
 * field, aborts, timeouts, HTTP statuses (with their `Retry-After`) and `errno` codes in words of our own, and everything
 * else as `INTERNAL_ERROR`. No message, stack, path or value of the thrown error is sent: only what it was recognised by.
 *
 * @example
 * ```ts
 * try {
 *   return success(await api.load(id));
 * } catch (error) {
 *   return fromError(error);
 * }
 * ```
 */
export function fromError(error: unknown, options: FromErrorOptions = {}): ToolResult & { _meta: Meta } {
  try {
    return recognised(error, options) ?? unexpected(readId(options));
  } catch {
    // An error that cannot even be read (a hostile proxy, say) is an unexpected one; the log has it as it is.
    return unexpected(readId(options));
  }
}

function recognised(error: unknown, options: FromErrorOptions): (ToolResult & { _meta: Meta }) | undefined {
  const id = readId(options);
  if (isToolFailure(error)) {
    return toolError(error.code, { ...error.options, details: { ...error.options.details, ...idDetail(id) } });
  }
  if (error instanceof ResponseError && error.code === 'CURSOR_INVALID') {
    return toolError('VALIDATION_ERROR', { message: error.message, details: { field: 'cursor', ...idDetail(id) } });
  }
  if (isValidationError(error)) {
    const { now: _notNeeded, ...settings } = options ?? {};
    return fromZodError({ issues: error.issues.map(withoutForeignMessage) }, settings);
  }
  const known = classifyError(error, (options?.now ?? Date.now)());
  if (!known) return undefined;
  const { code, details, ...said } = known;
  return toolError(code, { ...said, details: { ...details, ...idDetail(id) } });
}

/**
 * zod's own messages name kinds and limits, and others were written by the schema's author. An issue without a code of
 * zod's comes from anywhere: its message may repeat the value, or be that of a failed connection.
 */
function withoutForeignMessage(issue: ValidationIssueLike): ValidationIssueLike {
  return typeof read(issue, 'code') === 'string' ? issue : { message: 'is not valid', path: issue.path };
}

function unexpected(id: string | undefined): ToolResult & { _meta: Meta } {
  return toolError('INTERNAL_ERROR', {
    message: 'The tool failed unexpectedly.',
    suggestion: id === undefined ? 'Tell the user.' : `Tell the user, with the correlation id ${id}.`,
    details: idDetail(id),
  });
}

function readId(options: FromErrorOptions): string | undefined {
  const correlationId = isObject(options) ? read(options, 'correlationId') : undefined;
  return correlationId === undefined ? undefined : asText(correlationId);
}

function idDetail(id: string | undefined): Record<string, string> {
  return id === undefined ? {} : { correlation_id: id };
}

/** Also one of another copy of the package; not what merely looks like one, such as a service's answer that was thrown. */
function isToolFailure(error: unknown): error is ToolFailure {
  return isObject(error) && read(error, TOOL_FAILURE) === true && isObject(read(error, 'options'));
}

function isValidationError(error: unknown): error is ValidationErrorLike {
  const issues = isObject(error) ? read(error, 'issues') : undefined;
  return (
    Array.isArray(issues) &&
    issues.length > 0 &&
    issues.every((issue) => isObject(issue) && typeof read(issue, 'message') === 'string')
  );
}
