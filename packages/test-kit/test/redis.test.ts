import { rm } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { findRedis, startRedis } from '../src/redis.js';

describe('the Redis launcher', () => {
  it('prefers the Redis that the environment names', () => {
    expect(findRedis({ REDIS_URL: 'redis://example.test:1' })).toEqual({ kind: 'url', url: 'redis://example.test:1' });
  });

  it.skipIf(!inject('redisUrl'))('hands every suite a real server', async () => {
    const client = new Redis(inject('redisUrl')!);
    expect(await client.ping()).toBe('PONG');
    await client.quit();
  });

  it.skipIf(findRedis().kind !== 'binary')('restarts a killed server on the same data', async () => {
    const first = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
    const client = new Redis(first.url, { retryStrategy: () => null });
    client.on('error', () => {});
    await client.set('kept', 'yes');
    await first.kill();
    const second = await startRedis({ dir: first.dir, port: first.port, args: ['--appendonly', 'yes'] });
    const again = new Redis(second.url);
    expect(await again.get('kept')).toBe('yes');
    await again.quit();
    client.disconnect();
    await second.stop();
    await rm(first.dir, { recursive: true });
  });
});
