import { describe, expect, test } from 'vitest';
import { answerFromHttp } from '../src/http-answer.js';
import {
  createEraResolver,
  createMcpEraCache,
  type EraEvent,
  type EraRecord,
  type EraRequest,
  type EraResolver,
  type EraResolverOptions,
  EraUndeterminedError,
  type MCPEraCache,
  type McpEraProbe,
  type McpEraProbeAnswer,
  resolveMcpEra,
} from '../src/index.js';
import { ServerExitedError } from '../src/stdio.js';
import { ANSWERS, DISCOVER, refusal, result } from './answers.js';
import { aClock, type Clock } from './clock.js';

const HOUR = 3_600_000;
const KEY = 'http:https://a.example';
const MODERN = answerFromHttp({ status: 200, body: result(DISCOVER) });
const LEGACY = answerFromHttp({ status: 400, body: refusal(-32000, 'Server not initialized') });
const DOWN = answerFromHttp({ status: 503, body: '' });
const publicFor = (ttlMs: number): McpEraProbeAnswer => ({
  kind: 'result',
  result: { ...DISCOVER, ttlMs, cacheScope: 'public' },
});

interface Setup {
  resolver: EraResolver;
  clock: Clock;
  events: EraEvent[];
  count(type: EraEvent['type']): number;
  cache: MCPEraCache;
  /** What the server answers from now on. */
  server: { answer: McpEraProbeAnswer; asked: number; probe: McpEraProbe };
  resolve(more?: Partial<EraRequest>): ReturnType<EraResolver['resolve']>;
}

function aResolver(options: EraResolverOptions = {}, answer = MODERN): Setup {
  const clock = aClock();
  const events: EraEvent[] = [];
  const cache = options.cache ?? createMcpEraCache();
  const resolver = createEraResolver({
    cache,
    now: clock.now,
    random: () => 0,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const server: Setup['server'] = {
    answer,
    asked: 0,
    probe: async () => {
      server.asked++;
      return server.answer;
    },
  };
  return {
    resolver,
    clock,
    events,
    cache,
    server,
    count: (type) => events.filter((event) => event.type === type).length,
    resolve: (more) => resolver.resolve({ key: KEY, probe: server.probe, ...more }),
  };
}

/** Lets everything that waits for nothing but other promises come to rest. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('one question per server', () => {
  test('a hundred at once ask once', async () => {
    const { resolve, server, count } = aResolver();
    const all = await Promise.all(Array.from({ length: 100 }, () => resolve()));
    expect(server.asked).toBe(1);
    expect(all.map(({ probes }) => probes).reduce((a, b) => a + b)).toBe(1);
    expect(new Set(all.map(({ era }) => era.kind))).toEqual(new Set(['modern']));
    expect(count('join')).toBe(99);
  });

  test('a hundred one after another ask once', async () => {
    const { resolve, server, count } = aResolver({}, LEGACY);
    for (let i = 0; i < 100; i++) expect((await resolve()).era.kind).toBe('legacy');
    expect(server.asked).toBe(1);
    expect(count('hit')).toBe(99);
  });

  test('those that wait together fail together, after one question', async () => {
    const { resolve, server } = aResolver({}, DOWN);
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => resolve()));
    expect(all.every((one) => one.status === 'rejected' && one.reason instanceof EraUndeterminedError)).toBe(true);
    expect(server.asked).toBe(1);
  });

  test('two servers are asked apart', async () => {
    const { resolve, server } = aResolver();
    await Promise.all([resolve(), resolve({ key: 'http:https://b.example' })]);
    expect(server.asked).toBe(2);
  });

  test('who leaves leaves alone; when the one that asked leaves, another asks', async () => {
    const { resolver } = aResolver();
    const leaving = new AbortController();
    const signals: (AbortSignal | undefined)[] = [];
    const probe: McpEraProbe = (_version, { signal } = {}) => {
      signals.push(signal);
      return signals.length === 1 ? new Promise(() => {}) : Promise.resolve(MODERN);
    };
    const first = resolver.resolve({ key: KEY, probe, signal: leaving.signal });
    await settle();
    const second = resolver.resolve({ key: KEY, probe });
    await settle();
    leaving.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    expect(signals[0]?.aborted).toBe(true);
    expect(await second).toMatchObject({ era: { kind: 'modern' } });
    expect(signals).toHaveLength(2);
  });

  test('a follower who leaves does not disturb the question', async () => {
    const { resolver } = aResolver();
    let answer: (answer: McpEraProbeAnswer) => void = () => {};
    const probe: McpEraProbe = () => new Promise((resolve) => (answer = resolve));
    const leaving = new AbortController();
    const first = resolver.resolve({ key: KEY, probe });
    const second = resolver.resolve({ key: KEY, probe, signal: leaving.signal });
    await settle();
    leaving.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    answer(MODERN);
    expect(await first).toMatchObject({ era: { kind: 'modern' }, probes: 1 });
  });

  test('an aborted caller is not let in at all', async () => {
    const { resolve, server } = aResolver();
    await expect(resolve({ signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    expect(server.asked).toBe(0);
  });
});

describe('a verdict has an age', () => {
  test('a legacy one is asked about after an hour; the old one is used meanwhile, the new one after', async () => {
    const { resolve, server, clock } = aResolver({}, LEGACY);
    await resolve();
    server.answer = MODERN;
    clock.advance(HOUR - 1);
    expect(await resolve()).toMatchObject({ era: { kind: 'legacy' }, fromCache: true });
    expect(server.asked).toBe(1);
    clock.advance(1);
    expect(await resolve()).toMatchObject({ era: { kind: 'legacy' }, fromCache: true, stale: true, probes: 0 });
    await settle();
    expect(server.asked).toBe(2);
    expect(await resolve()).toMatchObject({ era: { kind: 'modern' }, fromCache: true });
    expect(server.asked).toBe(2);
  });

  test('the hour can be another, and is up to a tenth less for the jitter', async () => {
    const { resolve, server, clock } = aResolver({ legacyTtlMs: 1000, random: () => 0.5 }, LEGACY);
    await resolve();
    clock.advance(949);
    expect(await resolve()).not.toHaveProperty('stale');
    clock.advance(1);
    expect(await resolve()).toHaveProperty('stale', true);
    await settle();
    expect(server.asked).toBe(2);
  });

  test('one that rests on silence is asked about after five minutes', async () => {
    const { resolve, server, clock } = aResolver({}, { kind: 'timeout' });
    const stdio = { key: 'stdio:["weather",[],""]' };
    expect(await resolve(stdio)).toMatchObject({ era: { kind: 'legacy' } });
    server.answer = MODERN;
    clock.advance(300_000);
    // Over stdio the question travels on the caller's own pipe: it is asked before, not meanwhile.
    expect(await resolve(stdio)).toMatchObject({ era: { kind: 'modern' }, probes: 1 });
  });

  test('over stdio, who comes while another asks gets the old verdict at once', async () => {
    const { resolver, resolve, clock } = aResolver({}, { kind: 'timeout' });
    const stdio = { key: 'stdio:["weather",[],""]' };
    await resolve(stdio);
    clock.advance(300_000);
    let answer: (answer: McpEraProbeAnswer) => void = () => {};
    const asking = resolver.resolve({ ...stdio, probe: () => new Promise((resolve) => (answer = resolve)) });
    await settle();
    expect(await resolve(stdio)).toMatchObject({ era: { kind: 'legacy' }, stale: true, probes: 0 });
    answer(MODERN);
    expect(await asking).toMatchObject({ era: { kind: 'modern' } });
  });

  test('a modern one is kept for the ttlMs of its DiscoverResult, and that is handed out with it', async () => {
    const { resolve, server, clock } = aResolver({}, publicFor(2 * HOUR));
    await resolve();
    clock.advance(2 * HOUR - 1);
    expect(await resolve()).toMatchObject({
      fromCache: true,
      discover: { capabilities: { tools: {} }, ttlMs: 2 * HOUR },
    });
    expect(server.asked).toBe(1);
    clock.advance(1);
    expect(await resolve()).toMatchObject({ era: { kind: 'modern' }, stale: true });
    await settle();
    expect(server.asked).toBe(2);
  });

  test('a ttlMs of 0 is kept five minutes, one of a year a day', async () => {
    for (const [ttlMs, kept] of [
      [0, 300_000],
      [365 * 24 * HOUR, 24 * HOUR],
    ] as const) {
      const { resolve, clock } = aResolver({}, publicFor(ttlMs));
      await resolve();
      clock.advance(kept - 1);
      expect(await resolve()).not.toHaveProperty('stale');
      clock.advance(1);
      expect(await resolve()).toHaveProperty('stale', true);
    }
  });

  test('a cache that was written by a clock ahead of ours, or by another program, is asked about', async () => {
    for (const times of [{}, { checkedAt: 9e15, expiresAt: 9e15 + 1 }, { checkedAt: Number.NaN, expiresAt: 9e15 }]) {
      const { resolve, server, cache } = aResolver({}, MODERN);
      await cache.set(KEY, { kind: 'legacy', version: '2025-11-25', ...times });
      expect(await resolve()).toMatchObject({ era: { kind: 'legacy' }, stale: true });
      await settle();
      expect(server.asked).toBe(1);
    }
  });

  test('when asking fails meanwhile, the old verdict stands', async () => {
    for (const key of [KEY, 'stdio:["weather",[],""]']) {
      const { resolve, server, clock } = aResolver({}, MODERN);
      await resolve({ key });
      clock.advance(24 * HOUR);
      server.answer = { kind: 'error', error: new TypeError('fetch failed') };
      expect(await resolve({ key })).toMatchObject({ era: { kind: 'modern' }, stale: true });
      await settle();
      expect(await resolve({ key })).toMatchObject({ era: { kind: 'modern' }, stale: true });
    }
  });
});

describe('what a cache does', () => {
  test.each(['legacy', 'modern'] as const)('a store that lies makes no %s verdict last for ever', async (kind) => {
    const era = kind === 'legacy' ? { kind, version: '2025-11-25' } : { kind, version: '2026-07-28' };
    const { now } = aClock();
    for (const checkedAt of [0, now() - 24 * HOUR, now() + 1]) {
      const { resolve, cache } = aResolver();
      await cache.set(KEY, { ...era, checkedAt, expiresAt: Number.MAX_SAFE_INTEGER } as EraRecord);
      expect(await resolve({ revalidate: 'inline' })).toMatchObject({ era: { kind: 'modern' }, fromCache: false });
    }
  });

  test("a legacy verdict that another process keeps for longer is asked about at this resolver's own age", async () => {
    const { resolve, cache, server, clock } = aResolver({ legacyTtlMs: HOUR });
    const times = { checkedAt: clock.now() - HOUR, expiresAt: clock.now() + 100 * HOUR };
    await cache.set(KEY, { kind: 'legacy', version: '2025-11-25', ...times });
    expect(await resolve()).toMatchObject({ era: { kind: 'legacy' }, stale: true });
    await settle();
    expect(server.asked).toBe(1);
  });

  test('a store that hangs hangs nobody who can leave', async () => {
    const cache: MCPEraCache = { get: () => new Promise(() => {}), set: () => {}, delete: () => {} };
    const { resolve } = aResolver({ cache });
    const leaving = new AbortController();
    const resolving = resolve({ signal: leaving.signal });
    leaving.abort(new Error('gone'));
    await expect(resolving).rejects.toThrow('gone');
  });
});

describe('a server that offers a modern version', () => {
  const OFFER = answerFromHttp({ status: 400, body: refusal(-32022, 'no', { supported: ['2026-07-28'] }) });
  test.each<[string, McpEraProbeAnswer]>([
    ['is silent', { kind: 'timeout' }],
    ['exits', { kind: 'error', error: new ServerExitedError('it exited', 1) }],
    ['answers a bare 404', answerFromHttp({ status: 404, body: '' })],
    ['answers another error', answerFromHttp({ status: 200, body: refusal(-32603) })],
    ['answers an empty result', { kind: 'result', result: {} }],
  ])('and then %s is modern still: no fallback after a modern error', async (_what, second) => {
    const answers = [OFFER, second];
    const { resolve } = aResolver();
    const probe: McpEraProbe = async () => answers.shift() as McpEraProbeAnswer;
    expect(await resolve({ key: 'stdio:x', probe })).toMatchObject({
      era: { kind: 'modern', version: '2026-07-28' },
      evidence: { rule: 'a modern error' },
      probes: 2,
    });
  });
});

describe('what is private stays private', () => {
  test('a private DiscoverResult is given to the context it was sent to, and asked for by each other', async () => {
    const { resolve, server } = aResolver();
    expect(await resolve({ authContext: 'alice' })).toMatchObject({ discover: { cacheScope: 'private' }, probes: 1 });
    expect(await resolve({ authContext: 'alice' })).toMatchObject({ discover: { cacheScope: 'private' }, probes: 0 });
    expect(await resolve({ authContext: 'bob' })).toMatchObject({ probes: 1 });
    expect(await resolve()).toMatchObject({ probes: 1 });
    expect(server.asked).toBe(3);
  });

  test("a public one is everybody's", async () => {
    const { resolve, server } = aResolver({}, publicFor(HOUR));
    await resolve({ authContext: 'alice' });
    expect(await resolve({ authContext: 'bob' })).toMatchObject({ discover: { cacheScope: 'public' }, probes: 0 });
    expect(server.asked).toBe(1);
  });

  test("contexts are not served each other's answer even when they ask at once", async () => {
    const { resolve, server } = aResolver();
    await Promise.all([resolve({ authContext: 'alice' }), resolve({ authContext: 'bob' })]);
    expect(server.asked).toBe(2);
  });
});

describe('a verdict that proves wrong is healed', () => {
  test('at once: the next one asks', async () => {
    const { resolver, resolve, server, count } = aResolver({}, LEGACY);
    await resolve();
    server.answer = MODERN;
    await resolver.reportMismatch(KEY, 'legacy');
    expect(await resolve()).toMatchObject({ era: { kind: 'modern' }, probes: 1 });
    expect(count('heal')).toBe(1);
  });

  test('many reports of one mistake heal once', async () => {
    const { resolver, resolve, server, count } = aResolver({}, LEGACY);
    await resolve();
    server.answer = MODERN;
    await resolver.reportMismatch(KEY, 'legacy');
    await resolve();
    for (let i = 0; i < 10; i++) await resolver.reportMismatch(KEY, 'legacy');
    expect(await resolve()).toMatchObject({ era: { kind: 'modern' }, fromCache: true });
    expect(count('heal')).toBe(1);
    expect(server.asked).toBe(2);
  });

  test('an answer that was under way when the mistake was reported is not kept', async () => {
    const { resolver, resolve, server } = aResolver();
    let answer: (answer: McpEraProbeAnswer) => void = () => {};
    const early = resolver.resolve({ key: KEY, probe: () => new Promise((resolve) => (answer = resolve)) });
    await settle();
    await resolver.reportMismatch(KEY, 'legacy');
    answer(LEGACY);
    await early;
    expect(await resolve()).toMatchObject({ era: { kind: 'modern' }, probes: 1 });
    expect(server.asked).toBe(1);
  });

  test('a private DiscoverResult goes with the verdict', async () => {
    const { resolver, resolve, server } = aResolver();
    await resolve({ authContext: 'alice' });
    server.answer = LEGACY;
    await resolver.reportMismatch(KEY, 'modern', { authContext: 'alice' });
    expect(await resolve({ authContext: 'alice' })).toMatchObject({ era: { kind: 'legacy' }, probes: 1 });
  });

  test('a server seen to change without a report is told of', async () => {
    const { resolve, server, clock, count } = aResolver({}, LEGACY);
    await resolve();
    server.answer = MODERN;
    clock.advance(HOUR);
    await resolve();
    await settle();
    expect(count('heal')).toBe(1);
  });
});

describe('failures back off', () => {
  test('by one second, then two, four, … a minute; and a success ends it', async () => {
    const { resolve, server, clock, count } = aResolver({}, DOWN);
    for (const wait of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      const before = server.asked;
      await expect(resolve()).rejects.toMatchObject({ code: 'ERA_UNAVAILABLE' });
      expect(server.asked).toBe(before + 1);
      clock.advance(wait - 1);
      await expect(resolve()).rejects.toMatchObject({ code: 'ERA_UNAVAILABLE' });
      expect(server.asked).toBe(before + 1);
      clock.advance(1);
    }
    expect(count('backoff')).toBe(8);
    server.answer = MODERN;
    expect(await resolve()).toMatchObject({ era: { kind: 'modern' } });
  });

  test('for as long as the server says, but no longer than a legacy verdict would last', async () => {
    for (const [seconds, waits] of [
      [120, 120_000],
      [999_999, HOUR],
    ] as const) {
      const { resolve, server, clock } = aResolver(
        {},
        answerFromHttp({ status: 429, headers: { 'retry-after': `${seconds}` }, body: '' }),
      );
      await expect(resolve()).rejects.toThrow();
      clock.advance(waits - 1);
      await expect(resolve()).rejects.toThrow();
      expect(server.asked).toBe(1);
      clock.advance(1);
      await expect(resolve()).rejects.toThrow();
      expect(server.asked).toBe(2);
    }
  });

  test('who insists is let through', async () => {
    const { resolve, server } = aResolver({}, DOWN);
    await expect(resolve()).rejects.toThrow();
    server.answer = MODERN;
    expect(await resolve({ retryNow: true })).toMatchObject({ era: { kind: 'modern' } });
  });

  test('who has signed in is let through', async () => {
    const { resolve, server } = aResolver(
      {},
      answerFromHttp({ status: 401, headers: { 'www-authenticate': 'Bearer' }, body: '' }),
    );
    await expect(resolve()).rejects.toMatchObject({ code: 'ERA_SIGN_IN_NEEDED', reason: { challenge: 'Bearer' } });
    server.answer = MODERN;
    expect(await resolve()).toMatchObject({ era: { kind: 'modern' } });
  });

  test('an undetermined answer is never cached', async () => {
    const { resolve, cache } = aResolver({}, DOWN);
    await expect(resolve()).rejects.toThrow();
    expect(await cache.get(KEY)).toBeUndefined();
  });
});

describe('no question where none is needed', () => {
  test('a pinned era is not asked for', async () => {
    const { resolve, server, cache } = aResolver({}, LEGACY);
    expect(await resolve({ pin: 'modern' })).toMatchObject({ era: { kind: 'modern' }, evidence: { rule: 'pinned' } });
    expect(await resolve({ pin: 'legacy' })).toMatchObject({ era: { kind: 'legacy' }, evidence: { rule: 'pinned' } });
    expect(server.asked).toBe(0);
    expect(await cache.get(KEY)).toBeUndefined();
  });

  test('HTTP+SSE is legacy without being asked', async () => {
    const { resolve, server } = aResolver();
    expect(await resolve({ probeSupported: false })).toMatchObject({
      era: { kind: 'legacy', version: '2024-11-05' },
      probes: 0,
    });
    expect(server.asked).toBe(0);
  });
});

test('silence over HTTP is an outage, not a verdict', async () => {
  const { resolve, cache } = aResolver({}, { kind: 'timeout' });
  await expect(resolve()).rejects.toMatchObject({ code: 'ERA_UNAVAILABLE', evidence: { rule: 'silence on HTTP' } });
  expect(await cache.get(KEY)).toBeUndefined();
});

test('a cache that throws costs a question and is told of; nothing fails', async () => {
  const cache: MCPEraCache = {
    get: () => Promise.reject(new Error('store is down')),
    set: () => Promise.reject(new Error('store is down')),
    delete: () => {
      throw new Error('store is down');
    },
  };
  const { resolve, resolver, count } = aResolver({ cache });
  expect(await resolve()).toMatchObject({ era: { kind: 'modern' }, probes: 1 });
  await resolver.reportMismatch(KEY, 'modern');
  expect(count('cache-error')).toBeGreaterThan(3);
});

test('every event names its server, and a question is counted when it is asked', async () => {
  const { resolve, events, count } = aResolver();
  await resolve();
  await resolve();
  expect(events.every(({ key }) => key === KEY)).toBe(true);
  expect([count('probe'), count('hit')]).toEqual([1, 1]);
});

test('every resolution carries its evidence', async () => {
  const { resolve } = aResolver();
  expect((await resolve()).evidence).toEqual({
    sent: 'server/discover at 2026-07-28 over http',
    received: 'a DiscoverResult for 2026-07-28',
    rule: 'a modern version in common',
    section: 'server/discover',
  });
  expect((await resolve()).evidence).toMatchObject({ sent: 'nothing', rule: 'cached' });
});

describe('the plain resolver and the shared one agree', () => {
  test.each(ANSWERS.filter(({ rule }) => rule !== 'silence on HTTP'))('on $name', async ({ transport, answer }) => {
    const key = transport === 'stdio' ? 'stdio:["weather",[],""]' : KEY;
    const probe: McpEraProbe = async () => answer;
    const outcome = (resolving: Promise<{ era: unknown; probes: number }>): Promise<unknown> =>
      resolving.then(({ era, probes }) => ({ era, probes })).catch(({ code, message }) => ({ code, message }));
    const plain = resolveMcpEra({ probe, key, cache: createMcpEraCache(), probeSupported: true, serverName: key });
    const shared = createEraResolver().resolve({ probe, key });
    expect(await outcome(plain)).toEqual(await outcome(shared));
  });

  test('but on silence over HTTP, which the one takes for legacy and the other for an outage', async () => {
    const probe: McpEraProbe = async () => ({ kind: 'timeout' });
    const input = { probe, key: KEY, cache: createMcpEraCache(), probeSupported: true, serverName: 'weather' };
    expect(await resolveMcpEra(input)).toMatchObject({ era: { kind: 'legacy' } });
    await expect(createEraResolver().resolve({ probe, key: KEY })).rejects.toMatchObject({ code: 'ERA_UNAVAILABLE' });
  });
});
