import { findRedis } from '@mcp-interlock/test-kit/redis';
import { Cluster as Cluster6 } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { redisRunBackend } from '../../src/redis.js';
import { describeRunBackend } from '../../src/testing/index.js';
import { type RedisCluster, startCluster } from './redis-cluster.js';

type Client = Cluster5 | Cluster6;

/** A URL is not enough: it takes three servers of one's own. */
const binary = findRedis({ ...process.env, REDIS_URL: '' }).kind === 'binary';

describe.skipIf(!binary)('on a Redis Cluster of three masters', () => {
  let cluster: RedisCluster;
  const clients: Client[] = [];
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await cluster.stop();
  });

  const generations: [string, () => Client][] = [
    ['ioredis 5', () => new Cluster5([...cluster.nodes])],
    ['ioredis 6', () => new Cluster6([...cluster.nodes])],
  ];
  for (const [name, connect] of generations) {
    // Connecting to a cluster takes a while: one client for all places of a generation, and one more beside it.
    const opened: Client[] = [];
    const client = (index: 0 | 1): Client => {
      const known = opened[index] ?? connect();
      if (opened[index] === undefined) clients.push(known);
      opened[index] = known;
      return known;
    };
    describeRunBackend(
      {
        name: `the Redis driver on a Cluster of ${name}`,
        async open() {
          let skew = 0;
          const now = () => Date.now() + skew;
          return {
            backend: redisRunBackend({ client: client(0), now }),
            connect: async () => redisRunBackend({ client: client(1), now }),
            async advance(ms) {
              skew += ms;
              await age(client(0), ms);
            },
            close: async () =>
              void (await Promise.all(
                client(0)
                  .nodes('master')
                  .map((node) => node.flushdb()),
              )),
          };
        },
      },
      { runner: { describe, it }, model: { numRuns: 20, seed: 20_261_130 } },
    );
  }
});

/** Brings every key with a life `ms` milliseconds nearer to its end. */
async function age(cluster: Client, ms: number): Promise<void> {
  for (const node of cluster.nodes('master')) {
    for (const key of await node.keys('*')) {
      const end = Number(await node.call('PEXPIRETIME', key));
      if (end > 0) await node.pexpireat(key, end - ms);
    }
  }
}
