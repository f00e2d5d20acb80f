/**
 * What the engine needs of the machine below it: hashing, encryption, compression, a checksum, randomness. This one is
 * made of Web standards and runs anywhere; `./node` has one that is faster there.
 */
import { toBase64Url } from './bytes.js';
import { RunStoreError } from './errors.js';

export type Awaitable<T> = T | Promise<T>;
/** `then`, without the wait where there is nothing to wait for. */
export function after<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

export type Bytes = Uint8Array<ArrayBuffer>;
export type CompressionFormat = 'gzip' | 'zstd';

export interface AeadRequest {
  /** 32 bytes. */
  readonly key: Bytes;
  /** 12 bytes, never used twice with one key. */
  readonly iv: Bytes;
  /** Authenticated, not encrypted. */
  readonly aad: Bytes;
  readonly bytes: Bytes;
}

export interface RunRuntime {
  randomBytes(length: number): Bytes;
  /** SHA-256 of the UTF-8 of `text`, with a key HMAC-SHA-256; in base64url without padding. */
  hash(text: string, key?: Bytes): Awaitable<string>;
  /** AES-256-GCM; the 16 bytes of the tag follow the ciphertext. */
  encrypt(request: AeadRequest): Awaitable<Uint8Array>;
  /** Throws when the tag does not fit. */
  decrypt(request: AeadRequest): Awaitable<Bytes>;
  compress(format: CompressionFormat, bytes: Bytes): Awaitable<Uint8Array>;
  /** Throws `InflatedTooLarge` as soon as more than `maxBytes` come out, anything else on malformed input. */
  decompress(format: CompressionFormat, bytes: Bytes, maxBytes: number): Awaitable<Bytes>;
  /** CRC-32 (IEEE 802.3) of `bytes`, continued from `seed`. */
  crc32(bytes: Uint8Array, seed: number): number;
}

/** What `decompress` throws when the cap is passed. */
export class InflatedTooLarge extends Error {
  override readonly name = 'InflatedTooLarge';
}

/** The runtime of Web standards: WebCrypto and the Compression Streams. */
export const webRuntime: RunRuntime = {
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
  async hash(text, key) {
    const bytes = new TextEncoder().encode(text);
    if (key === undefined) return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
    const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    return toBase64Url(new Uint8Array(await crypto.subtle.sign('HMAC', imported, bytes)));
  },
  async encrypt({ key, iv, aad, bytes }) {
    const params = { name: 'AES-GCM', iv, additionalData: aad };
    return new Uint8Array(await crypto.subtle.encrypt(params, await aesKey(key), bytes));
  },
  async decrypt({ key, iv, aad, bytes }) {
    const params = { name: 'AES-GCM', iv, additionalData: aad };
    return new Uint8Array(await crypto.subtle.decrypt(params, await aesKey(key), bytes));
  },
  compress(format, bytes) {
    return collect(
      new Blob([bytes]).stream().pipeThrough(new CompressionStream(webFormat(format))),
      bytes.length * 2 + 1024,
    );
  },
  decompress(format, bytes, maxBytes) {
    return collect(new Blob([bytes]).stream().pipeThrough(new DecompressionStream(webFormat(format))), maxBytes);
  },
  crc32: crc32InSoftware,
};

type AesKey = ReturnType<typeof crypto.subtle.importKey>;
const aesKeys = new WeakMap<Bytes, AesKey>();

function aesKey(key: Bytes): AesKey {
  let imported = aesKeys.get(key);
  if (imported === undefined) {
    imported = crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']);
    aesKeys.set(key, imported);
  }
  return imported;
}

function webFormat(format: CompressionFormat): 'gzip' {
  if (format === 'gzip') return format;
  throw new RunStoreError(
    'UNSUPPORTED',
    `${format} is none of the Web's formats. Pass \`runtime: nodeRuntime\` of @mcp-interlock/run-store/node, on Node 22.15 or newer.`,
  );
}

async function collect(stream: ReadableStream<Bytes>, maxBytes: number): Promise<Bytes> {
  const parts: Bytes[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > maxBytes) {
      await reader.cancel();
      throw new InflatedTooLarge();
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

let crcTable: Uint32Array | undefined;

export function crc32InSoftware(bytes: Uint8Array, seed: number): number {
  crcTable ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let c = byte;
    for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    return c;
  });
  let crc = ~seed;
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ crcTable[(crc ^ bytes[i]!) & 0xff]!;
  return ~crc >>> 0;
}
