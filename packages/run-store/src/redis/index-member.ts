/** How an entry of the index and a cursor are written on Redis. Pure; what is read is untrusted. */
import { STAMP_BYTES } from '../backend.js';
import { fromBase64, toBase64 } from '../bytes.js';
import { RunStoreError } from '../errors.js';

/** Key and kind with their lengths, the stamp of the run that it was written for, then the engine's sealed bytes. */
export interface Member {
  readonly key: string;
  readonly kind: string;
  readonly stamp: Uint8Array;
  readonly bytes: Uint8Array;
}

export interface Cursor {
  readonly principal: string;
  readonly score: string;
  readonly member: Buffer;
}

export function writeMember({ key, kind, stamp, bytes }: Member): Buffer {
  const head = Buffer.from(`${key}\n${kind}\n`);
  return Buffer.concat([head, stamp, bytes]);
}

/** The empty member that keeps a part alive, and whatever is malformed, parse as an entry of no run. */
export function parseMember(raw: Buffer): Member {
  const first = raw.indexOf('\n');
  const second = raw.indexOf('\n', first + 1);
  if (first === -1 || second === -1) {
    return { key: '{none}', kind: '', stamp: new Uint8Array(), bytes: new Uint8Array() };
  }
  const stampEnd = second + 1 + STAMP_BYTES;
  return {
    key: raw.toString('utf8', 0, first),
    kind: raw.toString('utf8', first + 1, second),
    stamp: raw.subarray(second + 1, stampEnd),
    bytes: raw.subarray(stampEnd),
  };
}

export function writeCursor({ principal, score, member }: Cursor): string {
  return `${principal}.${score}.${toBase64(member)}`;
}

/** Throws `INVALID_OPTION` on a cursor that no page came with. */
export function parseCursor(cursor: string | undefined): Cursor | undefined {
  if (cursor === undefined) return undefined;
  const match = /^([\w-]{1,64})\.(-?[\d.e+]{1,32}|inf)\.([A-Za-z0-9+/=]{1,8192})$/.exec(cursor);
  try {
    if (match !== null) {
      return { principal: match[1]!, score: match[2]!, member: Buffer.from(fromBase64(match[3]!)) };
    }
  } catch {
    // Not base64: answered below, like every other foreign cursor.
  }
  throw new RunStoreError('INVALID_OPTION', 'The option `cursor` must be the `cursor` of an earlier page, unchanged.');
}
