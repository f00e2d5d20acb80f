/**
 * Listing on Redis. A sorted set for each (tenant, principal), scored by expiry, and one for each tenant that names its
 * principals; both in the tenant's slot. An entry is a hint: whether its run is there, and is the one that the entry was
 * written for, is asked of the run's own key (its stamp), and what is not there any more is removed in passing.
 */
import {
  type IndexedRun,
  type IndexPage,
  type IndexQuery,
  type RunIndex,
  type RunIndexEntry,
  STAMP_BYTES,
} from '../backend.js';
import { asBuffer, plain, type RedisClient, type RedisSender, scripted, valueIn, writeFailure } from './client.js';
import { type Cursor, type Member, parseCursor, parseMember, writeCursor, writeMember } from './index-member.js';
import { allKeys, claimed, lease, waiting } from './keys.js';
import { REFRESH_INDEX, REMOVE } from './scripts.js';

export interface IndexedWrite {
  readonly key: string;
  /** Of the run that the entry is for. */
  readonly stamp: Uint8Array;
  readonly ttlMs: number | undefined;
  readonly entry: RunIndexEntry;
}

export interface RedisIndex extends RunIndex {
  /**
   * Sends the entry; the caller sends the run right behind it and then looks at both. An entry without a run is harmless,
   * a run without an entry is never seen.
   */
  send(run: IndexedWrite): Promise<unknown>;
  /** After a `touch`: the entry with its new expiry. Without a stamp it is for the run that is there now. */
  prolong(run: {
    readonly key: string;
    readonly ttlMs: number;
    readonly entry: RunIndexEntry;
    readonly stamp?: Uint8Array | undefined;
  }): Promise<void>;
}

/** A process refreshes a part's life, and the tenant's list of principals, at most this often. */
const REFRESH_MS = 60_000;
/** Runs that never expire: long enough that no one will see the end, and still an end. */
const FOREVER_MS = 100 * 365 * 86_400_000;
const MAX_REMEMBERED_PARTS = 10_000;
/** Entries looked at in one step: twice a page, since some are gone or of another kind. */
const MIN_SCAN = 20;
const MAX_SCAN = 200;
/** Clocks of hosts differ; entries are trimmed only when they are over beyond doubt. */
const CLOCK_MARGIN_MS = 3_600_000;

export function createRedisIndex(context: {
  readonly client: RedisClient;
  readonly sender: RedisSender;
  readonly now: () => number;
}): RedisIndex {
  const { client, sender, now } = context;
  /** By part: until when it is fresh, and the expiry up to which its life covers its entries. */
  const remembered = new Map<string, { readonly freshUntil: number; readonly coversUntil: number }>();

  /** Sends the entry and, where it is due, a refresh of the part that it lies in. */
  function send(run: IndexedWrite): Promise<unknown> {
    const { entry } = run;
    const at = now();
    const lifeMs = run.ttlMs ?? FOREVER_MS;
    const part = partOf(entry.tenant, entry.principal);
    const member = writeMember({ key: run.key, kind: entry.kind, stamp: run.stamp, bytes: entry.bytes });
    const added = client.zadd(part, at + lifeMs, member);
    const known = remembered.get(part);
    const isFresh = known !== undefined && known.freshUntil > at && known.coversUntil >= at + lifeMs;
    const sent = isFresh ? added : Promise.all([added, refresh(part, entry, at, lifeMs)]);
    // Also looked at by the caller; but the run's own answer comes first there, and may be an error.
    sent.catch(() => remembered.delete(part));
    return sent;
  }

  async function refresh(part: string, entry: RunIndexEntry, at: number, lifeMs: number): Promise<void> {
    const coverMs = Math.min(2 * lifeMs, FOREVER_MS) + REFRESH_MS;
    if (remembered.size >= MAX_REMEMBERED_PARTS) remembered.clear();
    remembered.set(part, { freshUntil: at + REFRESH_MS, coversUntil: at + coverMs });
    const args = [entry.principal, coverMs, at - CLOCK_MARGIN_MS, at + coverMs] as const;
    const [reply] = await sender.pipeline([scripted(REFRESH_INDEX, [part, directoryOf(entry.tenant)], ...args)]);
    valueIn(reply, 'store');
  }

  async function list(query: IndexQuery): Promise<IndexPage> {
    const { tenant, limit } = query;
    let cursor = parseCursor(query.cursor);
    const principals = await principalsOf(query);
    const count = Math.min(MAX_SCAN, Math.max(MIN_SCAN, 2 * limit));
    const runs: IndexedRun[] = [];
    for (const principal of principals) {
      if (cursor !== undefined && principal < cursor.principal) continue;
      let after: Cursor | undefined = cursor?.principal === principal ? cursor : undefined;
      for (;;) {
        const batch = await read(tenant, principal, { after, count });
        const seen = await withLiving(partOf(tenant, principal), batch);
        for (const [i, entry] of seen.entries()) {
          after = { principal, member: batch[i]!.raw, score: batch[i]!.score };
          if (entry.kind !== 'there' || (query.kind !== undefined && entry.member.kind !== query.kind)) continue;
          if (runs.some(({ key }) => key === entry.run.key)) continue;
          runs.push(entry.run);
          if (runs.length === limit) return { runs, cursor: writeCursor(after) };
        }
        if (batch.length < count) break;
      }
      cursor = undefined;
    }
    return { runs };
  }

  async function principalsOf({ tenant, principal }: IndexQuery): Promise<readonly string[]> {
    if (principal !== undefined) return [principal];
    const [reply] = await sender.pipeline([plain('zrange', directoryOf(tenant), 0, -1)]);
    const names = valueIn(reply, 'list');
    return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string').sort() : [];
  }

  async function read(
    tenant: string,
    principal: string,
    { after, count }: { readonly after?: Cursor | undefined; readonly count: number },
  ): Promise<readonly RawMember[]> {
    const part = partOf(tenant, principal);
    let start = 0;
    if (after !== undefined) {
      const [rank, before] = await sender.pipeline([
        plain('zrank', part, after.member),
        plain('zcount', part, '-inf', `(${after.score}`),
      ]);
      const found = valueIn(rank, 'list');
      // Where the last one has gone meanwhile, its neighbours of the same expiry are shown again rather than skipped.
      start = found === null ? Number(valueIn(before, 'list')) : Number(found) + 1;
    }
    const [reply] = await sender.pipeline([plain('zrange', part, start, start + count - 1, 'WITHSCORES')]);
    return rawMembers(valueIn(reply, 'list'));
  }

  async function stampAt(key: string): Promise<Uint8Array | undefined> {
    const [waits, held] = await sender.within(client.mgetBuffer(waiting(key), claimed(key)));
    return (waits ?? held)?.subarray(0, STAMP_BYTES);
  }

  /** Which of the entries belong to a run that is there; the others leave the index. */
  async function withLiving(part: string, batch: readonly RawMember[]): Promise<readonly Looked[]> {
    const members = batch.map(({ raw }) => parseMember(raw));
    const looks = members.map(({ key }) => [
      plain('getrangeBuffer', waiting(key), 0, STAMP_BYTES - 1),
      plain('getrangeBuffer', claimed(key), 0, STAMP_BYTES - 1),
      plain('pttl', waiting(key)),
      plain('pttl', claimed(key)),
      plain('exists', lease(key)),
    ]);
    const replies =
      client.isCluster === true
        ? (await Promise.all(looks.map((look) => sender.pipeline(look)))).flat()
        : looks.length === 0
          ? []
          : await sender.pipeline(looks.flat());
    const looked = members.map((member, i) =>
      lookedAt(
        member,
        replies.slice(5 * i, 5 * i + 5).map((reply) => valueIn(reply, 'list')),
      ),
    );
    const gone = batch.filter((_, i) => looked[i]!.kind === 'gone').map(({ raw }) => raw);
    if (gone.length > 0) await sender.pipeline([plain('zrem', part, ...gone)]);
    return looked;
  }

  /** Takes a run's older entries out, so that it is not shown twice. Walks the part: touching is rare, parts are small. */
  async function forget({ tenant, principal }: RunIndexEntry, key: string): Promise<void> {
    let after: Cursor | undefined;
    for (;;) {
      const batch = await read(tenant, principal, { after, count: MAX_SCAN });
      const older = batch.filter(({ raw }) => parseMember(raw).key === key).map(({ raw }) => raw);
      const last = batch.at(-1);
      if (older.length > 0) await sender.pipeline([plain('zrem', partOf(tenant, principal), ...older)]);
      if (last === undefined || batch.length < MAX_SCAN) return;
      after = { principal, member: last.raw, score: last.score };
    }
  }

  async function eraseTenant(tenant: string): Promise<number> {
    let erased = 0;
    try {
      for (const principal of await principalsOf({ tenant, limit: 0 })) {
        for (;;) {
          const batch = (await read(tenant, principal, { count: MAX_SCAN })).filter(({ raw }) => raw.length > 0);
          if (batch.length === 0) break;
          const removed = await Promise.all(batch.map(({ raw }) => removeRun(parseMember(raw))));
          erased += removed.filter(Boolean).length;
          valueIn(
            (await sender.pipeline([plain('zrem', partOf(tenant, principal), ...batch.map(({ raw }) => raw))]))[0],
            'erase',
          );
        }
      }
    } catch (error) {
      throw writeFailure(error, 'eraseTenant');
    }
    return erased;
  }

  async function removeRun({ key, stamp }: Member): Promise<boolean> {
    const [reply] = await sender.pipeline([scripted(REMOVE, allKeys(key), asBuffer(stamp))]);
    return Number(valueIn(reply, 'erase')) > 0;
  }

  return {
    send: (run) => sender.within(send(run)),
    async prolong({ key, ttlMs, entry, stamp }) {
      const touched = stamp ?? (await stampAt(key));
      if (touched === undefined) return;
      await forget(entry, key);
      await sender.within(send({ key, stamp: touched, ttlMs, entry }));
    },
    list,
    eraseTenant,
  };
}

interface RawMember {
  readonly raw: string;
  readonly score: string;
}

type Looked =
  | { readonly kind: 'there'; readonly member: Member; readonly run: IndexedRun }
  /** Claimed, while a newer run waits under the same id, which has an entry of its own. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'gone' };

function lookedAt(member: Member, [waits, held, waitsMs, heldMs, leased]: readonly unknown[]): Looked {
  const stamp = asBuffer(member.stamp);
  if (stamp.length === 0) return { kind: 'hidden' };
  const isWaiting = Buffer.isBuffer(waits) && waits.equals(stamp);
  const isHeld = Buffer.isBuffer(held) && held.equals(stamp);
  if (!isWaiting && !isHeld) return { kind: 'gone' };
  if (!isWaiting && Buffer.isBuffer(waits) && waits.length > 0) return { kind: 'hidden' };
  const lifeMs = Number(isWaiting ? waitsMs : heldMs);
  const status = !isWaiting && Number(leased) === 1 ? 'claimed' : 'waiting';
  const run = { key: member.key, bytes: member.bytes, status } as const;
  const living = lifeMs >= 0 ? { ...run, expiresInMs: lifeMs } : run;
  return { kind: 'there', member, run: living };
}

/** RESP2 answers with a flat list, RESP3 with pairs; scores come as text or as numbers. */
function rawMembers(reply: unknown): readonly RawMember[] {
  const flat: unknown[] = Array.isArray(reply) ? reply.flat() : [];
  const members: RawMember[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [raw, score] = [flat[i], flat[i + 1]];
    if (typeof raw === 'string') members.push({ raw, score: scoreText(score) });
  }
  return members;
}

function scoreText(score: unknown): string {
  return score === Number.POSITIVE_INFINITY ? 'inf' : String(score);
}

function partOf(tenant: string, principal: string): string {
  return `${tenant}:p:${principal}`;
}

function directoryOf(tenant: string): string {
  return `${tenant}:principals`;
}
