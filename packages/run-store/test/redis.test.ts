import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { newAgentRunId } from '../src/index.js';
import { RedisAgentRunStore, type RedisClient, type RedisPipeline } from '../src/redis.js';
import { aPausedRun } from './support/runs.js';

const url = inject('redisUrl');

describe.skipIf(url === undefined)('a store on Redis', () => {
  const clients: (Redis | Redis5)[] = [];
  const connect = (): Redis => {
    const client = new Redis(url!);
    clients.push(client);
    return client;
  };
  afterAll(() => Promise.all(clients.map((client) => client.quit())));

  it('has exactly one winner among 16 callers on 4 connections, for each of 1,000 runs', async () => {
    const stores = Array.from({ length: 4 }, () => new RedisAgentRunStore({ client: connect() }));
    for (let batch = 0; batch < 20; batch++) {
      const ids = Array.from({ length: 50 }, newAgentRunId);
      await Promise.all(ids.map((id) => stores[0]!.store(id, aPausedRun({ meta: id }))));
      const answers = await Promise.all(
        ids.map((id) => Promise.all(Array.from({ length: 16 }, (_, i) => stores[i % 4]!.consume(id)))),
      );
      for (const [i, callers] of answers.entries()) {
        const winners = callers.filter((answer) => answer !== null);
        expect(winners).toEqual([aPausedRun({ meta: ids[i] })]);
      }
    }
  });

  it.each([
    ['ioredis 6', () => connect()],
    [
      'ioredis 6 on RESP2',
      () => {
        const client = new Redis(url!, { protocol: 2 });
        clients.push(client);
        return client;
      },
    ],
    [
      'ioredis 6 with numbers as text',
      () => {
        const client = new Redis(url!, { stringNumbers: true });
        clients.push(client);
        return client;
      },
    ],
    [
      'ioredis 5 with numbers as text',
      () => {
        const client = new Redis5(url!, { stringNumbers: true });
        clients.push(client);
        return client;
      },
    ],
    [
      'ioredis 5',
      () => {
        const client = new Redis5(url!);
        clients.push(client);
        return client;
      },
    ],
  ] satisfies [string, () => RedisClient][])('works with %s', async (_, client) => {
    const store = new RedisAgentRunStore({ client: client(), index: 'clear' });
    const id = newAgentRunId();
    const scope = { tenant: id, principal: 'ada' };
    await store.store(id, aPausedRun(), { scope });
    expect(await store.load(id)).toEqual(aPausedRun());
    expect((await store.list({ tenant: id })).runs).toMatchObject([{ runId: id, scope, status: 'waiting' }]);
    await expect(store.store(id, aPausedRun(), { scope, ifAbsent: true })).rejects.toMatchObject({
      code: 'RUN_EXISTS',
    });
    expect(await store.touch(id, { scope, ttlSeconds: 900 })).toBe(true);
    const [listed] = (await store.list({ tenant: id })).runs;
    expect(listed?.expiresInSeconds).toBeGreaterThan(600);
    const claimed = await store.claim(id, { leaseMs: 60_000, owner: 'w' });
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
    expect((await store.list({ tenant: id })).runs).toMatchObject([{ runId: id, status: 'claimed' }]);
    expect(await store.consume(id)).toBeNull();
    await claimed.claim.release();
    const partial = { mode: 'partial', by: 'ada' } as const;
    expect(await store.resume(id, { approved: ['call_1'] }, scope, partial)).toMatchObject({ kind: 'resumed' });
    expect(await store.load(id)).toBeNull();
    expect((await store.list({ tenant: id })).runs).toEqual([]);
  });

  const encryption = { activeKeyId: 'k', keys: { k: new Uint8Array(32).fill(5) } };

  /** Keys and values, as a dump would show them. */
  async function dump(client: Redis, prefix: string): Promise<{ keys: string[]; text: string }> {
    const keys: string[] = [];
    for await (const batch of client.scanStream({ match: `${prefix}*`, count: 1_000 }))
      keys.push(...(batch as string[]));
    const values = await Promise.all(
      keys.map(async (key) =>
        (await client.type(key)) === 'zset'
          ? (await client.zrange(key, '0', '-1')).join()
          : (await client.getBuffer(key))?.toString('latin1'),
      ),
    );
    return { keys, text: `${keys.join()}${values.join()}` };
  }

  it('shows a thief of its dump no run id, no name and no state, and keeps nothing for ever', async () => {
    const client = connect();
    const keyPrefix = `test:${newAgentRunId()}:`;
    const store = new RedisAgentRunStore({ client, keyPrefix, encryption });
    const scope = { tenant: 'acme-corp', principal: 'ada-lovelace' };
    const ids = Array.from({ length: 4 }, newAgentRunId) as [string, string, string, string];
    for (const id of ids) await store.store(id, aPausedRun({ pendingToolCallIds: ['call_1', 'call_2'] }), { scope });
    await store.consume(ids[0]);
    await store.claim(ids[1], { leaseMs: 60_000, owner: 'worker-nine' });
    await store.resume(ids[2], { approved: ['call_1'] }, scope, { mode: 'partial' });
    const done = await store.claim(ids[3], { leaseMs: 60_000, owner: 'worker-nine' });
    if (done.kind !== 'claimed') throw new Error(done.kind);
    await done.claim.ack({ outcome: 'top secret outcome' });
    const { keys, text } = await dump(client, keyPrefix);
    expect(keys.length).toBeGreaterThan(7);
    for (const word of [...ids, 'acme-corp', 'ada-lovelace', 'delete_user', 'top secret', 'worker-nine']) {
      expect(text).not.toContain(word);
    }
    for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
    expect((await store.list({ tenant: 'acme-corp' })).runs.map(({ runId }) => runId).sort()).toEqual(
      [ids[1], ids[2]].sort(),
    );
  });

  it('keeps all keys of a run in one slot of a Cluster', async () => {
    const client = connect();
    const keyPrefix = `test:${newAgentRunId()}:`;
    const store = new RedisAgentRunStore({ client, keyPrefix, outcomeSeconds: 60 });
    await store.store('run', aPausedRun({ pendingToolCallIds: ['a', 'b'] }));
    await store.resume('run', { approved: ['a'] }, undefined, { mode: 'partial' });
    await store.claim('run', { leaseMs: 60_000, owner: 'w' });
    await store.store('run', aPausedRun());
    await store.consume('run');
    const { keys } = await dump(client, keyPrefix);
    expect(keys.length).toBe(5);
    expect(new Set(keys.map((key) => /\{(.+?)\}/.exec(key)?.[1])).size).toBe(1);
  });

  it('goes on when the server has forgotten its scripts', async () => {
    const client = connect();
    const store = new RedisAgentRunStore({ client, index: 'clear' });
    for (let round = 0; round < 2; round++) {
      const [id, tenant] = [newAgentRunId(), newAgentRunId()];
      await client.script('FLUSH');
      await store.store(id, aPausedRun(), { scope: { tenant }, ifAbsent: true });
      await client.script('FLUSH');
      expect((await store.claim(id, { leaseMs: 60_000, owner: 'w' })).kind).toBe('claimed');
      await client.script('FLUSH');
      expect(await store.eraseTenant(tenant)).toBe(1);
    }
  });

  it('lists every run of a tenant over pages, also runs that share their expiry and none that was touched twice', async () => {
    const client = connect();
    const store = new RedisAgentRunStore({ client, index: 'clear', now: () => 1_800_000_000_000 });
    const tenant = newAgentRunId();
    const ids = Array.from({ length: 60 }, newAgentRunId);
    for (const [i, id] of ids.entries())
      await store.store(id, aPausedRun(), { scope: { tenant, principal: `p${i % 3}` } });
    for (const id of ids.slice(0, 10)) await store.touch(id, { ttlSeconds: 900 });
    for (const id of ids.slice(50)) await store.consume(id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ tenant, limit: 7, cursor });
      seen.push(...page.runs.map(({ runId }) => runId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen.sort()).toEqual(ids.slice(0, 50).sort());
    expect(await store.eraseTenant(tenant)).toBe(50);
    expect(await store.list({ tenant })).toEqual({ runs: [] });
  });

  it('completes partial decisions once over several connections', async () => {
    const stores = Array.from({ length: 4 }, () => new RedisAgentRunStore({ client: connect() }));
    const pending = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    for (let round = 0; round < 10; round++) {
      const id = newAgentRunId();
      await stores[0]!.store(id, aPausedRun({ pendingToolCallIds: pending }));
      const answers = await Promise.all(
        pending.map((one, i) => stores[i % 4]!.resume(id, { approved: [one] }, undefined, { mode: 'partial' })),
      );
      expect(answers.filter(({ kind }) => kind === 'resumed')).toMatchObject([{ decision: { approved: pending } }]);
    }
  });

  it('gives a take that tore between its two commands to its token, and ends the copy with the run until then', async () => {
    const client = connect();
    const store = new RedisAgentRunStore({ client, ttlSeconds: 900, takenCopySeconds: 60 });
    const [id, token] = [newAgentRunId(), newAgentRunId()];
    await store.store(id, aPausedRun());
    // All that the server got of a consume whose line tore.
    const key = await store.keyOf(id);
    const copy = `${key}:t:${token}`;
    await client.renamenx(`${key}:v`, copy);
    expect(await client.pttl(copy)).toBeGreaterThan(800_000);
    expect(await client.pttl(copy)).toBeLessThanOrEqual(900_000);
    expect(await store.consume(id)).toBeNull();
    expect(await store.load(id)).toBeNull();
    expect(await store.consume(id, { token })).toEqual(aPausedRun());
    expect(await client.pttl(copy)).toBeGreaterThan(0);
    expect(await client.pttl(copy)).toBeLessThanOrEqual(60_000);
  });

  it('never lists a run under the name of whoever touched the one before it', async () => {
    const client = connect();
    const store = new RedisAgentRunStore({ client, index: 'clear' });
    const id = newAgentRunId();
    const [ann, bob] = [
      { tenant: id, principal: 'ann' },
      { tenant: id, principal: 'bob' },
    ];
    await store.store(id, aPausedRun(), { scope: ann });
    // Bob's run takes the place of Ann's right after hers was touched.
    let writes = 0;
    const pipeline = (commands: unknown[][]): RedisPipeline => ({
      exec: async () => {
        const replies = await client.pipeline(commands).exec();
        writes += 1;
        if (writes === 1) await store.store(id, aPausedRun({ meta: 'bob' }), { scope: bob });
        return replies;
      },
    });
    const racing: RedisClient = new Proxy(client, {
      get: (target, name) => {
        if (name === 'pipeline') return pipeline;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    await new RedisAgentRunStore({ client: racing, index: 'clear' }).touch(id, { scope: ann });
    expect(writes).toBeGreaterThan(1);
    expect((await store.list(ann)).runs).toEqual([]);
    expect((await store.list(bob)).runs).toMatchObject([{ runId: id, scope: bob }]);
  });

  it('says what Redis refused, without the payload that it refused', async () => {
    const client = connect();
    const store = new RedisAgentRunStore({ client });
    const id = newAgentRunId();
    await client.lpush(`${await store.keyOf(id)}:v`, 'of another kind');
    const error: unknown = await store.load(id).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'RUN_CORRUPT', message: expect.stringContaining('something else') });
    expect(inspect(error, { depth: 9 })).not.toContain(await store.keyOf(id));
    await expect(store.claim(id, { leaseMs: 1_000, owner: 'w' })).rejects.toMatchObject({ code: 'RUN_CORRUPT' });
  });
});
