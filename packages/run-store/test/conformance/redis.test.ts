import { describe, inject, it } from 'vitest';
import { RedisAgentRunStore, redisRunBackend } from '../../src/redis.js';
import { describeRunBackend, describeRunStore, forkStore } from '../../src/testing/index.js';
import { proxyTo } from '../faults/lines.js';
import { aRedisPlace, GENERATIONS } from './redis-places.js';

const url = inject('redisUrl') ?? '';
const runner = { describe, it };
/** Fixed, so that a run of the suite says something of the code and nothing of the dice; any other holds as well. */
const SEED = 20_261_130;
/** Databases that no other test file uses. */
const [STORE_DB, BACKEND_DB] = [11, 12];

describe.skipIf(!url)('on a real Redis', () => {
  for (const [name, open] of GENERATIONS) {
    describeRunBackend(
      {
        name: `the Redis driver on ${name}`,
        async open() {
          const place = aRedisPlace(() => open(url, BACKEND_DB));
          let skew = 0;
          const now = () => Date.now() + skew;
          return {
            backend: redisRunBackend({ client: place.client, now }),
            connect: async () => redisRunBackend({ client: place.connect(), now }),
            async advance(ms) {
              skew += ms;
              await place.age(ms);
            },
            close: place.close,
          };
        },
      },
      { runner, model: { seed: SEED } },
    );

    describeRunStore(
      {
        name: `RedisAgentRunStore on ${name}`,
        capabilities: { atomicConsume: 'shared', ttl: true, retrySafe: true, payload: 'structured' },
        async open({ ttlSeconds }) {
          const place = aRedisPlace(() => open(url, STORE_DB));
          const closing: (() => Promise<unknown>)[] = [place.close];
          const aStore = (client = place.connect()) => new RedisAgentRunStore({ client, ttlSeconds });
          return {
            store: aStore(place.client),
            connect: async () => aStore(),
            async connectFromProcess() {
              const module = new URL('./redis-process.ts', import.meta.url);
              const child = await forkStore({ module, args: [url, `${STORE_DB}`], execArgv: ['--import', 'tsx'] });
              closing.unshift(() => child.kill());
              return child;
            },
            async unreliable() {
              const proxy = await proxyTo(url);
              const client = open(`redis://${proxy.host}:${proxy.port}`, STORE_DB);
              client.on('error', () => {});
              closing.unshift(async () => {
                client.disconnect();
                await proxy.stop();
              });
              return {
                store: aStore(client),
                loseNextRequest: () => void proxy.arm({ at: 'request', effect: 'cut' }),
                loseNextReply: () => void proxy.arm({ at: 'reply', effect: 'cut' }),
              };
            },
            advance: place.age,
            async close() {
              for (const close of closing) await close();
            },
          };
        },
      },
      { runner },
    );
  }
});
