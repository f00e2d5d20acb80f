/** A driver's obligation: bytes under a key, handed out once. */
import { ensure, ensureSame, needed } from './assert.js';
import { aKey, aToken, aValue, backendTest, LIFE_MS, type RunBackendHarness, stampOf } from './backend-harness.js';
import type { ConformanceTest } from './harness.js';

const RETAIN_MS = 60_000;
const replace = { existing: 'replace', ttlMs: LIFE_MS } as const;
const keep = { existing: 'keep', ttlMs: LIFE_MS } as const;

const someTake = () => ({ token: aToken(), retainMs: RETAIN_MS, ttlMs: LIFE_MS });

export function backendValueSuite(harness: RunBackendHarness): ConformanceTest[] {
  const test = (name: string, body: Parameters<typeof backendTest>[2]) => backendTest(harness, name, body);
  return [
    test('bytes of any value and length come back as they were', async ({ backend }) => {
      for (const body of ['', '\u0000'.repeat(3), 'x'.repeat(300_000)]) {
        const [key, value] = [aKey(), aValue(body)];
        await backend.put(key, value, replace);
        ensureSame(asBytes(await backend.get(key)), value, `get of ${value.length} bytes`);
        ensureSame(asBytes(await backend.take(key, someTake())), value, `take of ${value.length} bytes`);
      }
    }),

    test('an unknown key is null to get and take, false to touch and remove', async ({ backend }) => {
      ensure((await backend.get(aKey())) === null, () => 'get answered for an unknown key.');
      ensure((await backend.take(aKey(), someTake())) === null, () => 'take answered for an unknown key.');
      ensure(!(await backend.touch(aKey(), { ttlMs: LIFE_MS })), () => 'touch said yes to an unknown key.');
      ensure(!(await backend.remove(aKey())), () => 'remove said yes to an unknown key.');
    }),

    test("put with 'replace' replaces, with 'keep' leaves and says so", async ({ backend }) => {
      const [key, first, second] = [aKey(), aValue('first'), aValue('second')];
      ensureSame(await backend.put(key, first, keep), 'stored', 'the first put');
      ensureSame(await backend.put(key, second, keep), 'exists', "a put with 'keep' over another value");
      ensureSame(await backend.put(key, first, keep), 'stored', "a repeated put with 'keep'");
      ensureSame(asBytes(await backend.get(key)), first, 'the value that was kept');
      ensureSame(await backend.put(key, second, replace), 'stored', "a put with 'replace'");
      ensureSame(asBytes(await backend.take(key, someTake())), second, 'the value that replaced it');
    }),

    test('a taken run is gone for everybody else', async ({ backend }) => {
      const [key, value] = [aKey(), aValue()];
      await backend.put(key, value, replace);
      ensureSame(asBytes(await backend.take(key, someTake())), value, 'take');
      ensure((await backend.take(key, someTake())) === null, () => 'a second token took the run as well.');
      ensure((await backend.get(key)) === null, () => 'get found a taken run.');
      ensure(!(await backend.touch(key, { ttlMs: LIFE_MS })), () => 'touch found a taken run.');
      ensure(!(await backend.remove(key)), () => 'remove found a taken run.');
    }),

    test('a removed run is gone', async ({ backend }) => {
      const key = aKey();
      await backend.put(key, aValue(), replace);
      ensure(await backend.remove(key), () => 'remove did not find the run.');
      ensure((await backend.get(key)) === null, () => 'get found a removed run.');
      ensure((await backend.take(key, someTake())) === null, () => 'take found a removed run.');
    }),

    test('touch and remove with a stamp leave the run that replaced the one they mean', async ({
      backend,
      advance,
    }) => {
      const [key, first, second] = [aKey(), aValue('first'), aValue('second')];
      await backend.put(key, first, replace);
      await backend.put(key, second, replace);
      const meant = { ifStamp: stampOf(first) };
      ensure(!(await backend.remove(key, meant)), () => 'remove said yes to a stamp that no run carries.');
      ensure(
        !(await backend.touch(key, { ttlMs: 1, ...meant })),
        () => 'touch said yes to a stamp that no run carries.',
      );
      await advance?.(LIFE_MS / 2);
      ensureSame(asBytes(await backend.get(key)), second, 'the run that replaced the one that was meant');
      const present = { ifStamp: stampOf(second) };
      ensure(await backend.touch(key, { ttlMs: LIFE_MS, ...present }), () => 'touch missed the run of its stamp.');
      ensure(await backend.remove(key, present), () => 'remove missed the run of its stamp.');
      ensure((await backend.get(key)) === null, () => 'get found a run that was removed by its stamp.');
    }),

    test('a run with another stamp than the one asked for is left', async ({ backend }) => {
      const [key, value] = [aKey(), aValue()];
      await backend.put(key, value, replace);
      const wrong = await backend.take(key, { ...someTake(), ifStamp: stampOf(aValue()) });
      ensure(wrong === null, () => 'take ignored `ifStamp`.');
      const right = await backend.take(key, { ...someTake(), ifStamp: stampOf(value) });
      ensureSame(asBytes(right), value, 'take with the right stamp');
    }),

    test('a take can be undone by its token, once, and by no other', async ({ backend }) => {
      const [key, value, take] = [aKey(), aValue(), someTake()];
      await backend.put(key, value, replace);
      await backend.take(key, take);
      const stranger = await backend.putBack(key, { token: aToken(), ttlMs: LIFE_MS });
      ensure(!stranger, () => 'putBack by another token was accepted.');
      ensure(await backend.putBack(key, { token: take.token, ttlMs: LIFE_MS }), () => 'putBack was refused.');
      ensureSame(asBytes(await backend.get(key)), value, 'the run put back');
      ensureSame(asBytes(await backend.take(key, someTake())), value, 'the run put back');
    }),

    test('a take is not undone over a run that was stored since', async ({ backend }) => {
      const [key, second, take] = [aKey(), aValue('second'), someTake()];
      await backend.put(key, aValue('first'), replace);
      await backend.take(key, take);
      await backend.put(key, second, replace);
      const undone = await backend.putBack(key, { token: take.token, ttlMs: LIFE_MS });
      ensure(!undone, () => 'putBack replaced a run that was stored since.');
      ensureSame(asBytes(await backend.get(key)), second, 'the run stored since');
    }),

    ...retrySafeTake(harness),
    ...expiry(harness),
  ];
}

/** Which of these apply is known only once the driver is open; those that do not pass at once. */
function retrySafeTake(harness: RunBackendHarness): ConformanceTest[] {
  const test = (name: string, body: Parameters<typeof backendTest>[2]) =>
    backendTest(harness, name, async (place) => {
      if (place.backend.capabilities.retrySafeTake) await body(place);
    });
  return [
    test('a repeated take gets the same bytes, whatever was asked for or removed since', async ({ backend }) => {
      const [key, value, take] = [aKey(), aValue(), someTake()];
      await backend.put(key, value, replace);
      await backend.take(key, take);
      ensureSame(asBytes(await backend.take(key, take)), value, 'the repeated take');
      await backend.remove(key);
      const unmet = { ...take, ifStamp: stampOf(aValue()) };
      ensureSame(asBytes(await backend.take(key, unmet)), value, 'the repeated take with another stamp');
      ensure((await backend.take(key, someTake())) === null, () => 'another token got the copy.');
    }),

    test('a repeated take takes no later run of the same key', async ({ backend }) => {
      const [key, first, second, take] = [aKey(), aValue('first'), aValue('second'), someTake()];
      await backend.put(key, first, replace);
      await backend.take(key, take);
      await backend.put(key, second, replace);
      ensureSame(asBytes(await backend.take(key, take)), first, 'the repeated take');
      ensureSame(asBytes(await backend.get(key)), second, 'the run stored since');
      ensureSame(asBytes(await backend.take(key, someTake())), second, 'the run stored since');
    }),

    test('callers of one token all get the run, and callers of another get nothing', async ({ backend }) => {
      const [key, value, take] = [aKey(), aValue(), someTake()];
      await backend.put(key, value, replace);
      const same = await Promise.all(Array.from({ length: 4 }, () => backend.take(key, take)));
      for (const taken of same) ensureSame(asBytes(taken), value, 'a take of the same token');
      ensure((await backend.take(key, someTake())) === null, () => 'another token got the copy.');
    }),

    test('the taken copy is gone after its time', async (place) => {
      const advance = needed(place.advance, 'advance', 'retrySafeTake').bind(place);
      const [key, take] = [aKey(), someTake()];
      await place.backend.put(key, aValue(), replace);
      await place.backend.take(key, take);
      await advance(RETAIN_MS + 1);
      ensure((await place.backend.take(key, take)) === null, () => 'the taken copy outlived `retainMs`.');
    }),
  ];
}

function expiry(harness: RunBackendHarness): ConformanceTest[] {
  const test = (name: string, body: (place: { backend: Backend; advance: Advance }) => Promise<void>) =>
    backendTest(harness, name, async (place) => {
      if (!place.backend.capabilities.expiry) return;
      await body({ backend: place.backend, advance: needed(place.advance, 'advance', 'expiry').bind(place) });
    });
  return [
    test('a run ends with its time, and get does not prolong it', async ({ backend, advance }) => {
      const [key, value] = [aKey(), aValue()];
      await backend.put(key, value, replace);
      await advance(LIFE_MS / 2);
      ensureSame(asBytes(await backend.get(key)), value, 'get before the end');
      await advance(LIFE_MS / 2 + 1);
      ensure((await backend.get(key)) === null, () => 'get found an expired run.');
      ensure((await backend.take(key, someTake())) === null, () => 'take found an expired run.');
      ensure(!(await backend.touch(key, { ttlMs: LIFE_MS })), () => 'touch revived an expired run.');
      ensure(!(await backend.remove(key)), () => 'remove found an expired run.');
      ensureSame(await backend.put(key, value, keep), 'stored', "a put with 'keep' over an expired run");
    }),

    test('touch sets the remaining life, longer or shorter', async ({ backend, advance }) => {
      const [longer, shorter] = [aKey(), aKey()];
      for (const key of [longer, shorter]) await backend.put(key, aValue(), replace);
      ensure(await backend.touch(longer, { ttlMs: 2 * LIFE_MS }), () => 'touch did not find the run.');
      ensure(await backend.touch(shorter, { ttlMs: LIFE_MS / 4 }), () => 'touch did not find the run.');
      await advance(LIFE_MS / 2);
      ensure((await backend.get(shorter)) === null, () => 'touch did not shorten the life of a run.');
      await advance(LIFE_MS);
      ensure((await backend.get(longer)) !== null, () => 'touch did not lengthen the life of a run.');
    }),

    test('a run stored without an end stays', async ({ backend, advance }) => {
      const [key, value] = [aKey(), aValue()];
      await backend.put(key, value, { existing: 'replace' });
      await advance(1000 * LIFE_MS);
      ensureSame(asBytes(await backend.get(key)), value, 'a run without an end');
    }),
  ];
}

type Backend = Parameters<Parameters<typeof backendTest>[2]>[0]['backend'];
type Advance = (ms: number) => Promise<void>;

/** A driver may answer with any kind of byte array; a Node Buffer is one. */
export function asBytes(value: Uint8Array | null): Uint8Array | null {
  return value && new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
