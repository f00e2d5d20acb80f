import { startRedis } from '@mcp-interlock/test-kit/redis';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { aParkedPayment, aRunningDemo } from './running.js';

const redisUrl = inject('redisUrl');

describe.skipIf(!redisUrl)('two servers on one Redis', () => {
  it('decide a payment that the other one parked, and the agent hears of it', async () => {
    const [here, there] = [await aRunningDemo({ redisUrl }), await aRunningDemo({ redisUrl })];
    const agent = await here.agent();
    const runId = await aParkedPayment(agent);
    const changes = agent.listChanges();

    expect((await there.operator('GET', runId)).status).toBe(200);
    expect((await there.operator('POST', runId)).status).toBe(200);
    expect((await here.operator('POST', runId)).status).toBe(409);
    await agent.listChanged(changes + 1);
    expect(await agent.toolNames()).toContain('order_start_over');
  });

  it('know from each other which protocol an upstream speaks', async () => {
    const redis = new Redis(redisUrl!);
    const running = await aRunningDemo({ redisUrl });
    await (await running.agent()).call('mcp', { connect: 'memory' });
    const keys = await redis.keys('interlock:demo:era:*');
    expect(await redis.get(keys.find((key) => key.includes('server-memory')) ?? '')).toContain('"kind":"legacy"');
    await redis.quit();
  });

  it('name the Redis for people without its password', async () => {
    const { demo } = await aRunningDemo({ redisUrl });
    expect(demo.storageDescription).toMatch(/^Redis at [\w.]+:\d+$/);
  });
});

describe.skipIf(!redisUrl)('a Redis that dies under a running server', () => {
  it('fails the calls that need it in seconds, serves the others, and does not keep the server from stopping', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const running = await aRunningDemo({ redisUrl: redis.url });
    const agent = await running.agent();
    await agent.call('cart_add_item', { sku: 'stool' });
    await redis.kill('SIGKILL');

    for (const tool of ['cart_view', 'cart_add_item']) {
      const answer = await agent.call(tool, { sku: 'stool' });
      expect(answer.isError).toBe(true);
      expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1|\n\s+at /);
    }
    expect((await agent.call('mcp')).isError).toBe(false);
    expect(running.logged.filter((line) => line.includes('ECONNREFUSED')).length).toBeLessThanOrEqual(1);
    await running.close();
  });

  it('is told apart from a cart: what is stored under the key of one and is none is an error', async () => {
    const running = await aRunningDemo({ redisUrl });
    const redis = new Redis(redisUrl!);
    const agent = await running.agent();
    await agent.call('cart_add_item', { sku: 'stool' });
    const before = new Set(await redis.keys('interlock:demo:cart:*'));
    for (const key of before) await redis.hset(key, 'bench', 'many');
    expect((await agent.call('cart_add_item', { sku: 'bench' })).isError).toBe(true);
    await redis.quit();
  });
});

describe('a Redis that cannot be reached', () => {
  it('ends the start with an error that says so, and no password in it', async () => {
    const start = aRunningDemo({ redisUrl: 'redis://user:secret@127.0.0.1:1' });
    await expect(start).rejects.toThrow('The Redis at 127.0.0.1:1 (from REDIS_URL) cannot be reached');
    await expect(start).rejects.not.toThrow(/secret/);
  });
});
