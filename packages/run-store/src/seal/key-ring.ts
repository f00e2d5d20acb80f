/** The keys of AES-256-GCM: encrypt with the active one, decrypt with any that is in the ring. */
import { fromBase64 } from '../bytes.js';
import { RunStoreError } from '../errors.js';
import type { Bytes } from '../runtime.js';

export interface EncryptionOptions {
  /** Id of the key that new runs are encrypted with. */
  readonly activeKeyId: string;
  /** By id: 32 random bytes, as they are or in base64. Keep an old key until the last run it wrote has expired. */
  readonly keys: Readonly<Record<string, Uint8Array | string>>;
  /**
   * What to do with a run that is not encrypted: `'refuse'` (default), since whoever can write to the store could
   * have put it there, or `'accept'`, while runs from before the key ring are still waiting.
   */
  readonly plaintext?: 'refuse' | 'accept' | undefined;
}

export interface KeyRing {
  readonly active: { readonly id: string; readonly key: Bytes };
  readonly keys: ReadonlyMap<string, Bytes>;
  readonly plaintext: 'refuse' | 'accept';
}

const KEY_BYTES = 32;

/** Throws `INVALID_OPTION`, naming the key by its id and never by its content. */
export function keyRingOf(options: EncryptionOptions): KeyRing {
  const keys = new Map<string, Bytes>();
  for (const [id, key] of Object.entries(options.keys)) {
    if (id === '' || new TextEncoder().encode(id).length > 255) {
      throw new RunStoreError('INVALID_OPTION', 'encryption.keys: a key id has 1 to 255 bytes.');
    }
    keys.set(id, keyBytes(id, key));
  }
  const active = keys.get(options.activeKeyId);
  if (active === undefined) {
    throw new RunStoreError(
      'INVALID_OPTION',
      `encryption.activeKeyId is ${JSON.stringify(options.activeKeyId)}, but encryption.keys has no key of that id.`,
    );
  }
  return { active: { id: options.activeKeyId, key: active }, keys, plaintext: options.plaintext ?? 'refuse' };
}

function keyBytes(id: string, key: Uint8Array | string): Bytes {
  let bytes: Bytes | undefined;
  try {
    bytes = typeof key === 'string' ? fromBase64(key) : new Uint8Array(key);
  } catch {
    // Reported below; the error of the decoder would quote the key.
  }
  if (bytes?.length === KEY_BYTES) return bytes;
  throw new RunStoreError(
    'INVALID_OPTION',
    `encryption.keys[${JSON.stringify(id)}] must be ${KEY_BYTES} bytes, or their base64. Make one with \`openssl rand -base64 32\`.`,
  );
}
