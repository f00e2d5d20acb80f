/**
 * The binary envelope around every stored value, version 1. Pure: bytes in, a parsed header or a typed error out.
 *
 * | offset | bytes | what |
 * |---|---|---|
 * | 0 | 2 | magic `IR` |
 * | 2 | 1 | version of the envelope, 1 |
 * | 3 | 1 | flags: bits 0–1 codec (0 JSON, 1 tagged JSON), bits 2–3 compression (0 none, 1 gzip, 2 zstd), bit 4 encrypted |
 * | 4 | 12 | nonce, fresh for every value: makes the first 16 bytes a stamp, and is the IV of AES-GCM |
 * | 16 | 4 | schema version of the state |
 * | 20 | 4 | length of the body |
 * | 24 | 4 | length of the encoded value, before compression |
 * | 28 | 4 | CRC-32 of everything, itself taken for 0; 0 when encrypted, where the tag does its work |
 * | 32 | 1 + n | length of the key id, key id (UTF-8) |
 * | 33 + n | | body |
 *
 * Numbers are big-endian.
 */
import { corrupt } from '../codec/decode.js';
import type { CodecFormat } from '../codec/encode.js';
import { RunStoreError } from '../errors.js';
import type { Bytes, CompressionFormat, RunRuntime } from '../runtime.js';

export interface EnvelopeHeader {
  readonly codec: CodecFormat;
  readonly compression: CompressionFormat | 'none';
  readonly encrypted: boolean;
  /** 12 bytes. */
  readonly nonce: Bytes;
  readonly schemaVersion: number;
  readonly encodedLength: number;
  /** Empty unless encrypted. */
  readonly keyId: string;
}

export type NewHeader = Omit<EnvelopeHeader, 'keyId'> & { readonly keyId: Bytes };

export interface ParsedEnvelope extends EnvelopeHeader {
  readonly crc32: number;
  readonly whole: Bytes;
  /** Everything before the body; the authenticated data of AES-GCM begins with it. */
  readonly head: Bytes;
  readonly body: Bytes;
}

const MAGIC_0 = 0x49;
const MAGIC_1 = 0x52;
const VERSION = 1;
const FIXED_BYTES = 33;
const NONCE_AT = 4;
const CRC_AT = 28;
export const NONCE_BYTES = 12;

const codecs = ['json', 'tagged'] as const;
const compressions = ['none', 'gzip', 'zstd'] as const;
const ENCRYPTED = 0b1_0000;
const ZERO = new Uint8Array(4);

/**
 * Writes the head of an envelope at the beginning of `target`, whose CRC it leaves 0. `keyId` is UTF-8, empty unless
 * encrypted.
 */
export function writeHead(target: Bytes, header: NewHeader, bodyLength: number): void {
  target[0] = MAGIC_0;
  target[1] = MAGIC_1;
  target[2] = VERSION;
  target[3] =
    codecs.indexOf(header.codec) | (compressions.indexOf(header.compression) << 2) | (header.encrypted ? ENCRYPTED : 0);
  target.set(header.nonce, NONCE_AT);
  writeUint32(target, 16, header.schemaVersion);
  writeUint32(target, 20, bodyLength);
  writeUint32(target, 24, header.encodedLength);
  target[32] = header.keyId.length;
  target.set(header.keyId, FIXED_BYTES);
}

export function headLength(header: NewHeader): number {
  return FIXED_BYTES + header.keyId.length;
}

/** CRC-32 of an envelope, its own field taken for 0. */
export function checksumOf(envelope: Bytes, crc32: RunRuntime['crc32']): number {
  const before = crc32(envelope.subarray(0, CRC_AT), 0);
  return crc32(envelope.subarray(CRC_AT + 4), crc32(ZERO, before));
}

export function setCrc(envelope: Bytes, crc32: number): void {
  writeUint32(envelope, CRC_AT, crc32);
}

// By hand: a DataView for each of a million small envelopes is measurable.
function writeUint32(target: Bytes, at: number, value: number): void {
  target[at] = value >>> 24;
  target[at + 1] = (value >>> 16) & 0xff;
  target[at + 2] = (value >>> 8) & 0xff;
  target[at + 3] = value & 0xff;
}

/** Throws `RUN_CORRUPT` on damage that shows without the body being read, `RUN_VERSION_UNKNOWN` on what is newer. */
export function parseEnvelope(bytes: Bytes): ParsedEnvelope {
  if (bytes.length < 3 || bytes[0] !== MAGIC_0 || bytes[1] !== MAGIC_1) throw corrupt('it does not begin like a run');
  if (bytes[2] !== VERSION) throw unknownVersion(`its envelope has version ${bytes[2]}`);
  if (bytes.length < FIXED_BYTES) throw corrupt('its header is cut off');
  const flags = bytes[3]!;
  const codec = codecs[flags & 0b11];
  const compression = compressions[(flags >> 2) & 0b11];
  if (codec === undefined || compression === undefined || flags >> 5 !== 0) {
    throw unknownVersion(`its envelope has the flags 0b${flags.toString(2)}`);
  }
  const bodyAt = FIXED_BYTES + bytes[32]!;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const bodyLength = view.getUint32(20);
  if (bytes.length !== bodyAt + bodyLength) {
    throw corrupt(`${bytes.length} bytes are there, ${bodyAt + bodyLength} were stored`);
  }
  return {
    codec,
    compression,
    encrypted: (flags & ENCRYPTED) !== 0,
    nonce: bytes.subarray(NONCE_AT, NONCE_AT + NONCE_BYTES),
    schemaVersion: view.getUint32(16),
    encodedLength: view.getUint32(24),
    crc32: view.getUint32(CRC_AT),
    keyId: bodyAt === FIXED_BYTES ? '' : new TextDecoder().decode(bytes.subarray(FIXED_BYTES, bodyAt)),
    whole: bytes,
    head: bytes.subarray(0, bodyAt),
    body: bytes.subarray(bodyAt),
  };
}

function unknownVersion(what: string): RunStoreError {
  return new RunStoreError(
    'RUN_VERSION_UNKNOWN',
    `The stored run cannot be read by this release: ${what}. It is left in place; read it with the release that wrote it, or update this one.`,
  );
}
