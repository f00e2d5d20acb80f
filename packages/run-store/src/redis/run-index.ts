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
import {
  asBuffer,
  plain,
  type RedisClient,
  type RedisCommand,
  type RedisReply,
  type RedisSender,
  scripted,
  valueIn,
  writeFailure,
} from './client.js';
import { type Cursor, type Member, parseCursor, parseMember, writeCursor, writeMember } from './index-member.js';
import { allKeys, claimed, lease, waiting } from './keys.js';
import { REFRESH_INDEX, REMOVE } from './scripts.js';

export interface IndexedWrite {
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly ttlMs: number | undefined;
  readonly entry: RunIndexEntry;
}

export interface RedisIndex extends RunIndex {
  /** The entry and the run in one round trip. */
  putWith(write: RedisCommand, run: IndexedWrite): Promise<'stored' | 'exists'>;
  /** After a `touch`: the entry with its new expiry. */
  prolong(run: { readonly key: string; readonly ttlMs: number; readonly entry: RunIndexEntry }): Promise<void>;
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

  function indexCommands(run: IndexedWrite): RedisCommand[] {
    const { entry } = run;
    const at = now();
    const lifeMs = run.ttlMs ?? FOREVER_MS;
    const part = partOf(entry.tenant, entry.principal);
    const member = writeMember({
      key: run.key,
      kind: entry.kind,
      stamp: run.bytes.subarray(0, STAMP_BYTES),
      bytes: entry.bytes,
    });
    const add = plain('zadd', part, at + lifeMs, member);
    const known = remembered.get(part);
    if (known !== undefined && known.freshUntil > at && known.coversUntil >= at + lifeMs) return [add];
    const coverMs = Math.min(2 * lifeMs, FOREVER_MS) + REFRESH_MS;
    remembered.delete(part);
    if (remembered.size >= MAX_REMEMBERED_PARTS) remembered.clear();
    remembered.set(part, { freshUntil: at + REFRESH_MS, coversUntil: at + coverMs });
    const args = [entry.principal, coverMs, at - CLOCK_MARGIN_MS, at + coverMs] as const;
    return [add, scripted(REFRESH_INDEX, [part, directoryOf(entry.tenant)], ...args)];
  }

  async function putWith(write: RedisCommand, run: IndexedWrite): Promise<'stored' | 'exists'> {
    const [add, ...refresh] = indexCommands(run);
    // The entry first: an entry without a run is harmless, a run without an entry is never seen.
    const commands = [add!, write, ...refresh];
    try {
      const replies =
        client.isCluster === true ? await acrossSlots(write, [add!, ...refresh]) : await sender.pipeline(commands);
      for (const reply of replies) valueIn(reply, 'store');
      const written = client.isCluster === true ? replies[0] : replies[1];
      return valueIn(written, 'store') === 0 ? 'exists' : 'stored';
    } catch (error) {
      remembered.delete(partOf(run.entry.tenant, run.entry.principal));
      throw error;
    }
  }

  /** On a Cluster the tenant and the run are on different nodes: two pipelines, side by side. */
  async function acrossSlots(write: RedisCommand, index: readonly RedisCommand[]): Promise<RedisReply[]> {
    const [indexed, written] = await Promise.all([sender.pipeline(index), sender.pipeline([write])]);
    return [...written, ...indexed];
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
        for (const [i, { member, run }] of seen.entries()) {
          after = { principal, member: batch[i]!.raw, score: batch[i]!.score };
          if (run === undefined || (query.kind !== undefined && member.kind !== query.kind)) continue;
          if (runs.some(({ key }) => key === run.key)) continue;
          runs.push(run);
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
      start = typeof found === 'number' ? found + 1 : Number(valueIn(before, 'list'));
    }
    const [reply] = await sender.pipeline([plain('zrangeBuffer', part, start, start + count - 1, 'WITHSCORES')]);
    return rawMembers(valueIn(reply, 'list'));
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
    const looked = members.map((member, i) => ({
      member,
      run: livingRun(
        member,
        replies.slice(5 * i, 5 * i + 5).map((reply) => valueIn(reply, 'list')),
      ),
    }));
    const gone = batch.filter(({ raw }, i) => raw.length > 0 && looked[i]!.run === undefined).map(({ raw }) => raw);
    if (gone.length > 0) await sender.pipeline([plain('zrem', part, ...gone)]);
    return looked;
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
    putWith,
    async prolong({ key, ttlMs, entry }) {
      const bytes = await sender.within(client.mgetBuffer(waiting(key), claimed(key)));
      const stored = bytes[0] ?? bytes[1];
      if (stored == null) return;
      const replies = await sender.pipeline(indexCommands({ key, bytes: stored, ttlMs, entry }));
      for (const reply of replies) valueIn(reply, 'touch');
    },
    list,
    eraseTenant,
  };
}

interface RawMember {
  readonly raw: Buffer;
  readonly score: string;
}

interface Looked {
  readonly member: Member;
  readonly run: IndexedRun | undefined;
}

function livingRun(member: Member, [waits, held, waitsMs, heldMs, leased]: readonly unknown[]): IndexedRun | undefined {
  const stamp = asBuffer(member.stamp);
  const found =
    Buffer.isBuffer(waits) && waits.equals(stamp)
      ? ({ status: 'waiting', lifeMs: waitsMs } as const)
      : Buffer.isBuffer(held) && held.equals(stamp)
        ? ({ status: leased === 1 ? 'claimed' : 'waiting', lifeMs: heldMs } as const)
        : undefined;
  if (found === undefined || stamp.length === 0) return undefined;
  const run = { key: member.key, bytes: member.bytes, status: found.status };
  return typeof found.lifeMs === 'number' && found.lifeMs >= 0 ? { ...run, expiresInMs: found.lifeMs } : run;
}

/** RESP2 answers with a flat list, RESP3 with pairs; scores come as text or as numbers. */
function rawMembers(reply: unknown): readonly RawMember[] {
  const flat: unknown[] = Array.isArray(reply) ? reply.flat() : [];
  const members: RawMember[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [raw, score] = [flat[i], flat[i + 1]];
    if (Buffer.isBuffer(raw)) members.push({ raw, score: scoreText(score) });
  }
  return members;
}

function scoreText(score: unknown): string {
  const text = Buffer.isBuffer(score) ? score.toString() : String(score);
  return text === 'Infinity' ? 'inf' : text;
}

function partOf(tenant: string, principal: string): string {
  return `${tenant}:p:${principal}`;
}

function directoryOf(tenant: string): string {
  return `${tenant}:principals`;
}
