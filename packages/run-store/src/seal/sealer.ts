/** Values to stored bytes and back: encode, compress, encrypt, check; each with its cap and its typed error. */
import { corrupt, decodeValue } from '../codec/decode.js';
import { encodeValue } from '../codec/encode.js';
import { RunStoreError, RunTooLargeError } from '../errors.js';
import { type Bytes, type CompressionFormat, InflatedTooLarge, type RunRuntime } from '../runtime.js';
import { NONCE_BYTES, type ParsedEnvelope, parseEnvelope, setCrc, writeHead } from './envelope.js';
import { type EncryptionOptions, type KeyRing, keyRingOf } from './key-ring.js';

export interface CompressionOptions {
  /** Default `'gzip'`. `'zstd'` needs Node 22.15 wherever it is read. */
  readonly format?: CompressionFormat | undefined;
  /** Smaller values stay as they are. Default 4096. */
  readonly thresholdBytes?: number | undefined;
}

export interface SealerOptions {
  readonly runtime: RunRuntime;
  /** Most bytes of an encoded value, before compression. */
  readonly maxBytes: number;
  /** Most bytes that a stored value may inflate to when it is read. */
  readonly maxInflatedBytes: number;
  readonly compression?: CompressionOptions | 'none' | undefined;
  readonly encryption?: EncryptionOptions | undefined;
  /** Schema version that new states are marked with. */
  readonly schemaVersion: number;
}

export interface Opened {
  readonly value: unknown;
  readonly schemaVersion: number;
}

/** `name` is what the bytes belong to (prefix and run id): encrypted bytes open under the same name only. */
export interface Sealer {
  seal(name: string, value: unknown): Promise<Bytes>;
  open(name: string, bytes: Uint8Array): Promise<Opened>;
}

const utf8 = new TextEncoder();

export function createSealer(options: SealerOptions): Sealer {
  const { runtime, maxBytes, maxInflatedBytes, schemaVersion } = options;
  const keyRing = options.encryption === undefined ? undefined : keyRingOf(options.encryption);
  const compression = options.compression === 'none' ? undefined : (options.compression ?? {});
  const { format = 'gzip', thresholdBytes = 4096 } = compression ?? { thresholdBytes: Number.POSITIVE_INFINITY };

  return {
    async seal(name, value) {
      const encoded = encodeValue(value);
      const encodedLength = encoded.bytes.length;
      if (encodedLength > maxBytes) {
        throw new RunTooLargeError(
          'The encoded run',
          encodedLength,
          maxBytes,
          'Store less (move documents out of the messages), or raise `maxBytes`.',
        );
      }
      let body: Uint8Array = encoded.bytes;
      let compressed: CompressionFormat | 'none' = 'none';
      if (encodedLength >= thresholdBytes) {
        const smaller = await runtime.compress(format, encoded.bytes);
        if (smaller.length < encodedLength) {
          body = smaller;
          compressed = format;
        }
      }
      const header = {
        codec: encoded.format,
        compression: compressed,
        encrypted: keyRing !== undefined,
        nonce: runtime.randomBytes(NONCE_BYTES),
        schemaVersion,
        encodedLength,
        keyId: keyRing?.active.id ?? '',
      };
      if (keyRing === undefined) {
        const head = writeHead(header, body.length);
        setCrc(head, checksum(runtime, head, body));
        return concat(head, body);
      }
      const head = writeHead(header, body.length + TAG_BYTES);
      const { key } = keyRing.active;
      const request = { key, iv: header.nonce, aad: aadOf(head, name), bytes: owned(body) };
      return concat(head, await runtime.encrypt(request));
    },

    async open(name, bytes) {
      const envelope = parseEnvelope(owned(bytes));
      if (envelope.encodedLength > maxInflatedBytes) throw tooMuch(envelope.encodedLength, maxInflatedBytes);
      const body = envelope.encrypted
        ? await decrypt(runtime, keyRing, envelope, name)
        : checked(runtime, keyRing, envelope);
      const encoded = await inflate(runtime, envelope, body);
      return { value: decodeValue(envelope.codec, encoded), schemaVersion: envelope.schemaVersion };
    },
  };
}

const TAG_BYTES = 16;

function checked(runtime: RunRuntime, keyRing: KeyRing | undefined, envelope: ParsedEnvelope): Bytes {
  if (keyRing !== undefined && keyRing.plaintext === 'refuse') {
    throw new RunStoreError(
      'RUN_UNREADABLE',
      'The stored run is not encrypted, though this store has a key ring: it may be forged. To read runs from before the key ring, set `encryption.plaintext` to "accept".',
    );
  }
  if (checksum(runtime, envelope.head, envelope.body) !== envelope.crc32) throw corrupt('its checksum does not fit');
  return envelope.body;
}

async function decrypt(
  runtime: RunRuntime,
  keyRing: KeyRing | undefined,
  envelope: ParsedEnvelope,
  name: string,
): Promise<Bytes> {
  const key = keyRing?.keys.get(envelope.keyId);
  if (key === undefined) {
    throw new RunStoreError(
      'RUN_UNREADABLE',
      `The stored run is encrypted with the key ${JSON.stringify(envelope.keyId)}, which is not in the key ring. It is left in place; add the key to \`encryption.keys\`.`,
    );
  }
  const request = { key, iv: envelope.nonce, aad: aadOf(envelope.head, name), bytes: envelope.body };
  try {
    return await runtime.decrypt(request);
  } catch (cause) {
    throw new RunStoreError(
      'RUN_UNREADABLE',
      `The stored run cannot be authenticated with the key ${JSON.stringify(envelope.keyId)}: it is damaged, or was written for another run, or the key differs. It is left in place.`,
      { cause },
    );
  }
}

async function inflate(runtime: RunRuntime, envelope: ParsedEnvelope, body: Bytes): Promise<Bytes> {
  const { compression, encodedLength } = envelope;
  let encoded = body;
  if (compression !== 'none') {
    try {
      encoded = await runtime.decompress(compression, body, encodedLength);
    } catch (cause) {
      if (cause instanceof RunStoreError) throw cause;
      if (cause instanceof InflatedTooLarge)
        throw corrupt(`it inflates to more than the ${encodedLength} bytes it had`);
      throw corrupt(`its ${compression} stream is malformed`, cause);
    }
  }
  if (encoded.length !== encodedLength) throw corrupt(`${encoded.length} bytes came out, ${encodedLength} went in`);
  return encoded;
}

/** CRC-32 of head and body, the field of the CRC itself left out. */
function checksum(runtime: RunRuntime, head: Bytes, body: Uint8Array): number {
  const before = runtime.crc32(head.subarray(0, 28), 0);
  return runtime.crc32(body, runtime.crc32(head.subarray(32), before));
}

function aadOf(head: Bytes, name: string): Bytes {
  return concat(head, utf8.encode(name));
}

function concat(a: Uint8Array, b: Uint8Array): Bytes {
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}

/** WebCrypto takes no bytes on shared memory; drivers hand out none in practice, and copies are made of those. */
function owned(bytes: Uint8Array): Bytes {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    : new Uint8Array(bytes);
}

function tooMuch(bytes: number, maxBytes: number): RunTooLargeError {
  return new RunTooLargeError(
    'The stored run, inflated,',
    bytes,
    maxBytes,
    'It is left in place; raise `maxInflatedBytes` to read it.',
  );
}
