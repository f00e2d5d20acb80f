/** A plain answer: text as it is, anything else as pretty JSON. */

import { brand } from './brand.js';
import { type StringifyFn, stringifyFailure } from './json/stringify.js';
import { ResponseError } from './response-error.js';
import type { ToolResult } from './types.js';

/**
 * Answers with `data`: a string as it stands (an empty one as `OK`, since some hosts drop empty text), anything else as
 * JSON with two spaces of indentation. What JSON leaves out stays out (a `Map` is `{}`), and what has no JSON at all
 * (`undefined`, a function) is `OK`; use `structured` or `compact` where nothing may be lost.
 *
 * @param compiledStringify replaces `JSON.stringify` for what is no string; wrap it in `guardStringify` unless it is trusted.
 * @throws ResponseError `NOT_JSON` (BigInt, cycle), `TOO_DEEP`, `TOO_LARGE`, `UNREADABLE`, `SERIALIZER_FAILED`
 * @example
 * ```ts
 * success('Project created');
 * success({ id: 'p1', name: 'Apollo' });
 * ```
 */
export function success(data: unknown, compiledStringify?: StringifyFn): ToolResult {
  return brand({ content: [{ type: 'text', text: textOf(data, compiledStringify) }] });
}

function textOf(data: unknown, compiledStringify: StringifyFn | undefined): string {
  if (typeof data === 'string') return data === '' ? 'OK' : data;
  if (compiledStringify !== undefined && data !== undefined) return compiledText(data, compiledStringify);
  try {
    return JSON.stringify(data, null, 2) ?? 'OK';
  } catch (cause) {
    throw stringifyFailure(data, cause);
  }
}

function compiledText(data: unknown, compiledStringify: StringifyFn): string {
  let text: unknown;
  try {
    text = compiledStringify(data);
  } catch (cause) {
    throw new ResponseError(
      'SERIALIZER_FAILED',
      `The compiled serialiser ${typeof compiledStringify === 'function' ? 'threw' : 'is no function'}. Wrap it in guardStringify() to fall back on JSON.stringify.`,
      { cause },
    );
  }
  if (typeof text === 'string') return text === '' ? 'OK' : text;
  throw new ResponseError(
    'SERIALIZER_FAILED',
    `The compiled serialiser returned ${text === null ? 'null' : typeof text} where text is needed. Wrap it in guardStringify() to fall back on JSON.stringify.`,
  );
}
