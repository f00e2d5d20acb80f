/** Listing: every run of a tenant that exists now, none twice, none of anybody else. */
import type { IndexedRun, IndexQuery, RunBackend, RunIndex, RunKey } from '../backend.js';
import { ensure, ensureSame, needed } from './assert.js';
import { aKey, aToken, aValue, backendTest, bytes, LIFE_MS, type RunBackendHarness } from './backend-harness.js';
import { asBytes } from './backend-values.js';
import type { ConformanceTest } from './harness.js';

interface IndexUnderTest {
  readonly backend: RunBackend;
  readonly index: RunIndex;
  readonly advance: (ms: number) => Promise<void>;
}

export function backendIndexSuite(harness: RunBackendHarness): ConformanceTest[] {
  const test = (name: string, body: (place: IndexUnderTest) => Promise<void>) =>
    backendTest(harness, name, async (place) => {
      const { backend } = place;
      if (!backend.index) return;
      await body({ backend, index: backend.index, advance: needed(place.advance, 'advance', 'index').bind(place) });
    });
  return [
    test('a tenant lists its own runs, by principal and kind', async ({ backend, index }) => {
      const tenant = aKey();
      const mine = await aListedRun(backend, { tenant, principal: 'ann', kind: 'approval' });
      const hers = await aListedRun(backend, { tenant, principal: 'bea', kind: 'approval' });
      const tool = await aListedRun(backend, { tenant, principal: 'ann', kind: 'client_tool' });
      await aListedRun(backend, { tenant: aKey(), principal: 'ann', kind: 'approval' });
      ensureKeys(await listAll(index, { tenant }), [mine, hers, tool], 'the tenant');
      ensureKeys(await listAll(index, { tenant, principal: 'ann' }), [mine, tool], 'a principal');
      ensureKeys(await listAll(index, { tenant, kind: 'approval' }), [mine, hers], 'a kind');
      ensureKeys(
        await listAll(index, { tenant, principal: 'ann', kind: 'approval' }),
        [mine],
        'a principal and a kind',
      );
      ensureKeys(await listAll(index, { tenant, principal: 'eve' }), [], 'a principal without runs');
    }),

    test('a listed run says what was stored for it, its status and its remaining life', async ({ backend, index }) => {
      const tenant = aKey();
      const key = await aListedRun(backend, { tenant, principal: 'ann', kind: 'approval' });
      const [waiting] = await listAll(index, { tenant });
      ensureSame(asBytes(waiting?.bytes ?? null), bytes(`about ${key}`), 'the bytes of the entry');
      ensureSame(waiting?.status, 'waiting', 'the status of a waiting run');
      const life = waiting?.expiresInMs ?? 0;
      ensure(life > LIFE_MS / 2 && life <= LIFE_MS, () => `expiresInMs is ${life} of a life of ${LIFE_MS}.`);
      if (!backend.claims) return;
      await backend.claims.claim(key, { token: aToken(), leaseMs: 60_000 });
      const [claimed] = await listAll(index, { tenant });
      ensureSame(claimed?.status, 'claimed', 'the status of a claimed run');
    }),

    test('pages of any length hold every run once, in one order', async ({ backend, index, advance }) => {
      const tenant = aKey();
      const keys: RunKey[] = [];
      for (let run = 0; run < 7; run += 1) {
        keys.push(await aListedRun(backend, { tenant, principal: 'ann', kind: 'approval' }));
        await advance(1);
      }
      const inOrder = (await listAll(index, { tenant, principal: 'ann', limit: 100 })).map(({ key }) => key);
      ensureSame([...inOrder].sort(), keys.sort(), 'the runs on one page');
      for (const limit of [1, 3, 7]) {
        const listed = await listAll(index, { tenant, principal: 'ann', limit });
        ensureSame(
          listed.map(({ key }) => key),
          inOrder,
          `pages of ${limit}`,
        );
      }
    }),

    test('a run that ends between two pages costs no other run its place', async ({ backend, index }) => {
      const tenant = aKey();
      const entry = { tenant, principal: 'ann', kind: 'approval' };
      await Promise.all(Array.from({ length: 5 }, () => aListedRun(backend, entry)));
      const inOrder = (await listAll(index, { tenant })).map(({ key }) => key);
      const first = await index.list({ tenant, limit: 2 });
      await backend.remove(inOrder[1]!);
      const rest = await listAll(index, { tenant, cursor: first.cursor });
      const seen = new Set([...first.runs, ...rest].map(({ key }) => key));
      ensureSame([...seen].sort(), [...inOrder].sort(), 'the runs on both pages');
    }),

    test('what was taken, removed, replaced or is expired is not listed', async ({ backend, index, advance }) => {
      const tenant = aKey();
      const entry = { tenant, principal: 'ann', kind: 'approval' };
      const [taken, removed, expired, stays] = await Promise.all(
        Array.from({ length: 4 }, () => aListedRun(backend, entry)),
      );
      await backend.take(taken!, { token: aToken(), retainMs: 60_000 });
      await backend.remove(removed!);
      await backend.touch(expired!, { ttlMs: LIFE_MS / 4, index: { ...entry, bytes: bytes('x') } });
      await advance(LIFE_MS / 2);
      ensureKeys(await listAll(index, { tenant }), [stays!], 'after the end of three runs');
      await advance(LIFE_MS);
      ensureKeys(await listAll(index, { tenant }), [], 'after the end of all');
    }),

    test('a run stored again is listed once, as it was stored last', async ({ backend, index }) => {
      const tenant = aKey();
      const key = await aListedRun(backend, { tenant, principal: 'ann', kind: 'approval' });
      await aListedRun(backend, { tenant, principal: 'ann', kind: 'client_tool' }, key);
      ensureKeys(await listAll(index, { tenant, kind: 'client_tool' }), [key], 'the kind stored last');
      ensureKeys(await listAll(index, { tenant, kind: 'approval' }), [], 'the kind stored first');
    }),

    test('erasing a tenant removes its runs and nobody else loses any', async ({ backend, index }) => {
      const [tenant, neighbour] = [aKey(), aKey()];
      const mine = await aListedRun(backend, { tenant, principal: 'ann', kind: 'approval' });
      await aListedRun(backend, { tenant, principal: 'bea', kind: 'approval' });
      const theirs = await aListedRun(backend, { tenant: neighbour, principal: 'ann', kind: 'approval' });
      ensureSame(await index.eraseTenant(tenant), 2, 'runs erased');
      ensureSame(await index.eraseTenant(tenant), 0, 'runs erased the second time');
      ensure((await backend.get(mine)) === null, () => 'an erased run can be read.');
      ensureKeys(await listAll(index, { tenant }), [], 'an erased tenant');
      ensureKeys(await listAll(index, { tenant: neighbour }), [theirs], 'the neighbour');
    }),

    test('a forged cursor shows nothing of another tenant and breaks nothing', async ({ backend, index }) => {
      const tenant = aKey();
      await aListedRun(backend, { tenant: aKey(), principal: 'ann', kind: 'approval' });
      for (const cursor of ['', '-1', 'abc', '999999999', '{"x":1}', '*']) {
        const page = await index.list({ tenant, cursor, limit: 10 }).catch(() => ({ runs: [] }));
        ensureKeys(page.runs, [], `a page from cursor '${cursor}'`);
      }
    }),

    test('a sweep removes what has expired and nothing else', async ({ backend, advance }) => {
      if (!backend.sweep) return;
      const keys = await Promise.all(
        Array.from({ length: 5 }, () => aListedRun(backend, { tenant: aKey(), principal: 'ann', kind: 'approval' })),
      );
      await advance(LIFE_MS + 1);
      const stays = await aListedRun(backend, { tenant: aKey(), principal: 'ann', kind: 'approval' });
      let swept = 0;
      for (let last = 2; last === 2; swept += last) last = await backend.sweep({ limit: 2 });
      ensureSame(swept, keys.length, 'runs swept');
      ensure((await backend.get(stays)) !== null, () => 'a sweep removed a run that had not expired.');
    }),
  ];
}

async function aListedRun(
  backend: RunBackend,
  entry: { readonly tenant: string; readonly principal: string; readonly kind: string },
  key: RunKey = aKey(),
): Promise<RunKey> {
  const index = { ...entry, bytes: bytes(`about ${key}`) };
  await backend.put(key, aValue(), { existing: 'replace', ttlMs: LIFE_MS, index });
  return key;
}

/** Every page of a query. */
export async function listAll(
  index: RunIndex,
  query: Omit<IndexQuery, 'limit'> & { limit?: number },
): Promise<IndexedRun[]> {
  const runs: IndexedRun[] = [];
  let { cursor } = query;
  do {
    const page = await index.list({ limit: 2, ...query, cursor });
    runs.push(...page.runs);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return runs;
}

function ensureKeys(runs: readonly IndexedRun[], expected: readonly RunKey[], what: string): void {
  ensureSame(runs.map(({ key }) => key).sort(), [...expected].sort(), `the runs listed for ${what}`);
}
