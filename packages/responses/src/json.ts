/** Whether data is JSON through and through, so that sending it loses nothing. */
import { ResponseError } from './response-error.js';
import { joinPath } from './stringify.js';

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Deeper data is refused: serialisers and parsers on the way recurse, and no model follows that far. */
export const MAX_DEPTH = 1000;

/** Characters. V8's longest string has about 536 million; escapes need room. */
const MAX_SIZE = 256_000_000;

/**
 * Returns the approximate length of `data` as compact JSON, in characters, or throws if JSON would lose or change any
 * of it: `undefined`, functions, symbols, BigInt, NaN and the infinities, `Map`, `Set`, `Date`, `Error`, typed arrays and
 * other class instances, `toJSON`, holes and extra properties of arrays, symbol keys, cycles. `-0` counts as `0`.
 *
 * @throws ResponseError `NOT_JSON` | `TOO_DEEP` | `TOO_LARGE` | `UNREADABLE`, with the path of the first offence
 */
export function assertJson(data: unknown): number {
  try {
    return measure(data, 0);
  } catch (cause) {
    throw cause instanceof ResponseError ? cause : explain(data, cause);
  }
}

// Thrown on the fast path, which keeps no paths: `explain` looks for the place afterwards.
const NOT_JSON = Symbol('not JSON');

function measure(value: unknown, depth: number): number {
  switch (typeof value) {
    case 'string':
      if (value.length > MAX_SIZE) throw tooLarge();
      return value.length + 3;
    case 'number':
      if (value - value !== 0) throw NOT_JSON;
      return 6;
    case 'boolean':
      return 6;
    case 'object':
      if (value === null) return 5;
      if (depth === MAX_DEPTH || typeof (value as { toJSON?: unknown }).toJSON === 'function') throw NOT_JSON;
      return Array.isArray(value) ? measureArray(value, depth + 1) : measureObject(value, depth + 1);
    default:
      throw NOT_JSON;
  }
}

function measureArray(array: readonly unknown[], depth: number): number {
  // Fewer keys than elements: a hole. More: properties that JSON would drop.
  if (Object.keys(array).length !== array.length) throw NOT_JSON;
  let size = 2;
  for (let i = 0; i < array.length; i++) size += measure(array[i], depth);
  if (size > MAX_SIZE) throw tooLarge();
  return size;
}

function measureObject(object: object, depth: number): number {
  if (!isPlain(object) || Object.getOwnPropertySymbols(object).length > 0) throw NOT_JSON;
  let size = 2;
  for (const key of Object.keys(object)) {
    size += key.length + 4 + measure((object as Record<string, unknown>)[key], depth);
  }
  if (size > MAX_SIZE) throw tooLarge();
  return size;
}

/** A literal or a record without prototype, of this realm or another; no class instance. */
export function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function tooLarge(): ResponseError {
  return new ResponseError(
    'TOO_LARGE',
    `The data is larger than ${MAX_SIZE} characters of JSON. Send a page or a link.`,
  );
}

/** The error for the first offence in `data`, found by a second, slower walk. */
function explain(data: unknown, cause: unknown): ResponseError {
  const ancestors = new Set<object>();
  let nodes = 0;

  const visit = (value: unknown, path: string): ResponseError | undefined => {
    if (typeof value !== 'object' || value === null) return isJsonPrimitive(value) ? undefined : refusal(path, value);
    // One array may be in a thousand places: the walk over all of them ends somewhere.
    if (++nodes > 5_000_000) return tooLarge();
    if (ancestors.has(value)) {
      return notJson(path, 'refers back to an object that contains it', 'Send an id in its place.');
    }
    if (ancestors.size === MAX_DEPTH) {
      return new ResponseError('TOO_DEEP', `The data is nested deeper than ${MAX_DEPTH} levels. Flatten it.`, { path });
    }
    ancestors.add(value);
    const found = visitObject(value, path);
    ancestors.delete(value);
    return found;
  };

  const visitObject = (value: object, path: string): ResponseError | undefined => {
    let keys: string[];
    try {
      const shape = shapeProblem(value);
      if (shape) return notJson(path, shape.is, shape.wayOut);
      keys = Object.keys(value);
    } catch (thrown) {
      return unreadable(path, thrown);
    }
    for (const key of keys) {
      const at = joinPath(path, key, Array.isArray(value));
      let child: unknown;
      try {
        child = Reflect.get(value, key);
      } catch (thrown) {
        return unreadable(at, thrown);
      }
      const found = visit(child, at);
      if (found) return found;
    }
    return undefined;
  };

  return visit(data, '$') ?? unreadable('$', cause);
}

function isJsonPrimitive(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function refusal(path: string, value: unknown): ResponseError {
  switch (typeof value) {
    case 'undefined':
      return notJson(path, 'is undefined', 'Leave the key out, or send null.');
    case 'number':
      return notJson(path, `is ${value}`, 'Send null, or say it in words.');
    case 'bigint':
      return notJson(path, 'is a BigInt', 'Convert it with String().');
    default:
      return notJson(path, `is a ${typeof value}`, 'Leave it out.');
  }
}

function shapeProblem(value: object): { readonly is: string; readonly wayOut: string } | undefined {
  if (typeof Reflect.get(value, 'toJSON') === 'function') {
    return { is: `is a ${nameOf(value)} with a toJSON method`, wayOut: 'Convert it before sending.' };
  }
  if (Array.isArray(value)) {
    const keys = Object.keys(value).length;
    if (keys < value.length) return { is: 'is an array with holes', wayOut: 'Fill them with null.' };
    if (keys > value.length) return { is: 'is an array with properties of its own', wayOut: 'Send an object.' };
    return undefined;
  }
  if (!isPlain(value))
    return { is: `is a ${nameOf(value)}`, wayOut: 'Convert it to plain objects, arrays and strings.' };
  if (Object.getOwnPropertySymbols(value).length > 0) return { is: 'has symbol keys', wayOut: 'Use strings as keys.' };
  return undefined;
}

function nameOf(value: object): string {
  const name: unknown = Reflect.get(value, 'constructor')?.name;
  return typeof name === 'string' && name !== '' ? name.slice(0, 60) : 'class instance';
}

function notJson(path: string, is: string, wayOut: string): ResponseError {
  return new ResponseError('NOT_JSON', `${path} ${is}, which JSON would lose or change. ${wayOut}`, { path });
}

function unreadable(path: string, cause: unknown): ResponseError {
  return new ResponseError('UNREADABLE', `Reading ${path} threw. Copy the data into plain objects first.`, {
    path,
    cause,
  });
}
