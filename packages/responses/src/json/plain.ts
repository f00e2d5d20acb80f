/** What of JSON's data is a record, what a list, and what neither. */
import { ResponseError } from '../response-error.js';

/** Deeper data is refused: serialisers and parsers on the way recurse, and no model follows that far. */
export const MAX_DEPTH = 1000;

/** Thrown by the walks that keep no paths: `explain` looks for the place afterwards. */
export const NOT_JSON: unique symbol = Symbol('not JSON');

/** A literal or a record without prototype, of this realm or another; no class instance. */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** `Array.isArray`, for which readonly arrays are arrays too. */
export const isList: (value: unknown) => value is readonly unknown[] = Array.isArray;

/** Lists may have properties of their own, which JSON drops; to look for them at every list would cost too much. */
export function refuseFields(list: readonly unknown[], first: unknown, depth: number): void {
  // What a regular expression matched, at any depth.
  if (typeof first === 'string' && (list as { index?: unknown }).index !== undefined) throw NOT_JSON;
  // Result sets of some drivers carry facts beside their rows.
  const isRows = typeof first === 'object' && first !== null && !isList(first);
  if (depth <= 1 && isRows && Object.keys(list).length !== list.length) throw NOT_JSON;
}

export function tooLarge(): ResponseError {
  return new ResponseError(
    'TOO_LARGE',
    'The data is larger than 128 million characters of JSON, or has more than 5 million objects. Send a page or a link.',
  );
}
