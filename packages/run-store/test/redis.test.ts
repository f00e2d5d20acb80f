import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { newAgentRunId } from '../src/index.js';
import { RedisAgentRunStore, type RedisClient } from '../src/redis.js';
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
    const claimed = await store.claim(id, { leaseMs: 60_000, owner: 'w' });
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
    expect((await store.list({ tenant: id })).runs).toMatchObject([{ runId: id, status: 'claimed' }]);
    expect(await store.consume(id)).toBeNull();
    await claimed.claim.release();
    expect(await store.resume(id, { approved: ['call_1'] }, scope)).toMatchObject({ kind: 'resumed' });
    expect(await store.load(id)).toBeNull();
    expect((await store.list({ tenant: id })).runs).toEqual([]);
  });
});
