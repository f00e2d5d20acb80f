/** Data that nothing can change any more. */
import { ResponseError } from '../response-error.js';
import { explain } from './explain.js';
import { isList, isPlain, MAX_DEPTH, NOT_JSON, refuseFields, tooLarge } from './plain.js';

/** One list may be in a million places: copying all of them ends somewhere. */
const MAX_OBJECTS = 5_000_000;

/**
 * A copy of `data` that no getter, proxy or later change can turn into something else: every value is read once, and what
 * was read is what is checked (as `surveyJson` does) and kept.
 *
 * @throws ResponseError `NOT_JSON` | `TOO_DEEP` | `TOO_LARGE` | `UNREADABLE`, with the path of the first offence
 */
export function jsonCopy<T>(data: T): T {
  let objects = 0;

  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null) return copyPrimitive(value);
    if (depth === MAX_DEPTH) throw NOT_JSON;
    if (++objects > MAX_OBJECTS) throw tooLarge();
    if (isList(value)) return copyList(value, depth);
    if (!isPlain(value) || typeof Reflect.get(value, 'toJSON') === 'function') throw NOT_JSON;
    // `fromEntries` defines its keys, so that one called `__proto__` is a key like any other.
    return Object.fromEntries(Object.keys(value).map((key) => [key, copy(Reflect.get(value, key), depth + 1)]));
  };

  const copyList = (list: readonly unknown[], depth: number): unknown[] => {
    const items = Array.from({ length: list.length }, (_, index) => copy(list[index], depth + 1));
    refuseFields(list, items[0], depth);
    return items;
  };

  try {
    return copy(data, 0) as T; // The same data, value by value.
  } catch (cause) {
    throw cause instanceof ResponseError ? cause : explain(data, cause);
  }
}

function copyPrimitive(value: unknown): unknown {
  if (typeof value === 'number' && Number.isFinite(value)) return value + 0; // `-0` becomes `0`, as in JSON.
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  throw NOT_JSON;
}
