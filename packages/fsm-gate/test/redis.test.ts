/** What only Redis can get wrong: lost replies, forgotten scripts, foreign bytes, clusters, round trips. */
import { startRedis } from '@mcp-interlock/test-kit/redis';
import { startTcpProxy } from '@mcp-interlock/test-kit/tcp-proxy';
import { Cluster, Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { redisGateStore } from '../src/redis.js';
import { createGateSessions, type GateSessionsOptions, type SessionChange } from '../src/sessions/index.js';
import { aCheckoutGate, deferred } from './helpers.js';

const url = inject('redisUrl') ?? '';

describe.skipIf(!url)('sessions in Redis', () => {
  let client: Redis;
  let cleanups: (() => unknown)[] = [];
  beforeAll(() => {
    client = new Redis(url);
  });
  afterAll(() => client.disconnect());
  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
    cleanups = [];
  });

  const aPrefix = () => `interlock:test:redis:${crypto.randomUUID()}:`;

  function aShop(prefix: string, options: Partial<GateSessionsOptions> = {}, own: Redis | Cluster = client) {
    return createGateSessions({ gate: aCheckoutGate(), store: redisGateStore({ client: own, prefix }), ...options });
  }

  /** A connection through a proxy that loses what it is told to lose. */
  async function aLossyClient() {
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy({ target: { host: hostname, port: Number(port || 6379) } });
    const lossy = new Redis(proxy.port, proxy.host, { retryStrategy: () => 1 });
    // That the connection breaks is the point.
    lossy.on('error', () => undefined);
    cleanups.push(
      () => proxy.stop(),
      () => lossy.disconnect(),
    );
    return { proxy, lossy };
  }

  it('cost one round trip for a reservation and one for its commit', async () => {
    const { proxy, lossy } = await aLossyClient();
    const sessions = aShop(aPrefix(), {}, lossy);
    await sessions.run('warm', 'cart_add_item', {}, () => 1);
    const before = proxy.roundTrips;
    await sessions.run('ann', 'cart_add_item', {}, () => 1);
    expect(proxy.roundTrips - before).toBe(2);
  });

  it.each(['reserve', 'commit'])('lose nothing when the reply to the %s is lost', async (step) => {
    const { proxy, lossy } = await aLossyClient();
    const prefix = aPrefix();
    const sessions = aShop(prefix, {}, lossy);
    await sessions.run('ann', 'cart_add_item', {}, () => 1);
    const lost = proxy.arm(
      { at: 'reply', effect: 'cut' },
      { when: (bytes) => (step === 'reserve' ? bytes.includes('cart_checkout') : bytes.includes('"payment"')) },
    );
    const runs: string[] = [];
    const outcome = await sessions.run('ann', 'cart_checkout', {}, () => runs.push('ran'));
    await lost;
    expect(outcome).toMatchObject({ kind: 'done', transition: { currentState: 'payment' } });
    expect(runs).toEqual(['ran']);
    expect(await redisGateStore({ client, prefix }).read('ann')).toMatchObject({ version: 2 });
  });

  it('go on when the server forgot the scripts', async () => {
    const sessions = aShop(aPrefix());
    await sessions.run('ann', 'cart_add_item', {}, () => 1);
    await client.script('FLUSH');
    expect((await sessions.run('ann', 'cart_checkout', {}, () => 1)).kind).toBe('done');
  });

  it('are leased by the clock of the server: a lease that nobody renews makes room', async () => {
    const store = redisGateStore({ client, prefix: aPrefix() });
    const request = { tool: 'pay', initial: () => ({ state: 'payment', updatedAt: 0 }), onlyIn: undefined };
    const first = await store.reserve('ann', { ...request, id: '1', leaseMs: 1 });
    let second = await store.reserve('ann', { ...request, id: '2', leaseMs: 60_000 });
    while (second.kind !== 'granted') second = await store.reserve('ann', { ...request, id: '2', leaseMs: 60_000 });
    const late = first.kind === 'granted' ? first.fence : 0;
    expect(second.fence).toBeGreaterThan(late);
    expect(await store.commit('ann', late, { state: 'confirmed', updatedAt: 1 })).toEqual({ kind: 'lost' });
  });

  it('disappear by themselves: a session after its time to live, an unwritten one with its lease', async () => {
    const prefix = aPrefix();
    const store = redisGateStore({ client, prefix, ttlSeconds: 1_000 });
    const request = {
      id: '1',
      tool: 'pay',
      initial: () => ({ state: 'payment', updatedAt: 0 }),
      leaseMs: 5_000,
      onlyIn: undefined,
    };
    const outcome = await store.reserve('ann', request);
    expect(await client.pttl(`${prefix}ann`)).toBeLessThanOrEqual(5_000);
    await store.commit('ann', outcome.kind === 'granted' ? outcome.fence : 0, { state: 'confirmed', updatedAt: 1 });
    expect(await client.pttl(`${prefix}ann`)).toBeGreaterThan(5_000);
    await store.reserve('ann', { ...request, id: '2', leaseMs: 2_000_000 });
    expect(await client.pttl(`${prefix}ann`)).toBeGreaterThan(1_000_000);
  });

  it.each([
    ['no JSON', (key: string) => client.hset(key, { s: '{"state":', t: 'payment', v: '3' }), 'SNAPSHOT_INVALID'],
    ['no snapshot', (key: string) => client.hset(key, { s: '[]', t: 'payment', v: '3' }), 'SNAPSHOT_INVALID'],
    [
      'an unknown state',
      (key: string) => client.hset(key, { s: '{"state":"x","updatedAt":1}', t: 'x' }),
      'SNAPSHOT_FOREIGN',
    ],
    ['another type of key', (key: string) => client.set(key, 'text'), 'STORE_FAILED'],
  ])('whose bytes are %s are refused with a clear error, and can be reset or ended', async (_, spoil, code) => {
    const prefix = aPrefix();
    const sessions = aShop(prefix, { onError: () => undefined });
    await spoil(`${prefix}ann`);
    await expect(sessions.visibleTools('ann', ['cart_pay'])).rejects.toMatchObject({ code });
    await expect(sessions.send('ann', 'CLEAR')).rejects.toMatchObject({ code });
    // A key of another type is not ours to overwrite.
    if (code !== 'STORE_FAILED') {
      await sessions.reset('ann', { by: 'ops', reason: 'spoiled' });
      expect((await sessions.inspect('ann')).state).toBe('empty');
    }
    await spoil(`${prefix}bob`);
    await sessions.end('bob');
    expect((await sessions.inspect('bob')).state).toBe('empty');
  });

  it('tell the listeners of other processes of a change, and their own once', async () => {
    const prefix = aPrefix();
    const subscribers = [new Redis(url), new Redis(url)];
    cleanups.push(...subscribers.map((subscriber) => () => subscriber.disconnect()));
    const [here, there] = subscribers.map((subscriber) =>
      createGateSessions({ gate: aCheckoutGate(), store: redisGateStore({ client, subscriber, prefix }) }),
    ) as [ReturnType<typeof aShop>, ReturnType<typeof aShop>];
    await Promise.all(subscribers.map((subscriber) => subscriber.subscribe(`${prefix}changes`)));

    const heardThere = deferred<SessionChange>();
    const heardHere: SessionChange[] = [];
    there.onChange('ann', heardThere.resolve);
    here.onChange((change) => heardHere.push(change));
    await here.run('ann', 'cart_add_item', {}, () => 1);
    expect(await heardThere.promise).toEqual({
      key: 'ann',
      previousState: 'empty',
      currentState: 'has_items',
      version: 1,
      visibleChanged: true,
      local: false,
    });
    // Its own message came back before that of the other process reached us.
    const heardBack = deferred<SessionChange>();
    here.onChange('bob', heardBack.resolve);
    await there.run('bob', 'cart_add_item', {}, () => 1);
    await heardBack.promise;
    expect(heardHere.filter(({ key }) => key === 'ann')).toHaveLength(1);
    here.close();
    there.close();
  });

  it('report what a subscription brings that is none of ours', async () => {
    const prefix = aPrefix();
    const subscriber = new Redis(url);
    cleanups.push(() => subscriber.disconnect());
    const failed = deferred<unknown>();
    const store = redisGateStore({ client, subscriber, prefix, onError: failed.resolve });
    const stop = store.subscribe?.(() => undefined);
    await subscriber.subscribe(`${prefix}changes`);
    await client.publish(`${prefix}changes`, '{"key":1}');
    await client.publish(`${prefix}changes`, 'no JSON');
    expect(await failed.promise).toBeInstanceOf(SyntaxError);
    stop?.();
  });

  it('need a connection of ioredis, and say so', () => {
    expect(() => redisGateStore({ client: {} as never })).toThrow('ioredis');
    expect(() => redisGateStore({ client, ttlSeconds: 0 })).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });

  it('say that Redis failed, with its own error as the cause', async () => {
    const down = new Redis(1, '127.0.0.1', { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
    down.on('error', () => undefined);
    cleanups.push(() => down.disconnect());
    const error = await aShop(aPrefix(), {}, down)
      .inspect('ann')
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'STORE_FAILED', cause: expect.any(Error) });
  });

  describe('on a cluster of three nodes', () => {
    it('work, wherever the slot of a session lies', async () => {
      const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '30000'];
      const nodes = await Promise.all([0, 1, 2].map(() => startRedis({ args })));
      cleanups.push(() => Promise.all(nodes.map((node) => node.stop())));
      const admins = nodes.map((node) => new Redis(node.url));
      cleanups.push(() => admins.map((admin) => admin.disconnect()));
      const ends = [-1, 5_460, 10_922, 16_383];
      for (const [at, admin] of admins.entries())
        await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(ends[at]! + 1), String(ends[at + 1]));
      for (const node of nodes.slice(1)) await admins[0]!.call('CLUSTER', 'MEET', node.host, String(node.port));
      for (const admin of admins) while (!String(await admin.call('CLUSTER', 'INFO')).includes('cluster_state:ok'));

      const cluster = new Cluster(nodes.map(({ host, port }) => ({ host, port })));
      cleanups.push(() => cluster.disconnect());
      const prefix = aPrefix();
      const sessions = aShop(prefix, {}, cluster);
      const keys = Array.from({ length: 30 }, (_, at) => `session ${at}`);
      const outcomes = await Promise.all(
        keys.flatMap((key) =>
          ['cart_add_item', 'cart_checkout', 'cart_pay'].map((tool) => sessions.run(key, tool, {}, () => 1)),
        ),
      );
      expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
      const sizes = await Promise.all(admins.map((admin) => admin.dbsize()));
      expect(sizes.reduce((sum, size) => sum + size)).toBe(30);
      expect(sizes.every((size) => size > 0)).toBe(true);
    });
  });
});
