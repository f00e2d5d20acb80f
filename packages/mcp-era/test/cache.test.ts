import { execFileSync } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import {
  createEraResolver,
  createMcpEraCache,
  defaultMcpEraCache,
  type EraRecord,
  type MCPEraCache,
  type McpEraProbe,
} from '../src/index.js';
import { createFileEraCache } from '../src/node.js';
import { createStoreEraCache, type EraStore, parseEraRecord } from '../src/store.js';
import { DISCOVER } from './answers.js';

const MODERN: EraRecord = { kind: 'modern', version: '2026-07-28', checkedAt: 1, expiresAt: 2 };
const LEGACY: EraRecord = { kind: 'legacy', version: '2025-06-18', checkedAt: 1, expiresAt: 2 };

/** What every cache does. */
function behavesAsACache(makeCache: () => MCPEraCache): void {
  test('gives back what was set, and nothing for what was not or was deleted', async () => {
    const cache = makeCache();
    expect(await cache.get('a')).toBeUndefined();
    await cache.set('a', MODERN);
    await cache.set('b', LEGACY);
    expect(await cache.get('a')).toMatchObject(MODERN);
    await cache.set('a', LEGACY);
    expect(await cache.get('a')).toMatchObject(LEGACY);
    await cache.delete('a');
    expect(await cache.get('a')).toBeUndefined();
    expect(await cache.get('b')).toMatchObject(LEGACY);
    await cache.delete('never set');
  });

  test('keeps a DiscoverResult whole', async () => {
    const cache = makeCache();
    await cache.set('a', { ...MODERN, discover: DISCOVER as never });
    expect((await cache.get('a'))?.discover).toMatchObject(DISCOVER);
  });

  test('keys of any kind do not meet', async () => {
    const cache = makeCache();
    const keys = ['stdio:["npx",["a"],""]', 'http:https://a.example', '__proto__', 'constructor', 'a#b', '', 'ключ'];
    for (const key of keys) await cache.set(key, { ...MODERN, checkedAt: keys.indexOf(key) });
    for (const key of keys) expect(await cache.get(key)).toMatchObject({ checkedAt: keys.indexOf(key) });
  });

  test('a resolver asks once, and a second resolver not at all', async () => {
    const cache = makeCache();
    let asked = 0;
    const probe: McpEraProbe = async () => {
      asked++;
      return { kind: 'result', result: { ...DISCOVER, cacheScope: 'public' } };
    };
    await createEraResolver({ cache }).resolve({ key: 'k', probe });
    const again = await createEraResolver({ cache }).resolve({ key: 'k', probe });
    expect(again).toMatchObject({
      era: { kind: 'modern' },
      fromCache: true,
      discover: { capabilities: { tools: {} } },
    });
    expect(asked).toBe(1);
  });
}

describe('the memory cache', () => {
  behavesAsACache(createMcpEraCache);

  test('is bounded, and forgets what was used longest ago', () => {
    const cache = createMcpEraCache({ maxEntries: 2 });
    cache.set('a', MODERN);
    cache.set('b', MODERN);
    cache.get('a');
    cache.set('c', MODERN);
    expect(cache.get('b')).toBeUndefined();
    expect(cache.get('a')).toEqual(MODERN);
    expect(cache.get('c')).toEqual(MODERN);
  });

  test('is of one object, but for the one that the process shares', async () => {
    createMcpEraCache().set('k', MODERN);
    expect(createMcpEraCache().get('k')).toBeUndefined();
    expect(await defaultMcpEraCache.get('k')).toBeUndefined();
  });
});

describe('a cache over a store', () => {
  const inMemory = (): EraStore => {
    const map = new Map<string, string>();
    return { get: (key) => map.get(key), set: (key, value) => map.set(key, value), delete: (key) => map.delete(key) };
  };
  behavesAsACache(() => createStoreEraCache(inMemory()));

  test('takes what does not read back as a verdict for absent', async () => {
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '7',
      '"modern"',
      '{}',
      '{"kind":"modern","version":"2025-11-25"}',
      '{"kind":"legacy","version":"2026-07-28"}',
      '{"kind":"ancient","version":"2024-11-05"}',
      '{"kind":"modern","version":["2026-07-28"]}',
    ]) {
      const store = { ...inMemory(), get: () => text };
      expect(await createStoreEraCache(store).get('k')).toBeUndefined();
    }
    expect(await createStoreEraCache({ ...inMemory(), get: () => null }).get('k')).toBeUndefined();
  });

  test('drops a DiscoverResult that is none', () => {
    const text = JSON.stringify({ ...MODERN, discover: { capabilities: 7 } });
    expect(parseEraRecord(text)).toMatchObject({ kind: 'modern', discover: undefined });
  });

  test('no text makes it throw', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseEraRecord(text)));
  });
});

const url = inject('redisUrl');
describe.skipIf(!url)('a cache over a real Redis', () => {
  let redis: Redis;
  let other: Redis;
  beforeAll(() => {
    redis = new Redis(url as string);
    other = new Redis(url as string);
  });
  afterAll(() => {
    redis.disconnect();
    other.disconnect();
  });
  let prefix = '';
  beforeEach(() => {
    prefix = `era-test:${crypto.randomUUID()}:`;
  });
  const over = (client: Redis): MCPEraCache =>
    createStoreEraCache(
      {
        get: (key) => client.get(key),
        set: (key, value, ttlSeconds) => client.set(key, value, 'EX', ttlSeconds),
        delete: (key) => client.del(key),
      },
      { prefix },
    );
  behavesAsACache(() => over(redis));

  test('a fleet asks once: what one process found, the other knows, and heals for both', async () => {
    const asked: string[] = [];
    const one = createEraResolver({ cache: over(redis) });
    const two = createEraResolver({ cache: over(other) });
    const probe =
      (who: string, answer: Awaited<ReturnType<McpEraProbe>>): McpEraProbe =>
      async () => {
        asked.push(who);
        return answer;
      };
    const legacy = { kind: 'result', result: {} } as const;
    const modern = { kind: 'result', result: DISCOVER } as const;
    await one.resolve({ key: 'k', probe: probe('one', legacy) });
    expect(await two.resolve({ key: 'k', probe: probe('two', legacy) })).toMatchObject({ fromCache: true });
    await two.reportMismatch('k', 'legacy');
    expect(await one.resolve({ key: 'k', probe: probe('one', modern) })).toMatchObject({ era: { kind: 'modern' } });
    expect(await two.resolve({ key: 'k', probe: probe('two', legacy) })).toMatchObject({ era: { kind: 'modern' } });
    expect(asked).toEqual(['one', 'one']);
  });

  test('the store lets an entry go after a day', async () => {
    await over(redis).set('k', MODERN);
    const ttl = await redis.ttl(`${prefix}k`);
    expect(ttl).toBeGreaterThan(86_000);
    expect(ttl).toBeLessThanOrEqual(86_400);
  });
});

describe('the file cache', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'era-cache-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));
  const path = (): string => join(dir, 'deep', 'era.json');
  behavesAsACache(() => createFileEraCache({ path: path() }));

  test('is readable by its owner alone, and leaves no draft behind', async () => {
    await createFileEraCache({ path: path() }).set('a', MODERN);
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'deep'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(dir, 'deep'))).toEqual(['era.json']);
  });

  test('survives a corrupt file, says so, and replaces it at the next write', async () => {
    for (const text of ['', '{"a":', '[]', 'null', '\u0000\u0001']) {
      const errors: unknown[] = [];
      await writeFile(join(dir, 'era.json'), text);
      const cache = createFileEraCache({ path: join(dir, 'era.json'), onError: (error) => errors.push(error) });
      expect(await cache.get('a')).toBeUndefined();
      expect(errors).toHaveLength(1);
      await cache.set('a', MODERN);
      expect(await cache.get('a')).toMatchObject(MODERN);
    }
  });

  describe('does not believe what another user may have put in its place, and replaces it:', () => {
    const planted = JSON.stringify({ a: MODERN });
    const isRoot = process.getuid?.() === 0;
    const cases: readonly [what: string, plant: (at: string) => unknown][] = [
      [
        'a link',
        async (at) => {
          await writeFile(join(dir, 'elsewhere'), planted);
          await symlink(join(dir, 'elsewhere'), at);
        },
      ],
      ['a pipe', (at) => execFileSync('mkfifo', [at])],
    ];
    const foreign: (typeof cases)[number] = [
      "another user's file",
      async (at) => {
        await writeFile(at, planted);
        await chown(at, 12_345, 12_345);
      },
    ];
    // Only root can make a file of somebody else.
    test.each(isRoot ? [...cases, foreign] : cases)('%s', async (_, plant) => {
      const at = join(dir, 'era.json');
      await plant(at);
      const errors: unknown[] = [];
      const cache = createFileEraCache({ path: at, onError: (error) => errors.push(error) });
      expect(await cache.get('a')).toBeUndefined();
      expect(String(errors)).toContain(at);
      await cache.set('b', MODERN);
      expect(await cache.get('b')).toMatchObject(MODERN);
      expect((await stat(at)).mode & 0o777).toBe(0o600);
      if ((await readdir(dir)).includes('elsewhere'))
        expect(await readFile(join(dir, 'elsewhere'), 'utf8')).toBe(planted);
    });
  });

  test('keeps what is good of a file that is good in part', async () => {
    await writeFile(join(dir, 'era.json'), JSON.stringify({ a: MODERN, b: { kind: 'modern' }, c: 7 }));
    const cache = createFileEraCache({ path: join(dir, 'era.json') });
    expect(await cache.get('a')).toMatchObject(MODERN);
    expect([await cache.get('b'), await cache.get('c')]).toEqual([undefined, undefined]);
  });

  test('loses no write of the same process, and is never seen half written', async () => {
    const cache = createFileEraCache({ path: path() });
    const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
    const reads: Promise<string>[] = [];
    await Promise.all(
      keys.map(async (key) => {
        await cache.set(key, MODERN);
        reads.push(readFile(path(), 'utf8'));
      }),
    );
    for (const key of keys) expect(await cache.get(key)).toMatchObject(MODERN);
    for (const text of await Promise.all(reads)) expect(() => JSON.parse(text)).not.toThrow();
  });

  test('two writers at once leave a whole file', async () => {
    const caches = [createFileEraCache({ path: path() }), createFileEraCache({ path: path() })];
    await Promise.all(
      caches.flatMap((cache, c) => Array.from({ length: 20 }, (_, i) => cache.set(`${c}-${i}`, MODERN))),
    );
    expect(Object.keys(JSON.parse(await readFile(path(), 'utf8'))).length).toBeGreaterThan(0);
    expect(await readdir(join(dir, 'deep'))).toEqual(['era.json']);
  });

  test('is bounded, the oldest dropped first', async () => {
    const cache = createFileEraCache({ path: path(), maxEntries: 2 });
    for (const key of ['a', 'b', 'c']) await cache.set(key, MODERN);
    expect([await cache.get('a'), (await cache.get('b'))?.kind, (await cache.get('c'))?.kind]).toEqual([
      undefined,
      'modern',
      'modern',
    ]);
  });

  test('a file that cannot be written is an error that names it, and the next write is tried again', async () => {
    await writeFile(join(dir, 'file'), '');
    const cache = createFileEraCache({ path: join(dir, 'file', 'era.json') });
    await expect(cache.set('a', MODERN)).rejects.toThrow(/file/);
    await expect(cache.set('a', MODERN)).rejects.toThrow(/file/);
  });
});
