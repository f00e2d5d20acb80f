/** Whether data is JSON through and through, so that sending it loses nothing. */
import { asResponseError, ResponseError, typed } from '../response-error.js';
import { joinPath } from './stringify.js';

/** Deeper data is refused: serialisers and parsers on the way recurse, and no model follows that far. */
const MAX_DEPTH = 1000;

/** Characters. Leaves room for escapes below the longest string of V8 (about 536 million). */
const MAX_SIZE = 128_000_000;

/**
 * Returns the approximate length of `data` as compact JSON, in characters, or throws if JSON would lose or change any
 * of it: `undefined`, functions, symbols, BigInt, NaN and the infinities, `Map`, `Set`, `Date`, `Error`, typed arrays and
 * other class instances, objects with a `toJSON` of their own, holes in arrays, properties (a row count, say) on a list of
 * records that is the data or a field of it, cycles. Symbol keys and hidden properties are no data; `-0` counts as `0`.
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

/** A copy of `data` that no getter, proxy or later change can turn into something else. Throws as {@link assertJson} does. */
export function jsonCopy<T>(data: T): T {
  assertJson(data);
  return typed(() => JSON.parse(JSON.stringify(data)) as T); // The same data, by what was just asserted.
}

// Thrown on the fast path, which keeps no paths: `explain` looks for the place afterwards.
const NOT_JSON = Symbol('not JSON');

// The next two are `compact`'s overhead on large data, half a `JSON.stringify` at most: hence `for…in`, a look at
// `constructor` before the prototype, and the common kinds of value checked in place.

function measure(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return measurePrimitive(value);
  if (depth === MAX_DEPTH) throw NOT_JSON;
  if (Array.isArray(value)) return measureArray(value, depth + 1);
  if (value.constructor !== Object && !isPlain(value)) throw NOT_JSON;
  let size = 2;
  for (const key in value) {
    const child: unknown = (value as Record<string, unknown>)[key];
    size += key.length + 4;
    if (typeof child === 'string') size += child.length;
    else if (typeof child === 'number' && child - child === 0) size += 2;
    else size += measure(child, depth + 1);
  }
  if (size > MAX_SIZE) throw tooLarge();
  return size;
}

function measureArray(array: readonly unknown[], depth: number): number {
  // Result sets of some drivers carry facts beside their rows. Looking at every list there is would cost too much.
  if (depth <= 2 && typeof array[0] === 'object' && Object.keys(array).length !== array.length) throw NOT_JSON;
  // The everyday list with properties at any depth: what a regular expression matched.
  if ('index' in array) throw NOT_JSON;
  let size = 2;
  for (let index = 0; index < array.length; index++) {
    const item = array[index];
    if (typeof item === 'string') size += item.length + 3;
    else if (typeof item === 'number' && item - item === 0) size += 5;
    else size += measure(item, depth);
  }
  if (size > MAX_SIZE) throw tooLarge();
  return size;
}

/** Lengths that matter little are taken for the usual. */
function measurePrimitive(value: unknown): number {
  switch (typeof value) {
    case 'string':
      if (value.length > MAX_SIZE) throw tooLarge();
      return value.length + 3;
    case 'number':
      if (value - value !== 0) throw NOT_JSON; // NaN or infinite.
      return 6;
    case 'boolean':
      return 6;
    default:
      if (value !== null) throw NOT_JSON;
      return 5;
  }
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
      return asResponseError(thrown, path);
    }
    for (const key of keys) {
      const at = joinPath(path, key, Array.isArray(value));
      let child: unknown;
      try {
        child = Reflect.get(value, key);
      } catch (thrown) {
        return asResponseError(thrown, at);
      }
      const found = visit(child, at);
      if (found) return found;
    }
    return undefined;
  };

  return visit(data, '$') ?? asResponseError(cause, '$');
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
  return undefined;
}

function nameOf(value: object): string {
  const name: unknown = Reflect.get(value, 'constructor')?.name;
  return typeof name === 'string' && name !== '' ? name.slice(0, 60) : 'class instance';
}

function notJson(path: string, is: string, wayOut: string): ResponseError {
  return new ResponseError('NOT_JSON', `${path} ${is}, which JSON would lose or change. ${wayOut}`, { path });
}
