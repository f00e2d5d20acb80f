import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentRunState,
  createRunStore,
  InMemoryAgentRunStore,
  type ListedRun,
  memoryRunBackend,
  newAgentRunId,
  type RunEvent,
  type RunStore,
  type RunStoreOptions,
} from '../src/index.js';
import { nodeRuntime } from '../src/node.js';
import { backends, type TestBackend } from './support/backends.js';
import { aClock, aPausedRun } from './support/runs.js';

const encryption = { activeKeyId: 'k1', keys: { k1: new Uint8Array(32).fill(7) } };

describe.each(Object.entries(backends))('operating a store on %s', (_, open) => {
  const clock = aClock();
  let opened: TestBackend;
  let runs: RunStore<AgentRunState>;
  const storeWith = (options: Partial<RunStoreOptions<AgentRunState>> = {}): RunStore<AgentRunState> =>
    createRunStore<AgentRunState>({
      backend: opened.backend,
      runtime: nodeRuntime,
      now: clock.now,
      encryption,
      ...options,
    });
  beforeAll(async () => {
    opened = await open(clock);
    runs = storeWith({ ttlSeconds: 100 });
  });
  afterAll(() => opened.close());

  const allPages = async (query: Parameters<typeof runs.list>[0]): Promise<ListedRun[]> => {
    const found: ListedRun[] = [];
    let cursor: string | undefined;
    do {
      const page = await runs.list({ ...query, cursor });
      expect(page.runs.length).toBeLessThanOrEqual(query.limit ?? 50);
      found.push(...page.runs);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return found;
  };

  it('lets a run live as long as the store says, or as long as it was given', async () => {
    const [usual, brief] = [newAgentRunId(), newAgentRunId()];
    await runs.store(usual, aPausedRun());
    await runs.store(brief, aPausedRun(), { ttlSeconds: 1 });
    clock.advance(999);
    expect(await runs.load(brief)).not.toBeNull();
    clock.advance(1);
    expect(await runs.load(brief)).toBeNull();
    expect(await runs.consume(brief)).toBeNull();
    clock.advance(98_999);
    expect(await runs.load(usual)).not.toBeNull();
    clock.advance(1);
    expect(await runs.load(usual)).toBeNull();
  });

  it('prolongs a run by touch, and never by load', async () => {
    const id = newAgentRunId();
    await runs.store(id, aPausedRun());
    clock.advance(99_000);
    await runs.load(id);
    expect(await runs.touch(id)).toBe(true);
    clock.advance(99_000);
    expect(await runs.load(id)).not.toBeNull();
    expect(await runs.touch(id, { ttlSeconds: 2 })).toBe(true);
    clock.advance(2_000);
    expect(await runs.touch(id)).toBe(false);
  });

  it('keeps a touched run listed', async () => {
    const [id, tenant] = [newAgentRunId(), newAgentRunId()];
    await runs.store(id, aPausedRun(), { scope: { tenant } });
    await runs.touch(id, { ttlSeconds: 1_000 });
    clock.advance(500_000);
    expect(await allPages({ tenant })).toMatchObject([{ runId: id, expiresInSeconds: 500 }]);
  });

  it('lists what waits for a tenant, a principal or of a kind, page by page', async () => {
    const tenant = newAgentRunId();
    const stored: string[] = [];
    for (let i = 0; i < 25; i++) {
      const id = newAgentRunId();
      stored.push(id);
      const principal = i % 2 === 0 ? 'ada' : 'bob';
      const pauseKind = i % 5 === 0 ? 'client_tool' : 'approval';
      await runs.store(id, aPausedRun({ pauseKind }), { scope: { tenant, principal, threadId: `t${i}` } });
    }
    await runs.store(newAgentRunId(), aPausedRun(), { scope: { tenant: 'another' } });
    const ids = (listed: readonly ListedRun[]): string[] => listed.map(({ runId }) => runId).sort();
    const where = (pick: (i: number) => boolean): string[] => stored.filter((_, i) => pick(i)).sort();
    expect(ids(await allPages({ tenant, limit: 7 }))).toEqual(where(() => true));
    expect(ids(await allPages({ tenant, principal: 'ada', limit: 3 }))).toEqual(where((i) => i % 2 === 0));
    expect(ids(await allPages({ tenant, principal: 'bob', kind: 'client_tool' }))).toEqual(where((i) => i % 10 === 5));
    expect(ids(await allPages({ tenant, kind: 'client_tool', limit: 2 }))).toEqual(where((i) => i % 5 === 0));
    const [first] = (await runs.list({ tenant, principal: 'ada', limit: 1 })).runs;
    expect(first).toMatchObject({ scope: { tenant, principal: 'ada' }, status: 'waiting' });
    expect(first!.expiresInSeconds).toBeLessThanOrEqual(100);
  });

  it('lists neither what was taken, cancelled or expired, nor what a re-stored run was before', async () => {
    const tenant = newAgentRunId();
    const [taken, cancelled, expired, moved, kept] = Array.from({ length: 5 }, newAgentRunId) as [
      string,
      string,
      string,
      string,
      string,
    ];
    for (const id of [taken, cancelled, moved, kept])
      await runs.store(id, aPausedRun(), { scope: { tenant, principal: 'ada' } });
    await runs.store(expired, aPausedRun(), { scope: { tenant, principal: 'ada' }, ttlSeconds: 1 });
    await runs.consume(taken);
    await runs.cancel(cancelled);
    await runs.store(moved, aPausedRun(), { scope: { tenant, principal: 'bob' } });
    clock.advance(1_000);
    const adas = await allPages({ tenant, principal: 'ada' });
    expect(adas.map(({ runId }) => runId)).toEqual([kept]);
    expect((await allPages({ tenant, principal: 'bob' })).map(({ runId }) => runId)).toEqual([moved]);
  });

  it('says of a listed run whether somebody works on it', async () => {
    const [id, tenant] = [newAgentRunId(), newAgentRunId()];
    await runs.store(id, aPausedRun(), { scope: { tenant } });
    await runs.claim(id, { leaseMs: 1_000, owner: 'w' });
    expect((await runs.list({ tenant })).runs).toMatchObject([{ status: 'claimed' }]);
    clock.advance(1_000);
    expect((await runs.list({ tenant })).runs).toMatchObject([{ status: 'waiting' }]);
  });

  it('refuses a cursor that no page came with', async () => {
    for (const cursor of ['', 'x', '-1', "1' OR '1'='1", 'a.b.c']) {
      const listed = runs.list({ tenant: 'acme', cursor });
      await expect(listed.then(({ runs: found }) => found)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    }
  });

  it('erases a tenant, with claimed runs, partial decisions and outcomes, and nobody else’s', async () => {
    const [gone, stays] = [newAgentRunId(), newAgentRunId()];
    const ids = Array.from({ length: 12 }, newAgentRunId);
    for (const [i, id] of ids.entries()) {
      await runs.store(id, aPausedRun({ pendingToolCallIds: ['a', 'b'] }), {
        scope: { tenant: gone, principal: `p${i % 3}` },
      });
    }
    const other = newAgentRunId();
    await runs.store(other, aPausedRun(), { scope: { tenant: stays } });
    const claim = await runs.claim(ids[0]!, { leaseMs: 60_000, owner: 'w' });
    await runs.resume(ids[1]!, { approved: ['a'] }, { tenant: gone, principal: 'p1' }, { mode: 'partial' });
    expect(await runs.eraseTenant(gone)).toBe(12);
    for (const id of ids) expect(await runs.load(id)).toBeNull();
    expect(await allPages({ tenant: gone })).toEqual([]);
    expect(await runs.load(other)).not.toBeNull();
    if (claim.kind !== 'claimed') throw new Error(claim.kind);
    await expect(claim.claim.ack()).rejects.toMatchObject({ code: 'STALE_FENCE' });
  });

  it('sweeps what has expired, and counts it', async () => {
    await runs.sweep();
    const expired = runs.counters.expired;
    for (let i = 0; i < 5; i++) await runs.store(newAgentRunId(), aPausedRun(), { ttlSeconds: 1 });
    await runs.store(newAgentRunId(), aPausedRun(), { ttlSeconds: 10_000 });
    clock.advance(1_000);
    expect(await runs.sweep({ limit: 3 })).toBe(3);
    expect(await runs.sweep()).toBe(2);
    expect(await runs.sweep()).toBe(0);
    expect(runs.counters.expired - expired).toBe(5);
  });

  it('refuses to replace a run when it is to be the first of its id', async () => {
    const id = newAgentRunId();
    await runs.store(id, aPausedRun(), { ifAbsent: true });
    await expect(runs.store(id, aPausedRun({ stepsSoFar: 9 }), { ifAbsent: true })).rejects.toMatchObject({
      code: 'RUN_EXISTS',
    });
    expect(await runs.consume(id)).toEqual(aPausedRun());
    await runs.store(id, aPausedRun({ stepsSoFar: 9 }), { ifAbsent: true });
    expect(await runs.load(id)).toMatchObject({ stepsSoFar: 9 });
  });

  it('puts back what it took and could not read, for whoever can', async () => {
    const [id, tenant] = [newAgentRunId(), newAgentRunId()];
    const rotated = { activeKeyId: 'k2', keys: { ...encryption.keys, k2: new Uint8Array(32).fill(8) } };
    await storeWith({ encryption: rotated }).store(id, aPausedRun(), { scope: { tenant } });
    await expect(runs.consume(id)).rejects.toMatchObject({ code: 'RUN_UNREADABLE' });
    await expect(runs.claim(id, { leaseMs: 60_000, owner: 'w' })).rejects.toMatchObject({ code: 'RUN_UNREADABLE' });
    await expect(runs.load(id)).rejects.toMatchObject({ code: 'RUN_UNREADABLE' });
    expect((await storeWith({ encryption: rotated }).list({ tenant })).runs).toMatchObject([{ runId: id }]);
    expect(await storeWith({ encryption: rotated }).consume(id)).toEqual(aPausedRun());
  });

  it('lists what it can read, and tells of what it cannot', async () => {
    const [hidden, shown, tenant] = [newAgentRunId(), newAgentRunId(), newAgentRunId()];
    const rotated = { activeKeyId: 'k2', keys: { k2: new Uint8Array(32).fill(8) } };
    await storeWith({ encryption: rotated }).store(hidden, aPausedRun(), { scope: { tenant } });
    await runs.store(shown, aPausedRun(), { scope: { tenant } });
    const unreadable = runs.counters.unreadable;
    expect((await allPages({ tenant })).map(({ runId }) => runId)).toEqual([shown]);
    expect(runs.counters.unreadable).toBe(unreadable + 1);
  });

  it('keeps a run that never expires', async () => {
    const [id, tenant] = [newAgentRunId(), newAgentRunId()];
    const forever = storeWith({ ttlSeconds: 'never' });
    await forever.store(id, aPausedRun(), { scope: { tenant } });
    clock.advance(3_650 * 86_400_000);
    const [listed] = (await forever.list({ tenant })).runs;
    expect(listed).not.toHaveProperty('expiresInSeconds');
    expect(await forever.consume(id)).toEqual(aPausedRun());
  });
});

describe('a store', () => {
  it('writes nothing that a redaction has removed, and leaves the caller’s state alone', async () => {
    const runs = createRunStore<AgentRunState>({
      backend: memoryRunBackend(),
      redact: (state) => ({ ...state, meta: undefined }),
    });
    const state = aPausedRun({ meta: { authorization: 'Bearer secret' } });
    await runs.store('run', state);
    expect(state.meta).toEqual({ authorization: 'Bearer secret' });
    expect(await runs.load('run')).toMatchObject({ meta: undefined });
  });

  it('brings an older state to its schema, step by step, and refuses a newer one', async () => {
    const backend = memoryRunBackend();
    const at = (schemaVersion: number, migrations = {}): RunStore<unknown> =>
      createRunStore({ backend, schemaVersion, migrations });
    const migrations = {
      1: (state: unknown) => ({ ...(state as object), b: 2 }),
      2: (state: unknown) => ({ ...(state as object), c: 3 }),
    };
    await at(1).store('run', { a: 1 });
    expect(await at(3, migrations).load('run')).toEqual({ a: 1, b: 2, c: 3 });
    await expect(at(4, migrations).load('run')).rejects.toMatchObject({ code: 'RUN_VERSION_UNKNOWN' });
    await at(3, migrations).store('newer', { a: 1 });
    await expect(at(2, migrations).load('newer')).rejects.toMatchObject({ code: 'RUN_VERSION_UNKNOWN' });
    await expect(at(2, migrations).consume('newer')).rejects.toMatchObject({ code: 'RUN_VERSION_UNKNOWN' });
    expect(await at(3, migrations).consume('newer')).toEqual({ a: 1 });
  });

  it('names keys alike on both runtimes, and differently with a secret', async () => {
    const backend = memoryRunBackend();
    const key = (options: Partial<RunStoreOptions<unknown>>): Promise<string> =>
      createRunStore({ backend, ...options }).keyOf('run');
    expect(await key({})).toBe(await key({ runtime: nodeRuntime }));
    expect(await key({})).toMatch(/^interlock:run:\{[\w-]{43}\}$/);
    const keySecret = 'a secret of the host';
    expect(await key({ keySecret })).toBe(await key({ keySecret, runtime: nodeRuntime }));
    expect(await key({ keySecret })).not.toBe(await key({}));
  });

  it('counts and tells what happens, and outlives a hook that throws', async () => {
    const events: RunEvent[] = [];
    const errors: unknown[] = [];
    const runs = new InMemoryAgentRunStore({
      now: () => 5,
      onEvent: (event) => {
        events.push(event);
        throw new Error('full disk');
      },
      onError: (error) => errors.push(error),
    });
    await runs.store('run', aPausedRun());
    await runs.load('run');
    await runs.consume('run');
    await runs.consume('run');
    const key = await runs.keyOf('run');
    expect(events).toEqual(
      ['stored', 'loaded', 'consumed', 'missed'].map((type) => expect.objectContaining({ type, at: 5, key })),
    );
    expect(runs.counters).toMatchObject({ stored: 1, loaded: 1, consumed: 1, missed: 1 });
    expect(errors).toHaveLength(4);
  });

  it.each<[string, object]>([
    ['ttlSeconds', { ttlSeconds: 0 }],
    ['ttlSeconds', { ttlSeconds: Number.NaN }],
    ['takenCopySeconds', { takenCopySeconds: 86_400 }],
    ['keyPrefix', { keyPrefix: 'with {braces}' }],
    ['keySecret', { keySecret: 'short' }],
    ['schemaVersion', { schemaVersion: 0 }],
    ['maxInflatedBytes', { maxInflatedBytes: 10 }],
    ['index', { index: 'sealed' }],
    ['requireAtomic', { requireAtomic: true }],
  ])('refuses an option that cannot work, by its name: %s', (name, options) => {
    expect(() => createRunStore({ backend: memoryRunBackend(), ...options })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(name) }),
    );
  });

  it('refuses a token that could be guessed, an empty scope field, and a life of no length', async () => {
    const runs = new InMemoryAgentRunStore();
    await expect(runs.consume('run', { token: '1' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(runs.store('run', aPausedRun(), { scope: { tenant: '' } })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
    await expect(runs.store('run', aPausedRun(), { ttlSeconds: -1 })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    await expect(runs.claim('run', { leaseMs: 0, owner: 'w' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});
