/** The runtime of Node (also of Bun and Deno): the same formats as the Web's, without its detour through streams. */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomFillSync } from 'node:crypto';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import { RunStoreError } from './errors.js';
import { type Bytes, type CompressionFormat, crc32InSoftware, InflatedTooLarge, type RunRuntime } from './runtime.js';

/** Above this, compression goes to a thread: it would hold up the event loop for more than half a millisecond. */
const SYNC_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const GZIP_LEVEL = 1;

const gzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gzip);
const gunzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip);

/** What newer releases of Node have besides; asked for at run time. */
interface NewerZlib {
  crc32?: (bytes: Uint8Array, seed: number) => number;
  zstdCompressSync?: (bytes: Uint8Array) => Buffer;
  zstdDecompressSync?: (bytes: Uint8Array, options: { maxOutputLength: number }) => Buffer;
}
const newer: NewerZlib = zlib;

// One system call for many nonces: a call for each costs more than the rest of a small store.
const pool = new Uint8Array(4096);
let poolAt = pool.length;

/**
 * @example
 * createRunStore({ backend, runtime: nodeRuntime, compression: { format: 'zstd' } });
 */
export const nodeRuntime: RunRuntime = {
  randomBytes(length) {
    if (length > 64) return randomFillSync(new Uint8Array(length));
    if (poolAt + length > pool.length) {
      randomFillSync(pool);
      poolAt = 0;
    }
    poolAt += length;
    return pool.slice(poolAt - length, poolAt);
  },
  hash(text, key) {
    const digest = key === undefined ? createHash('sha256') : createHmac('sha256', key);
    return digest.update(text, 'utf8').digest('base64url');
  },
  encrypt({ key, iv, aad, bytes }) {
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(aad);
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  },
  decrypt({ key, iv, aad, bytes }) {
    const end = Math.max(0, bytes.length - TAG_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(aad);
    decipher.setAuthTag(bytes.subarray(end));
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]);
  },
  compress(format, bytes) {
    if (format === 'zstd') return zstd('zstdCompressSync')(bytes);
    return bytes.length <= SYNC_BYTES
      ? zlib.gzipSync(bytes, { level: GZIP_LEVEL })
      : gzip(bytes, { level: GZIP_LEVEL });
  },
  async decompress(format, bytes, maxBytes) {
    try {
      return await inflate(format, bytes, maxBytes);
    } catch (error) {
      if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
        throw new InflatedTooLarge();
      }
      throw error;
    }
  },
  crc32: newer.crc32 ?? crc32InSoftware,
};

async function inflate(format: CompressionFormat, bytes: Bytes, maxOutputLength: number): Promise<Bytes> {
  if (format === 'zstd') return ownBytes(zstd('zstdDecompressSync')(bytes, { maxOutputLength }));
  if (maxOutputLength <= SYNC_BYTES) return ownBytes(zlib.gunzipSync(bytes, { maxOutputLength }));
  return ownBytes(await gunzip(bytes, { maxOutputLength }));
}

/** Buffers of zlib lie on plain ArrayBuffers; the types of Node do not say so. */
function ownBytes(buffer: Buffer): Bytes {
  return buffer.buffer instanceof ArrayBuffer
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
    : new Uint8Array(buffer);
}

function zstd<K extends 'zstdCompressSync' | 'zstdDecompressSync'>(name: K): NonNullable<NewerZlib[K]> {
  const found = newer[name];
  if (found !== undefined) return found;
  throw new RunStoreError('UNSUPPORTED', 'zstd needs Node 22.15 or newer. Use gzip, which every runtime reads.');
}
