/**
 * Plain data to bytes, without the losses of JSON.
 *
 * A value that JSON keeps is written as JSON. Whatever JSON would change (Date, BigInt, undefined, NaN, ±Infinity, −0,
 * Map, Set, Uint8Array) becomes a small tagged object, `{"$:": "date", "v": …}`; only the branches that hold one are
 * copied. Bytes are not put into text: they follow it, and the text has their place.
 */
import { StateNotSerializableError } from '../errors.js';

/** The key that marks a tagged object; an own key of that name is escaped by the tag `object`. */
export const TAG = '$:';
/** Deeper values are refused when stored: no stack of any runtime is at risk. */
export const MAX_DEPTH = 400;

/** `json`: text only. `tagged`: length of the text (u32, big-endian), text, then the bytes of all `Uint8Array`s. */
export type CodecFormat = 'json' | 'tagged';

export interface EncodedValue {
  readonly format: CodecFormat;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const utf8 = new TextEncoder();
/** Named only where the value itself is refused. What is sealed is a record of ours, whose fields name the caller's part. */
const ROOT = 'value';

/**
 * Encodes `value`, or throws `StateNotSerializableError` with the path of the first function, symbol, class instance,
 * cycle or excess of depth.
 */
export function encodeValue(value: unknown): EncodedValue {
  const walk = new Walk();
  const json = walk.visit(value, ROOT);
  const text = utf8.encode(JSON.stringify(json));
  if (!walk.tagged) return { format: 'json', bytes: text };
  const bytes = new Uint8Array(4 + text.length + walk.chunkBytes);
  new DataView(bytes.buffer).setUint32(0, text.length);
  bytes.set(text, 4);
  let at = 4 + text.length;
  for (const chunk of walk.chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { format: 'tagged', bytes };
}

class Walk {
  tagged = false;
  chunkBytes = 0;
  readonly chunks: Uint8Array[] = [];
  /** From the root to where we are; names what is wrong, and finds cycles once the depth gives them away. */
  readonly #keys: (string | number)[] = [];
  readonly #ancestors: object[] = [];

  visit(value: unknown, key: string | number): Json {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? value : this.#tag('number', nameOf(value));
      case 'bigint':
        return this.#tag('bigint', value.toString());
      case 'undefined':
        return this.#tag('undefined');
      case 'object':
        return value === null ? null : this.#enter(value, key);
      case 'function':
      case 'symbol':
        throw this.#refusal(key, `it is a ${typeof value}`);
      default:
        throw this.#refusal(key, 'it is of a type unknown to this release');
    }
  }

  #enter(value: object, key: string | number): Json {
    if (this.#ancestors.length >= MAX_DEPTH) throw this.#tooDeep(key);
    this.#keys.push(key);
    this.#ancestors.push(value);
    const json = this.#visitObject(value);
    this.#keys.pop();
    this.#ancestors.pop();
    return json;
  }

  #visitObject(value: object): Json {
    if (Array.isArray(value)) return this.#visitArray(value);
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return this.#visitRecord(value);
    if (value instanceof Uint8Array) return this.#visitBytes(value);
    if (prototype === Date.prototype && value instanceof Date) {
      const time = value.getTime();
      return this.#tag('date', Number.isNaN(time) ? null : time);
    }
    if (prototype === Map.prototype && value instanceof Map) {
      return this.#tag(
        'map',
        [...value].map(([k, v], i) => [this.visit(k, `<key ${i}>`), this.visit(v, typeof k === 'string' ? k : i)]),
      );
    }
    if (prototype === Set.prototype && value instanceof Set) {
      return this.#tag(
        'set',
        [...value].map((v, i) => this.visit(v, i)),
      );
    }
    throw this.#refusalHere(`it is an instance of ${className(value)}`);
  }

  #visitArray(array: readonly unknown[]): Json {
    if (Object.getPrototypeOf(array) !== Array.prototype) {
      throw this.#refusalHere(`it is an instance of ${className(array)}`);
    }
    let copy: Json[] | undefined;
    let present = 0;
    for (let i = 0; i < array.length; i++) {
      const before = array[i];
      if (before !== undefined || i in array) present += 1;
      const after = this.visit(before, i);
      if (after !== before && copy === undefined) copy = array.slice(0, i) as Json[]; // Visited: all of it is Json.
      copy?.push(after);
    }
    if (Object.keys(array).length !== present) throw this.#refusalHere('it is an array with named properties');
    return copy ?? (array as readonly Json[]); // Visited without a change: all of it is Json.
  }

  #visitRecord(record: object): Json {
    if (Object.getOwnPropertySymbols(record).length > 0) {
      throw this.#refusalHere('it has a property whose key is a symbol');
    }
    let copy: Record<string, Json> | undefined;
    const keys = Object.keys(record);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      const before: unknown = Reflect.get(record, key);
      const after = this.visit(before, key);
      if (after !== before) copy ??= { ...(record as Record<string, Json>) }; // Own entries; `__proto__` stays own.
      if (copy !== undefined) setOwn(copy, key, after);
    }
    const json = copy ?? (record as Record<string, Json>); // Visited without a change: all of it is Json.
    return Object.hasOwn(record, TAG) ? this.#tag('object', json) : json;
  }

  #visitBytes(bytes: Uint8Array): Json {
    const place = [this.chunkBytes, bytes.length];
    this.chunks.push(bytes);
    this.chunkBytes += bytes.length;
    return this.#tag('bytes', place);
  }

  #tag(tag: string, v?: Json): Json {
    this.tagged = true;
    return v === undefined ? { [TAG]: tag } : { [TAG]: tag, v };
  }

  #tooDeep(key: string | number): StateNotSerializableError {
    for (let low = 0; low < this.#ancestors.length; low++) {
      const high = this.#ancestors.indexOf(this.#ancestors[low]!, low + 1);
      if (high !== -1) return refusal(this.#keys.slice(0, high + 1), 'it contains itself');
    }
    return refusal([...this.#keys.slice(0, 8), '…', key], `it is nested deeper than ${MAX_DEPTH} levels`);
  }

  #refusal(key: string | number, reason: string): StateNotSerializableError {
    return refusal([...this.#keys, key], reason);
  }

  #refusalHere(reason: string): StateNotSerializableError {
    return refusal(this.#keys, reason);
  }
}

/** Assigns an own property, also when it is called `__proto__`. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    Reflect.set(target, key, value);
  }
}

function nameOf(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function className(value: object): string {
  const made: unknown = Reflect.get(value, 'constructor');
  return typeof made === 'function' && made.name !== '' ? made.name : 'a class';
}

function refusal(keys: readonly (string | number)[], reason: string): StateNotSerializableError {
  const [root, ...rest] = keys;
  const path = rest.map((key) =>
    typeof key === 'number' ? `[${key}]` : /^[A-Za-z_$…][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
  );
  const below = path.join('');
  return new StateNotSerializableError(below.startsWith('.') ? below.slice(1) : `${root}${below}`, reason);
}
