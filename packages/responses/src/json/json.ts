/** Whether data is JSON through and through, so that sending it loses nothing. */
import { ResponseError } from '../response-error.js';
import { explain } from './explain.js';
import { isList, isPlain, MAX_DEPTH, NOT_JSON, refuseFields, tooLarge } from './plain.js';

/** Characters. Leaves room for escapes below the longest string of V8 (about 536 million). */
const MAX_SIZE = 128_000_000;

/** A record with more fields than this is a dictionary, whose entries are as alike as rows. */
export const USUAL_FIELDS = 24;

/** What the walk over data found out. */
export interface Survey {
  /** Least length as compact JSON, in characters: escapes and the digits of numbers come on top. */
  readonly size: number;
  /** Keys of the dictionaries at the top; listing them takes as long as hundreds of rows. */
  readonly keys: ReadonlyMap<object, readonly string[]>;
}

/**
 * Walks over all of `data` and throws if JSON would lose or change any of it: `undefined`, functions, symbols, BigInt, NaN
 * and the infinities, `Map`, `Set`, `Date`, `Error`, typed arrays and other class instances, objects with a `toJSON` of
 * their own, holes in arrays, properties (a row count, say) on a list of records that is the data or a field of it, cycles.
 * Symbol keys and hidden properties are no data; `-0` counts as `0`.
 *
 * @throws ResponseError `NOT_JSON` | `TOO_DEEP` | `TOO_LARGE` | `UNREADABLE`, with the path of the first offence
 */
export function surveyJson(data: unknown): Survey {
  const keys = new Map<object, readonly string[]>();
  try {
    const size = measureTop(data, 0, keys);
    if (size > MAX_SIZE) throw tooLarge();
    return { size, keys };
  } catch (cause) {
    throw cause instanceof ResponseError ? cause : explain(data, cause);
  }
}

// The rest is what `compact` costs beside the encoding, so it is written for V8: members are told apart in place, lists of
// numbers have a loop of their own (V8 stores them in other ways), and a length is read once.

/**
 * Records at the top, where the dictionaries are: one object of thousands of keys passing through the `for…in` below makes
 * it slow for all that come after it, for the rest of the process.
 */
function measureTop(data: unknown, depth: number, known: Map<object, readonly string[]>): number {
  if (typeof data !== 'object' || data === null || isList(data) || depth > DEEPEST_TOP) return measureAny(data, depth);
  if (!isPlain(data)) throw NOT_JSON;
  const keys = Object.keys(data);
  const isDictionary = keys.length > USUAL_FIELDS;
  if (isDictionary) known.set(data, keys);
  let size = 1;
  for (const key of keys) {
    const child = (data as Data)[key];
    size += key.length + 4 + (isDictionary ? measureAny(child, depth + 1) : measureTop(child, depth + 1, known));
  }
  return size;
}

const DEEPEST_TOP = 2;

type Data = Readonly<Record<string, unknown>>;

function measureAny(value: unknown, depth: number): number {
  return typeof value === 'object' && value !== null ? measure(value, depth) : measurePrimitive(value);
}

function measure(value: object, depth: number): number {
  if (depth === MAX_DEPTH) throw NOT_JSON;
  const size = isList(value) ? measureList(value, depth) : measureRecord(value as Data, depth);
  if (size > MAX_SIZE) throw tooLarge();
  return size;
}

function measureRecord(record: Data, depth: number): number {
  if (!isPlain(record)) throw NOT_JSON;
  let size = 1;
  for (const key in record) {
    const child = record[key];
    if (typeof child === 'string') size += key.length + child.length + 6;
    else if (typeof child === 'number' && child - child === 0) size += key.length + 5;
    else if (typeof child === 'object' && child !== null) size += key.length + measure(child, depth + 1) + 4;
    else size += key.length + measurePrimitive(child) + 4;
  }
  return size;
}

function measureList(list: readonly unknown[], depth: number): number {
  const { length } = list;
  if (length === 0) return 2;
  const first = list[0];
  let size = 1;
  if (typeof first === 'number') {
    for (let index = 0; index < length; index++) {
      const item = list[index];
      size += typeof item === 'number' && item - item === 0 ? 2 : measureAny(item, depth + 1) + 1;
    }
    return size;
  }
  refuseFields(list, first, depth);
  for (let index = 0; index < length; index++) {
    const item = list[index];
    if (typeof item === 'string') size += item.length + 3;
    else if (typeof item === 'object' && item !== null) size += measure(item, depth + 1) + 1;
    else size += measurePrimitive(item) + 1;
  }
  return size;
}

function measurePrimitive(value: unknown): number {
  switch (typeof value) {
    case 'string':
      if (value.length > MAX_SIZE) throw tooLarge();
      return value.length + 2;
    case 'number':
      if (value - value !== 0) throw NOT_JSON; // NaN or infinite.
      return 1;
    case 'boolean':
      return 4;
    default:
      if (value !== null) throw NOT_JSON;
      return 4;
  }
}
