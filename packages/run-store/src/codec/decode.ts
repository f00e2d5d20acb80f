/** The way back from `encode.ts`. Its input is untrusted: what does not parse is `RUN_CORRUPT`, never partial data. */
import { RunStoreError } from '../errors.js';
import { type CodecFormat, MAX_DEPTH, setOwn, TAG } from './encode.js';

// A tagged Map needs three levels of text for one of data.
const MAX_TEXT_DEPTH = 4 * MAX_DEPTH;

export function decodeValue(format: CodecFormat, bytes: Uint8Array): unknown {
  switch (format) {
    case 'json':
      return parse(bytes);
    case 'tagged':
      return decodeTagged(bytes);
    default:
      return format satisfies never;
  }
}

function decodeTagged(bytes: Uint8Array): unknown {
  if (bytes.length < 4) throw corrupt('its text has no length');
  const textLength = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(0);
  if (4 + textLength > bytes.length) throw corrupt('its text is cut off');
  return revive(parse(bytes.subarray(4, 4 + textLength)), bytes.subarray(4 + textLength), 0);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    // The cause of a JSON error quotes what it read, and that may be secret.
    throw corrupt(cause instanceof SyntaxError ? 'its text is not JSON' : 'its text is not UTF-8');
  }
}

function revive(value: unknown, chunks: Uint8Array, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_TEXT_DEPTH) throw corrupt('it is nested too deeply');
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = revive(value[i], chunks, depth + 1);
    return value;
  }
  if (Object.hasOwn(value, TAG)) return reviveTagged(value, chunks, depth);
  return reviveEntries(value, chunks, depth);
}

function reviveEntries(record: object, chunks: Uint8Array, depth: number): object {
  for (const key of Object.keys(record)) {
    const before: unknown = Reflect.get(record, key);
    const after = revive(before, chunks, depth + 1);
    if (after !== before) setOwn(record, key, after);
  }
  return record;
}

function reviveTagged(tagged: object, chunks: Uint8Array, depth: number): unknown {
  const tag: unknown = Reflect.get(tagged, TAG);
  const v: unknown = Reflect.get(tagged, 'v');
  switch (tag) {
    case 'undefined':
      return undefined;
    case 'number':
      if (v === 'NaN' || v === 'Infinity' || v === '-Infinity' || v === '-0') return Number(v);
      break;
    case 'bigint':
      if (typeof v === 'string' && /^-?\d+$/.test(v)) return BigInt(v);
      break;
    case 'date':
      if (v === null) return new Date(Number.NaN);
      if (typeof v === 'number') return new Date(v);
      break;
    case 'bytes':
      return reviveBytes(v, chunks);
    case 'set':
      if (Array.isArray(v)) return new Set(v.map((item) => revive(item, chunks, depth + 1)));
      break;
    case 'map':
      if (Array.isArray(v)) return new Map(v.map((entry) => revivePair(entry, chunks, depth + 1)));
      break;
    case 'object':
      if (typeof v === 'object' && v !== null) return reviveEntries(v, chunks, depth);
      break;
    default:
      throw new RunStoreError(
        'RUN_VERSION_UNKNOWN',
        `The run holds a value of the kind ${JSON.stringify(String(tag).slice(0, 32))}, unknown to this release. It is left in place: update the reader.`,
      );
  }
  throw corrupt(`a value of the kind ${tag} is malformed`);
}

function reviveBytes(place: unknown, chunks: Uint8Array): Uint8Array {
  if (Array.isArray(place)) {
    const [at, length]: unknown[] = place;
    if (isCount(at) && isCount(length) && at + length <= chunks.length) {
      // A copy: the reader's bytes must not share memory with a buffer of the driver.
      return new Uint8Array(chunks.subarray(at, at + length));
    }
  }
  throw corrupt('the place of its bytes is wrong');
}

function revivePair(entry: unknown, chunks: Uint8Array, depth: number): [unknown, unknown] {
  if (!Array.isArray(entry) || entry.length !== 2) throw corrupt('an entry of a Map is malformed');
  return [revive(entry[0], chunks, depth + 1), revive(entry[1], chunks, depth + 1)];
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function corrupt(reason: string, cause?: unknown): RunStoreError {
  return new RunStoreError(
    'RUN_CORRUPT',
    `The stored run is damaged: ${reason}. It is left in place; restore or cancel it.`,
    cause === undefined ? {} : { cause },
  );
}
