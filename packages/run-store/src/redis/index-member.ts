/** How an entry of the index and a cursor are written on Redis. Pure; what is read is untrusted. */
import { foreignCursor } from '../backends/cursor.js';
import { asBuffer } from './client.js';

/** Key, kind, the stamp of the run that it was written for, and the engine's sealed bytes. */
export interface Member {
  readonly key: string;
  readonly kind: string;
  readonly stamp: Uint8Array;
  readonly bytes: Uint8Array;
}

export interface Cursor {
  readonly principal: string;
  readonly score: string;
  readonly member: string;
}

/** Text, which ioredis sends faster than bytes. */
export function writeMember({ key, kind, stamp, bytes }: Member): string {
  return `${key}\n${kind}\n${asBuffer(stamp).toString('base64')}\n${asBuffer(bytes).toString('base64')}`;
}

/** The empty member that keeps a part alive, and whatever is malformed, parse as an entry of no run. */
export function parseMember(raw: string): Member {
  const [key, kind, stamp, bytes, ...more] = raw.split('\n');
  if (key === undefined || kind === undefined || stamp === undefined || bytes === undefined || more.length > 0) {
    return { key: '{none}', kind: '', stamp: new Uint8Array(), bytes: new Uint8Array() };
  }
  return { key, kind, stamp: Buffer.from(stamp, 'base64'), bytes: Buffer.from(bytes, 'base64') };
}

export function writeCursor({ principal, score, member }: Cursor): string {
  return `${principal}.${score}.${Buffer.from(member).toString('base64url')}`;
}

/** Throws `INVALID_OPTION` on a cursor that no page came with. */
export function parseCursor(cursor: string | undefined): Cursor | undefined {
  if (cursor === undefined) return undefined;
  const match = /^([\w-]{1,64})\.(-?[\d.e+]{1,32}|inf)\.([\w-]{1,65536})$/.exec(cursor);
  if (match === null) throw foreignCursor();
  return { principal: match[1]!, score: match[2]!, member: Buffer.from(match[3]!, 'base64url').toString() };
}
