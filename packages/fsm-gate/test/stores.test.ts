/** The kit on every store, and on stores that are broken in one way each. */
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { redisGateStore } from '../src/redis.js';
import { type GateStore, memoryGateStore, serialisedStore } from '../src/sessions/index.js';
import { gateStoreChecks, type StoreUnderTest } from '../src/testing/index.js';
import { aStateStore } from './helpers.js';

function aMemoryStore(wrap: (store: GateStore) => GateStore = (store) => store): StoreUnderTest {
  let time = 1_000_000;
  const store = wrap(memoryGateStore({ now: () => time }));
  return {
    store,
    advance: (ms) => {
      time += ms;
    },
  };
}

describe('the memory store', () => {
  for (const { name, run } of gateStoreChecks(() => aMemoryStore())) it(name, run);
});

describe('a load/save store, serialised in one process', () => {
  const open = (): StoreUnderTest => {
    let time = 1_000_000;
    const store = serialisedStore(aStateStore(), { now: () => time });
    return {
      store,
      advance: (ms) => {
        time += ms;
      },
    };
  };
  // It keeps nothing of a commit that ended, so it cannot tell a repeated one from a late one.
  const beyond = /repeated commit|sequence of operations/;
  for (const { name, run } of gateStoreChecks(open)) if (!beyond.test(name)) it(name, run);
});

const url = inject('redisUrl');

describe.skipIf(!url)('the Redis store, on one connection of ioredis 6 and one of ioredis 5', () => {
  let clients: (Redis | Redis5)[] = [];
  let opened = 0;
  beforeAll(() => {
    clients = [new Redis(String(url)), new Redis5(String(url))];
  });
  afterAll(() => {
    for (const client of clients) client.disconnect();
  });

  const open = (): StoreUnderTest => {
    let time = 1_000_000;
    opened += 1;
    const options = { prefix: `interlock:test:kit:${opened}:${crypto.randomUUID()}:`, now: () => time };
    const [one, two] = clients.map((client) => redisGateStore({ ...options, client }));
    return {
      store: one!,
      other: two!,
      advance: (ms) => {
        time += ms;
      },
    };
  };
  for (const { name, run } of gateStoreChecks(open)) it(name, run);
});

describe('the kit turns down a store that', () => {
  const broken: Record<string, (store: GateStore) => GateStore> = {
    'grants a session twice': (store) => ({
      ...store,
      reserve: async (key, request) => {
        const outcome = await store.reserve(key, request);
        return outcome.kind === 'held' ? { kind: 'granted', session: outcome.session, fence: 999 } : outcome;
      },
    }),
    'checks first and takes later': (store) => ({
      ...store,
      reserve: async (key, request) => {
        const seen = await store.read(key);
        await Promise.resolve();
        const outcome = await store.reserve(key, request);
        return outcome.kind === 'held' && !seen ? { kind: 'granted', session: outcome.session, fence: 7 } : outcome;
      },
    }),
    'writes late commits': (store) => ({
      ...store,
      commit: async (key, fence, snapshot) => {
        const outcome = await store.commit(key, fence, snapshot);
        if (outcome.kind === 'committed') return outcome;
        return { kind: 'committed', version: (await store.force(key, snapshot)).version };
      },
    }),
    'forgets what it committed': (store) => ({ ...store, commit: async () => ({ kind: 'committed', version: 1 }) }),
    'does not renew': (store) => ({ ...store, renew: async () => true }),
    'never releases': (store) => ({ ...store, release: async () => undefined }),
    'ignores the wanted states': (store) => ({
      ...store,
      reserve: (key, request) => store.reserve(key, { ...request, onlyIn: undefined }),
    }),
    'reuses fences': (store) => ({
      ...store,
      reserve: async (key, request) => {
        const outcome = await store.reserve(key, request);
        return outcome.kind === 'granted' ? { ...outcome, fence: 1 } : outcome;
      },
    }),
    'keeps the version': (store) => ({
      ...store,
      read: async (key) => {
        const session = await store.read(key);
        return session && { ...session, version: 1 };
      },
      force: async (key, snapshot) => ({ ...(await store.force(key, snapshot)), version: 1 }),
    }),
    'lets the holder survive force': (store) => {
      const forced = new Map<string, { fence: number }>();
      return {
        ...store,
        reserve: async (key, request) => {
          const outcome = await store.reserve(key, request);
          if (outcome.kind === 'granted') forced.set(key, outcome);
          return outcome;
        },
        force: async (key, snapshot) => {
          const { fence } = forced.get(key) ?? { fence: 0 };
          const outcome = await store.commit(key, fence, snapshot);
          return outcome.kind === 'committed' ? { snapshot, version: outcome.version } : store.force(key, snapshot);
        },
      };
    },
    'mixes up keys': (store) => ({ ...store, read: (key) => store.read(key.toLowerCase()) }),
    'hands out what it stores': (store) => {
      const shared = new Map<string, Awaited<ReturnType<GateStore['read']>>>();
      return {
        ...store,
        read: async (key) => {
          if (!shared.has(key)) shared.set(key, await store.read(key));
          return shared.get(key);
        },
      };
    },
  };

  it.each(Object.entries(broken))('%s', async (_, breakIt) => {
    const outcomes = await Promise.allSettled(gateStoreChecks(() => aMemoryStore(breakIt)).map(({ run }) => run()));
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
  });
});
