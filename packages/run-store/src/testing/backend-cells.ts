/** The small mutable value beside a run: compare-and-swap that lives and dies with the run. */
import type { RunBackend, RunCells } from '../backend.js';
import { ensure, ensureSame } from './assert.js';
import {
  aKey,
  aToken,
  aValue,
  backendTest,
  bytes,
  LIFE_MS,
  type RunBackendHarness,
  stampOf,
} from './backend-harness.js';
import { asBytes } from './backend-values.js';
import type { ConformanceTest } from './harness.js';

const put = { existing: 'replace', ttlMs: LIFE_MS } as const;

export function backendCellSuite(harness: RunBackendHarness): ConformanceTest[] {
  const test = (name: string, body: (backend: RunBackend, cells: RunCells) => Promise<void>) =>
    backendTest(harness, name, async ({ backend }) => {
      if (backend.cells) await body(backend, backend.cells);
    });
  return [
    test('a cell is swapped only from what it holds', async (backend, cells) => {
      const { key, ifStamp } = await aStoredRun(backend);
      const [first, second] = [bytes('first'), bytes('second')];
      ensure((await cells.read(key)) === null, () => 'a fresh cell is not empty.');
      ensure(!(await cells.swap(key, { expected: first, next: second, ifStamp })), () => 'swapped from a wrong value.');
      ensure(await cells.swap(key, { expected: null, next: first, ifStamp }), () => 'no swap from empty.');
      ensure(
        !(await cells.swap(key, { expected: null, next: second, ifStamp })),
        () => 'swapped a full cell from empty.',
      );
      ensureSame(asBytes(await cells.read(key)), first, 'the cell');
      ensure(await cells.swap(key, { expected: first, next: second, ifStamp }), () => 'no swap from the held value.');
      ensureSame(asBytes(await cells.read(key)), second, 'the cell');
    }),

    test('a cell is not swapped for another run, nor without one', async (backend, cells) => {
      const { key } = await aStoredRun(backend);
      const next = bytes('next');
      const other = stampOf(aValue());
      ensure(!(await cells.swap(key, { expected: null, next, ifStamp: other })), () => 'swapped for another stamp.');
      ensure(!(await cells.swap(aKey(), { expected: null, next, ifStamp: other })), () => 'swapped without a run.');
      ensure((await cells.read(key)) === null, () => 'a refused swap left something.');
    }),

    test('a cell goes when its run is removed, and stays readable while a taken copy does', async (backend, cells) => {
      const [removed, taken] = [await aStoredRun(backend), await aStoredRun(backend)];
      for (const { key, ifStamp } of [removed, taken]) {
        ensure(
          await cells.swap(key, { expected: null, next: bytes('gathered'), ifStamp }),
          () => 'no swap from empty.',
        );
      }
      await backend.remove(removed.key);
      ensure((await cells.read(removed.key)) === null, () => 'a cell outlived the run that was removed.');
      await backend.take(taken.key, { token: aToken(), retainMs: 60_000 });
      ensureSame(asBytes(await cells.read(taken.key)), bytes('gathered'), 'the cell of a taken run');
    }),

    test('a run whose cell has changed since is not taken', async (backend, cells) => {
      const { key, ifStamp } = await aStoredRun(backend);
      const [gathered, take] = [bytes('gathered'), { token: aToken(), retainMs: 60_000 }];
      await cells.swap(key, { expected: null, next: gathered, ifStamp });
      for (const ifCell of [null, bytes('other')]) {
        ensure((await backend.take(key, { ...take, ifCell })) === null, () => 'take ignored `ifCell`.');
      }
      ensure(
        (await backend.take(key, { ...take, ifCell: gathered })) !== null,
        () => 'take with the right cell failed.',
      );
      ensure((await backend.take(key, { ...take, ifCell: null })) !== null, () => 'a repeated take got nothing.');
    }),

    test('an empty cell can be demanded by a take', async (backend) => {
      const { key } = await aStoredRun(backend);
      const taken = await backend.take(key, { token: aToken(), retainMs: 60_000, ifCell: null });
      ensure(taken !== null, () => 'take with an empty cell demanded and found failed.');
    }),

    test('of concurrent swaps from one value, one is made', async (backend, cells) => {
      const { key, ifStamp } = await aStoredRun(backend);
      const swaps = Array.from({ length: 8 }, (_, index) =>
        cells.swap(key, { expected: null, next: bytes(`swap ${index}`), ifStamp }),
      );
      const made = (await Promise.all(swaps)).filter(Boolean).length;
      ensureSame(made, 1, `swaps made out of 8 from empty`);
    }),

    test('a cell of a claimed run is not swapped', async (backend, cells) => {
      if (!backend.claims) return;
      const { key, ifStamp } = await aStoredRun(backend);
      await backend.claims.claim(key, { token: aToken(), leaseMs: 60_000 });
      const swapped = await cells.swap(key, { expected: null, next: bytes('late'), ifStamp });
      ensure(!swapped, () => 'a cell was swapped while its run was claimed.');
    }),
  ];
}

async function aStoredRun(backend: RunBackend): Promise<{ key: string; ifStamp: Uint8Array }> {
  const [key, value] = [aKey(), aValue()];
  await backend.put(key, value, put);
  return { key, ifStamp: stampOf(value) };
}
