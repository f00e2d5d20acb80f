/** Failure results: the short ones, and the one that teaches the model the way out. */

import { brand } from '../brand.js';
import type { Meta, ToolResult } from '../types.js';
import { asText } from './as-text.js';
import { DEFAULT_ERROR_CHARS, type ErrorFields, renderError, shrinkError } from './error-envelope.js';
import { ERROR_META_KEY, type ErrorCode, type ErrorSeverity, type ToolErrorOptions } from './error-types.js';

/**
 * A failed call, in a sentence.
 *
 * @example
 * ```ts
 * error('Project not found', 'NOT_FOUND');
 * ```
 */
export function error(message: string, code?: ErrorCode): ToolResult {
  return shortError({ code: code === undefined ? undefined : asText(code), message: asText(message) });
}

/** A failed call because `field` was not given; tells the model to send it. */
export function required(field: string): ToolResult {
  const name = asText(field);
  return shortError({
    code: 'MISSING_REQUIRED_FIELD',
    message: `Error: ${name} required`,
    suggestion: `Provide the "${name}" field and call the tool again.`,
  });
}

/**
 * A failed call with its way out: what went wrong, what to do, what else may be called, when to try again. Takes any
 * strings, from anywhere; the text is well-formed XML and `_meta["interlock/error"]` has the same facts for programs.
 * Severity `warning` means that it was done after all: `isError` is false.
 *
 * @example
 * ```ts
 * toolError('NOT_FOUND', {
 *   message: `There is no project '${id}'.`,
 *   suggestion: 'List the projects to find a valid id.',
 *   availableActions: ['projects.list'],
 * });
 * ```
 */
export function toolError(code: ErrorCode, options: ToolErrorOptions): ToolResult & { _meta: Meta } {
  const { fields, text } = bounded(readFields(code, options), readMaxChars(options));
  return brand({
    content: [{ type: 'text' as const, text }],
    isError: fields.severity !== 'warning',
    _meta: { [ERROR_META_KEY]: errorTwin(fields) },
  });
}

function readMaxChars(options: Partial<ToolErrorOptions> | undefined): number {
  try {
    return Number(options?.maxChars ?? DEFAULT_ERROR_CHARS);
  } catch {
    return DEFAULT_ERROR_CHARS;
  }
}

/** The facts of an error as plain JSON, without the fields that say nothing. */
export function errorTwin(fields: ErrorFields): Meta {
  const twin: Meta = { severity: fields.severity ?? 'error', message: fields.message };
  if (fields.code) twin.code = fields.code;
  if (fields.suggestion) twin.suggestion = fields.suggestion;
  if (fields.availableActions?.length) twin.availableActions = [...fields.availableActions];
  if (fields.details && Object.keys(fields.details).length > 0) twin.details = { ...fields.details };
  if (fields.retryAfter !== undefined) twin.retryAfter = fields.retryAfter;
  return twin;
}

function shortError(fields: ErrorFields): ToolResult {
  return brand({ content: [{ type: 'text', text: bounded(fields, DEFAULT_ERROR_CHARS).text }], isError: true });
}

function bounded(fields: ErrorFields, maxChars: number): { readonly fields: ErrorFields; readonly text: string } {
  const limit = maxChars > 0 ? maxChars : DEFAULT_ERROR_CHARS;
  // Longer than the limit unescaped is longer escaped: no need to render 100 MB to know.
  if (roughLength(fields) <= limit) {
    const text = renderError(fields);
    if (text.length <= limit) return { fields, text };
  }
  return shrinkError(fields, (text) => text.length <= limit) ?? shortest(fields);
}

/** For a limit that holds no error at all: the least that is still an envelope. */
function shortest(fields: ErrorFields): { readonly fields: ErrorFields; readonly text: string } {
  const least: ErrorFields = { severity: fields.severity, message: '…' };
  return { fields: least, text: renderError(least) };
}

function roughLength(fields: ErrorFields): number {
  let length = fields.message.length + (fields.suggestion?.length ?? 0);
  for (const action of fields.availableActions ?? []) length += action.length;
  for (const [key, value] of Object.entries(fields.details ?? {})) length += key.length + value.length;
  return length;
}

function readFields(code: unknown, options: Partial<ToolErrorOptions> | undefined): ErrorFields {
  try {
    return fieldsOf(code, options);
  } catch {
    // Options that cannot be read must not cost the error that they are about.
    return { code: asText(code), severity: 'error', message: '[unreadable]' };
  }
}

function fieldsOf(code: unknown, options: Partial<ToolErrorOptions> | undefined): ErrorFields {
  const { message, suggestion, availableActions, severity, details, retryAfter } = options ?? {};
  return {
    code: asText(code),
    severity: readSeverity(severity),
    message: asText(message ?? code),
    suggestion: suggestion === undefined || suggestion === null ? undefined : asText(suggestion),
    availableActions: Array.isArray(availableActions) ? Array.from(availableActions, asText) : undefined,
    details: readDetails(details),
    retryAfter: typeof retryAfter === 'number' && retryAfter > 0 && retryAfter < Infinity ? retryAfter : undefined,
  };
}

function readSeverity(severity: unknown): ErrorSeverity {
  return severity === 'warning' || severity === 'critical' ? severity : 'error';
}

function readDetails(details: unknown): Record<string, string> | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  // `fromEntries` defines its keys, so that a detail called `__proto__` is one like any other.
  return Object.fromEntries(Object.entries(details).map(([key, value]) => [key, asText(value)]));
}
