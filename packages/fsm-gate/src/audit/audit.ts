/** A hash chain over decisions: each record carries an HMAC over itself and the link before it, so that none can be changed. */
import { GateError } from '../errors.js';
import type { AuditRecord } from './audit-types.js';

/** A record with its place in the chain. */
export interface ChainedRecord extends AuditRecord {
  /** 1 for the first record, then one more each. */
  readonly seq: number;
  /** The `hash` of the record before; of the first, `GENESIS`. */
  readonly previous: string;
  /** HMAC-SHA-256 over everything else in this record, in hex. */
  readonly hash: string;
}

/** The end of a chain. Kept elsewhere, it reveals that records were cut off. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** Options of `createAuditChain`. */
export interface AuditChainOptions {
  /** The secret, at least 16 bytes; who has it can write the chain anew. */
  readonly key: string | Uint8Array;
  /** Where each record goes, one after the other. What it throws reaches `onError`; `replay` then misses that record. */
  readonly write: (record: ChainedRecord) => void | Promise<void>;
  /** Goes on after the end of an earlier chain. Default: a new one. */
  readonly from?: AuditHead;
  /**
   * `hashed`: the session's key is replaced by an HMAC of it. Use that where the key is itself a credential, as a session id
   * is. Default `plain`.
   */
  readonly sessions?: 'plain' | 'hashed';
  /** Default `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/** Links records. */
export interface AuditChain {
  /** Adds a record; give it to `createGateSessions` as `onDecision`. Returns at once. */
  readonly append: (record: AuditRecord) => void;
  /** The end of the chain, once everything that was appended before is written. */
  head(): Promise<AuditHead>;
}

/**
 * Keys and records are hashed with one secret. What is hashed of a key never begins as a record does, or whoever chooses a key
 * would get a record signed.
 */
const SESSION = 'session:';

/** What comes before the first record. */
export const GENESIS: string = '0'.repeat(64);

/**
 * Makes a chain.
 *
 * @example
 * ```ts
 * const chain = createAuditChain({ key: process.env.AUDIT_KEY ?? '', write: (record) => appendFile(file, `${JSON.stringify(record)}\n`) });
 * const sessions = createGateSessions({ gate, onDecision: chain.append });
 * ```
 * @throws `GateError` `ARGUMENT_INVALID` for a key that is too short.
 */
export function createAuditChain(options: AuditChainOptions): AuditChain {
  const { key, write, from, sessions = 'plain', onError = console.error } = options;
  const signer = auditKey(key);
  let head = from ?? { seq: 0, hash: GENESIS };
  let written: Promise<void> = Promise.resolve();

  return {
    append(record) {
      written = written.then(async () => {
        try {
          await link(record);
        } catch (error) {
          onError(error);
        }
      });
    },

    async head() {
      await written;
      return head;
    },
  };

  async function link(record: AuditRecord): Promise<void> {
    const hmac = await signer;
    const session =
      sessions === 'hashed'
        ? hex(await crypto.subtle.sign('HMAC', hmac, bytes(`${SESSION}${record.session}`)))
        : record.session;
    const unsigned = { ...asJson(record, onError), session, seq: head.seq + 1, previous: head.hash };
    const hash = hex(await crypto.subtle.sign('HMAC', hmac, signedBytes(unsigned)));
    head = { seq: unsigned.seq, hash };
    await write({ ...unsigned, hash });
  }
}

/** A record that JSON cannot hold stays a link of the chain: what cannot be kept of it is named, not left out. */
function asJson(record: AuditRecord, onError: (error: unknown) => void): AuditRecord {
  try {
    JSON.stringify(record);
    return record;
  } catch (error) {
    onError(error);
    const kept = Object.entries(record).map(([name, value]): [string, unknown] => [name, inJson(value)]);
    // The names are those of the record; where a value was none of an audit, it is a text now.
    return { ...(Object.fromEntries(kept) as unknown as AuditRecord), version: Number(record.version) || 0 };
  }
}

function inJson(value: unknown): unknown {
  try {
    JSON.stringify(value);
    return value;
  } catch {
    return `(not recorded: JSON cannot hold this ${typeof value})`;
  }
}

/** The platform's key type, which not every TypeScript library declares by name. */
export type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Imports the secret of a chain. */
export function auditKey(key: string | Uint8Array): Promise<HmacKey> {
  const secret = typeof key === 'string' ? bytes(key) : key instanceof Uint8Array ? new Uint8Array(key) : undefined;
  if (!secret || secret.length < 16)
    throw new GateError('ARGUMENT_INVALID', 'The key of an audit chain must be a secret of at least 16 bytes.');
  return crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

/** What is signed: every field but the hash, by name, so that the order in a file does not matter. */
export function signedBytes(record: object): Uint8Array<ArrayBuffer> {
  const fields = Object.entries(record).filter(([name, value]) => name !== 'hash' && value !== undefined);
  return bytes(JSON.stringify(fields.sort(([one], [other]) => (one < other ? -1 : 1))));
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function hex(buffer: ArrayBuffer): string {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
