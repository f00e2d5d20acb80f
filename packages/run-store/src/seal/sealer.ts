/** Values to stored bytes and back: encode, compress, encrypt, check; each with its cap and its typed error. */
import { corrupt, decodeValue } from '../codec/decode.js';
import { type EncodedValue, encodeValue } from '../codec/encode.js';
import { RunStoreError, RunTooLargeError } from '../errors.js';
import {
  type Awaitable,
  after,
  type Bytes,
  type CompressionFormat,
  InflatedTooLarge,
  type RunRuntime,
} from '../runtime.js';
import {
  checksumOf,
  headLength,
  NONCE_BYTES,
  type ParsedEnvelope,
  parseEnvelope,
  setCrc,
  writeHead,
} from './envelope.js';
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
  seal(name: string, value: unknown): Awaitable<Bytes>;
  open(name: string, bytes: Uint8Array): Awaitable<Opened>;
}

const utf8 = new TextEncoder();

export function createSealer(options: SealerOptions): Sealer {
  const { runtime, maxBytes, maxInflatedBytes, schemaVersion } = options;
  const keyRing = options.encryption === undefined ? undefined : keyRingOf(options.encryption);
  const keyId = utf8.encode(keyRing?.active.id ?? '');
  const compression = options.compression === 'none' ? undefined : (options.compression ?? {});
  const { format = 'gzip', thresholdBytes = 4096 } = compression ?? { thresholdBytes: Number.POSITIVE_INFINITY };

  function envelop(name: string, encoded: EncodedValue, squeezed?: Uint8Array): Awaitable<Bytes> {
    const body = squeezed ?? encoded.bytes;
    const header = {
      codec: encoded.format,
      compression: squeezed === undefined ? 'none' : format,
      encrypted: keyRing !== undefined,
      nonce: runtime.randomBytes(NONCE_BYTES),
      schemaVersion,
      encodedLength: encoded.bytes.length,
      keyId,
    } as const;
    const bodyAt = headLength(header);
    if (keyRing === undefined) {
      const whole = new Uint8Array(bodyAt + body.length);
      writeHead(whole, header, body.length);
      whole.set(body, bodyAt);
      setCrc(whole, checksumOf(whole, runtime.crc32));
      return whole;
    }
    const head = new Uint8Array(bodyAt);
    writeHead(head, header, body.length + TAG_BYTES);
    const request = { key: keyRing.active.key, iv: header.nonce, aad: aadOf(head, name), bytes: owned(body) };
    return after(runtime.encrypt(request), (sealed) => concat(head, sealed));
  }

  return {
    seal(name, value) {
      const encoded = encodeValue(value);
      const length = encoded.bytes.length;
      if (length > maxBytes) {
        const wayOut = 'Move documents out of the messages, or raise `maxBytes`.';
        throw new RunTooLargeError('The encoded run', length, maxBytes, wayOut);
      }
      if (length < thresholdBytes) return envelop(name, encoded);
      return after(runtime.compress(format, encoded.bytes), (squeezed) =>
        squeezed.length < length ? envelop(name, encoded, squeezed) : envelop(name, encoded),
      );
    },

    open(name, bytes) {
      const envelope = parseEnvelope(owned(bytes));
      if (envelope.encodedLength > maxInflatedBytes) throw tooMuch(envelope.encodedLength, maxInflatedBytes);
      const body = envelope.encrypted ? decrypt(runtime, keyRing, envelope, name) : checked(runtime, keyRing, envelope);
      return after(body, (squeezed) =>
        after(inflate(runtime, envelope, squeezed), (encoded) => ({
          value: decodeValue(envelope.codec, encoded),
          schemaVersion: envelope.schemaVersion,
        })),
      );
    },
  };
}

const TAG_BYTES = 16;

function checked(runtime: RunRuntime, keyRing: KeyRing | undefined, envelope: ParsedEnvelope): Bytes {
  if (keyRing !== undefined && keyRing.plaintext === 'refuse') {
    throw new RunStoreError(
      'RUN_UNREADABLE',
      'The stored run is not encrypted and may be forged. To read runs from before the key ring, set `encryption.plaintext` to "accept".',
    );
  }
  if (checksumOf(envelope.whole, runtime.crc32) !== envelope.crc32) throw corrupt('its checksum does not fit');
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
      `The stored run does not fit the key ${JSON.stringify(envelope.keyId)}: it is damaged, of another run, or of another key. It is left in place.`,
      { cause },
    );
  }
}

function inflate(runtime: RunRuntime, envelope: ParsedEnvelope, body: Bytes): Awaitable<Bytes> {
  return envelope.compression === 'none'
    ? ofLength(body, envelope.encodedLength)
    : decompress(runtime, envelope.compression, body, envelope.encodedLength);
}

async function decompress(
  runtime: RunRuntime,
  format: CompressionFormat,
  body: Bytes,
  encodedLength: number,
): Promise<Bytes> {
  try {
    return ofLength(await runtime.decompress(format, body, encodedLength), encodedLength);
  } catch (cause) {
    if (cause instanceof RunStoreError) throw cause;
    if (cause instanceof InflatedTooLarge) throw corrupt(`it inflates to more than the ${encodedLength} bytes it had`);
    throw corrupt(`its ${format} stream is malformed`, cause);
  }
}

function ofLength(encoded: Bytes, length: number): Bytes {
  if (encoded.length !== length) throw corrupt(`${encoded.length} bytes came out, ${length} went in`);
  return encoded;
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
