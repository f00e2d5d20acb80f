import { describe, it } from 'vitest';
import { cacheRunBackend } from '../../src/backends/cache.js';
import { type CacheAdapter, CachedAgentRunStore, InMemoryAgentRunStore } from '../../src/index.js';
import { describeRunBackend, describeRunStore } from '../../src/testing/index.js';
import { aMapCache } from './caches.js';

const runner = { describe, it };
/** Fixed, so that a run of the suite says something of the code and nothing of the dice; any other holds as well. */
const SEED = 20_261_130;
const structured = { ttl: true, retrySafe: false, payload: 'structured' } as const;

describeRunStore(
  {
    name: 'InMemoryAgentRunStore',
    capabilities: { ...structured, atomicConsume: 'process' },
    async open({ ttlSeconds }) {
      const clock = aClock();
      return {
        store: new InMemoryAgentRunStore({ ttlSeconds, now: clock.now }),
        advance: clock.advance,
        close: async () => {},
      };
    },
  },
  { runner },
);

describeRunStore(
  {
    name: 'CachedAgentRunStore over a cache without take',
    capabilities: { ...structured, atomicConsume: 'process' },
    open: async ({ ttlSeconds }) => openCached(ttlSeconds, ({ take: _, ...cache }) => cache),
  },
  { runner },
);

describeRunStore(
  {
    name: 'CachedAgentRunStore over a cache with take',
    capabilities: { ...structured, atomicConsume: 'process' },
    open: async ({ ttlSeconds }) => openCached(ttlSeconds, (cache) => cache),
  },
  { runner },
);

describeRunBackend(
  {
    name: 'the cache driver, over a cache with take',
    async open() {
      const clock = aClock();
      const cache = aMapCache(clock.now);
      return {
        backend: cacheRunBackend({ cache, now: clock.now }),
        connect: async () => cacheRunBackend({ cache, now: clock.now }),
        advance: clock.advance,
        close: async () => {},
      };
    },
  },
  { runner, model: { seed: SEED } },
);

function openCached(ttlSeconds: number, only: (cache: Required<CacheAdapter>) => CacheAdapter) {
  const clock = aClock();
  const cache = only(aMapCache(clock.now));
  const open = () => new CachedAgentRunStore({ cache, ttlSeconds, now: clock.now });
  return { store: open(), connect: async () => open(), advance: clock.advance, close: async () => {} };
}

function aClock() {
  let now = 1_700_000_000_000;
  return {
    now: () => now,
    async advance(ms: number) {
      now += ms;
    },
  };
}
