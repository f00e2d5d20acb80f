/** JSON text of values that JSON alone cannot hold, and sizes of what is not shown. */

const MAX_DEPTH = 200;
/** Text from this length on that is nothing but base64 is a file, not something to read. */
const MIN_BASE64_CHARS = 1_024;

/**
 * JSON of anything, indented by two: BigInt as digits, functions and symbols by their type, Map and Set as object and array,
 * a cycle as `[cycle]`, long base64 as its size. Never throws on data; a getter that throws is named.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(plain(value, []), null, 2) ?? String(value);
}

function plain(value: unknown, open: readonly object[]): unknown {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'string':
      return isBinaryText(value) ? `[base64, ${sizeText(base64Bytes(value))}]` : value;
    case 'function':
    case 'symbol':
      return `[${typeof value}]`;
    case 'object':
      return value === null ? null : plainObject(value, open);
    default:
      return value;
  }
}

function plainObject(value: object, open: readonly object[]): unknown {
  if (open.includes(value)) return '[cycle]';
  if (open.length >= MAX_DEPTH) return '[nested too deeply]';
  const inside = [...open, value];
  if (Array.isArray(value) || value instanceof Set) return [...value].map((item) => plain(item, inside));
  if (ArrayBuffer.isView(value)) return `[binary, ${sizeText(value.byteLength)}]`;
  if (value instanceof Error) return { name: value.name, message: value.message };
  if ('toJSON' in value && typeof value.toJSON === 'function') return plain(value.toJSON(), inside);
  const keys = value instanceof Map ? [...value.keys()].map(String) : Object.keys(value);
  const read = (key: string): unknown => (value instanceof Map ? value.get(key) : Reflect.get(value, key));
  return Object.fromEntries(
    keys.map((key) => {
      try {
        return [key, plain(read(key), inside)];
      } catch {
        return [key, '[cannot be read]'];
      }
    }),
  );
}

function isBinaryText(text: string): boolean {
  if (text.length < MIN_BASE64_CHARS) return false;
  return /^data:[^,]{1,200};base64,/.test(text) || (text.length % 4 === 0 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text));
}

/** Bytes that base64 text (or a data URI of it) stands for. */
export function base64Bytes(text: string): number {
  const data = text.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : text;
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding);
}

/** `512 B`, `1.5 KiB`, `3.2 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const kib = bytes / 1024;
  return kib < 1024 ? `${Number(kib.toFixed(1))} KiB` : `${Number((kib / 1024).toFixed(1))} MiB`;
}
