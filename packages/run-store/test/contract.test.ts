import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  type AgentRunStore,
  type CacheAdapter,
  CachedAgentRunStore,
  CachedSubAgentRunStore,
  InMemoryAgentRunStore,
  InMemorySubAgentRunStore,
  newAgentRunId,
} from '../src/index.js';
import { aClock, aPausedRun } from './support/runs.js';

class MapCache implements CacheAdapter {
  readonly entries = new Map<string, unknown>();
  readonly lives: (number | undefined)[] = [];
  async get<T>(key: string): Promise<T | null> {
    return (this.entries.get(key) ?? null) as T | null;
  }
  async set(key: string, value: unknown, ttlSeconds?: number): Promise<void> {
    this.lives.push(ttlSeconds);
    this.entries.set(key, value);
  }
  async forget(key: string): Promise<void> {
    this.entries.delete(key);
  }
}

class TakingCache extends MapCache {
  async take<T>(key: string): Promise<T | null> {
    const value = await this.get<T>(key);
    await this.forget(key);
    return value;
  }
}

const stores: Record<string, () => AgentRunStore> = {
  InMemoryAgentRunStore: () => new InMemoryAgentRunStore(),
  InMemorySubAgentRunStore: () => new InMemorySubAgentRunStore(),
  CachedAgentRunStore: () => new CachedAgentRunStore({ cache: new MapCache() }),
  'CachedAgentRunStore with take': () => new CachedAgentRunStore({ cache: new TakingCache() }),
  CachedSubAgentRunStore: () => new CachedSubAgentRunStore({ cache: new MapCache() }),
};

describe.each(Object.entries(stores))('%s', (_, create) => {
  it('gives back what was stored, as often as it is loaded', async () => {
    const store = create();
    await store.store('run-1', aPausedRun());
    expect(await store.load('run-1')).toEqual(aPausedRun());
    expect(await store.load('run-1')).toEqual(aPausedRun());
  });

  it('hands a run out once', async () => {
    const store = create();
    await store.store('run-1', aPausedRun());
    expect(await store.consume('run-1')).toEqual(aPausedRun());
    expect(await store.consume('run-1')).toBeNull();
    expect(await store.load('run-1')).toBeNull();
  });

  it('has one winner among concurrent callers', async () => {
    const store = create();
    await store.store('run-1', aPausedRun());
    const answers = await Promise.all(Array.from({ length: 16 }, () => store.consume('run-1')));
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
  });

  it('answers null for a run that it never saw', async () => {
    const store = create();
    expect(await store.load(newAgentRunId())).toBeNull();
    expect(await store.consume(newAgentRunId())).toBeNull();
  });

  it('keeps no hold of the caller’s objects', async () => {
    const store = create();
    const state = aPausedRun();
    await store.store('run-1', state);
    state.messages.push({ role: 'user', content: 'later' });
    const peeked = await store.load('run-1');
    peeked?.pendingToolCallIds.push('forged');
    expect(await store.consume('run-1')).toEqual(aPausedRun());
  });

  it('reads a state without a pause kind', async () => {
    const store = create();
    const { pauseKind: _, ...older } = aPausedRun();
    await store.store('run-1', older);
    expect(await store.load('run-1')).toEqual(older);
  });

  it.each(['', 'a\u0000b', 'line\nbreak', '\ud800', 'x'.repeat(513)])(
    'refuses the run id %j by name',
    async (runId) => {
      const store = create();
      await expect(store.store(runId, aPausedRun())).rejects.toMatchObject({ code: 'INVALID_RUN_ID' });
      await expect(store.consume(runId)).rejects.toMatchObject({ code: 'INVALID_RUN_ID' });
    },
  );

  it('keeps ids apart that look alike', async () => {
    const store = create();
    const lookalikes = ['a:b', 'a', 'a:', '{a}:v', '*', 'a\u0301', 'á'];
    for (const [i, id] of lookalikes.entries()) await store.store(id, aPausedRun({ stepsSoFar: i }));
    for (const [i, id] of lookalikes.entries()) expect(await store.consume(id)).toMatchObject({ stepsSoFar: i });
  });
});

describe('a cached store', () => {
  it('asks the cache for five minutes unless told otherwise, and for none on load', async () => {
    const cache = new MapCache();
    await new CachedAgentRunStore({ cache }).store('run-1', aPausedRun());
    const patient = new CachedAgentRunStore({ cache, ttlSeconds: 60 });
    await patient.store('run-2', aPausedRun());
    await patient.store('run-3', aPausedRun(), { ttlSeconds: 7 });
    await patient.load('run-2');
    expect(cache.lives).toEqual([300, 60, 7]);
  });

  it('writes under its prefix, and never the run id', async () => {
    const cache = new MapCache();
    await new CachedAgentRunStore({ cache }).store('secret-run', aPausedRun());
    await new CachedSubAgentRunStore({ cache }).store('secret-run', aPausedRun());
    await new CachedAgentRunStore({ cache, keyPrefix: 'mine:' }).store('secret-run', aPausedRun());
    expect([...cache.entries.keys()].map((key) => key.replace(/\{.*/, ''))).toEqual([
      'interlock:agent-run:',
      'interlock:sub-agent-run:',
      'mine:',
    ]);
    expect(JSON.stringify([...cache.entries])).not.toContain('secret-run');
  });

  it('takes a miss that the cache answers with undefined for null', async () => {
    const cache = new MapCache();
    cache.get = async () => undefined as never;
    expect(await new CachedAgentRunStore({ cache }).load('run-1')).toBeNull();
  });

  it('lets a run end on time although the cache ignores lives', async () => {
    const clock = aClock();
    const store = new CachedAgentRunStore({ cache: new MapCache(), ttlSeconds: 10, now: clock.now });
    await store.store('run-1', aPausedRun());
    clock.advance(9_999);
    expect(await store.load('run-1')).not.toBeNull();
    clock.advance(1);
    expect(await store.load('run-1')).toBeNull();
    expect(await store.consume('run-1')).toBeNull();
  });

  it('serialises consume over two stores on one cache without take', async () => {
    const cache = new MapCache();
    const two = [new CachedAgentRunStore({ cache }), new CachedAgentRunStore({ cache })] as const;
    await two[0].store('run-1', aPausedRun());
    const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => two[(i % 2) as 0 | 1].consume('run-1')));
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
  });

  it.each(['cancel', 'touch', 'consume'] as const)(
    'a %s with a scope leaves the run that another process stored between the look and the write',
    async (act) => {
      const cache = new TakingCache();
      const store = new CachedAgentRunStore({ cache });
      const [ann, bob] = [
        { tenant: 'acme', principal: 'ann' },
        { tenant: 'acme', principal: 'bob' },
      ];
      const elsewhere = new CachedAgentRunStore({ cache: Object.assign(new MapCache(), { entries: cache.entries }) });
      await store.store('run-1', aPausedRun(), { scope: ann });
      const { get } = cache;
      let looks = 0;
      cache.get = async <T>(key: string): Promise<T | null> => {
        const seen = await get.call(cache, key);
        looks += 1;
        // The engine has looked at the scope, the driver at the stamp; whatever comes next writes.
        if (looks === 2) await elsewhere.store('run-1', aPausedRun({ meta: 'bob' }), { scope: bob });
        return seen as T | null;
      };
      expect([false, null]).toContain(await store[act]('run-1', { scope: ann }));
      expect(looks).toBeGreaterThan(1);
      expect(await elsewhere.load('run-1', { scope: bob })).toEqual(aPausedRun({ meta: 'bob' }));
    },
  );

  it('refuses a cache without take where atomic is required', () => {
    const required = { cache: new MapCache(), requireAtomic: true };
    expect(() => new CachedAgentRunStore(required)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    expect(() => new CachedAgentRunStore({ cache: new TakingCache(), requireAtomic: true })).not.toThrow();
  });

  it('says that the outcome is unknown when the cache fails to answer a take, never null', async () => {
    const cache = new TakingCache();
    const store = new CachedAgentRunStore({ cache });
    await store.store('run-1', aPausedRun());
    cache.take = () => Promise.reject(new Error('connection lost'));
    await expect(store.consume('run-1')).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      message: expect.stringContaining('cannot hand out again'),
    });
    cache.get = () => Promise.reject(new Error('connection lost'));
    await expect(store.load('run-1')).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
  });

  it('leaves what it cannot read in the cache', async () => {
    const cache = new TakingCache();
    const store = new CachedAgentRunStore({ cache });
    cache.entries.set(await store.keyOf('run-1'), 'not a run');
    await expect(store.consume('run-1')).rejects.toMatchObject({ code: 'RUN_CORRUPT' });
    expect(cache.entries.get(await store.keyOf('run-1'))).toBe('not a run');
  });
});

describe('an in-memory store', () => {
  it('keeps runs for ever unless it is given a life', async () => {
    const clock = aClock();
    const [patient, brief] = [
      new InMemoryAgentRunStore({ now: clock.now }),
      new InMemoryAgentRunStore({ ttlSeconds: 1, now: clock.now }),
    ];
    await patient.store('run-1', aPausedRun());
    await brief.store('run-1', aPausedRun());
    clock.advance(365 * 86_400_000);
    expect(await patient.load('run-1')).not.toBeNull();
    expect(await brief.load('run-1')).toBeNull();
  });

  it('lets the oldest run make room', async () => {
    const store = new InMemoryAgentRunStore({ maxRuns: 2 });
    for (const id of ['a', 'b', 'c']) await store.store(id, aPausedRun());
    expect(store.size).toBe(2);
    expect(store.counters.evicted).toBe(1);
    expect(await store.load('a')).toBeNull();
    expect(await store.load('c')).not.toBeNull();
  });

  it('lets what is over make room before what still waits', async () => {
    const clock = aClock();
    const store = new InMemoryAgentRunStore({ maxRuns: 2, now: clock.now });
    await store.store('patient', aPausedRun());
    await store.store('brief', aPausedRun(), { ttlSeconds: 1 });
    clock.advance(1_000);
    await store.store('next', aPausedRun());
    expect(await store.load('patient')).not.toBeNull();
    expect(store.counters.evicted).toBe(0);
  });

  it('counts its runs rightly through whatever happens to them', async () => {
    const step = fc.record({
      act: fc.constantFrom('store', 'consume', 'claim', 'cancel', 'advance', 'again'),
      id: fc.constantFrom('a', 'b', 'c', 'd'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const clock = aClock();
        const store = new InMemoryAgentRunStore({ maxRuns: 3, ttlSeconds: 10, now: clock.now });
        for (const { act, id } of steps) {
          if (act === 'store') await store.store(id, aPausedRun());
          else if (act === 'consume') await store.consume(id);
          else if (act === 'claim') await store.claim(id, { leaseMs: 2_000, owner: 'w' });
          else if (act === 'cancel') await store.cancel(id);
          else if (act === 'advance') clock.advance(3_000);
          else store.clear();
        }
        const kept = await Promise.all(['a', 'b', 'c', 'd'].map((id) => store.load(id)));
        // A run stored anew while its predecessor is claimed counts twice.
        expect(store.size).toBeGreaterThanOrEqual(kept.filter((run) => run !== null).length);
        store.clear();
        expect(store.size).toBe(0);
      }),
    );
  });

  it('forgets everything when cleared', async () => {
    const store = new InMemoryAgentRunStore();
    await store.store('a', aPausedRun());
    store.clear();
    expect(await store.load('a')).toBeNull();
  });

  it('does not grow with runs that expired unseen', async () => {
    const clock = aClock();
    const store = new InMemoryAgentRunStore({ ttlSeconds: 1, now: clock.now });
    for (let i = 0; i < 5_000; i++) {
      await store.store(`run-${i}`, aPausedRun());
      clock.advance(1_000);
    }
    expect(store.size).toBeLessThan(2);
  });
});

describe('a run id', () => {
  it('is a fresh UUID', () => {
    expect(newAgentRunId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(newAgentRunId()).not.toBe(newAgentRunId());
  });

  it('comes from getRandomValues where there is no randomUUID, and from nowhere else', () => {
    vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array) => bytes.fill(7) });
    expect(newAgentRunId()).toMatch(/^[\w-]{22}$/);
    vi.stubGlobal('crypto', undefined);
    expect(() => newAgentRunId()).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
    vi.unstubAllGlobals();
  });
});
