import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import {
  ConformanceError,
  checkRunStore,
  describeRunStore,
  expiryIgnoredHarness,
  getThenDeleteHarness,
  type RunStoreHarness,
  runStoreTests,
} from '../../src/testing/index.js';
import { referenceHarness } from './reference-store.js';

describeRunStore(referenceHarness, { runner: { describe, it } });

describe('the kit rejects a store that', () => {
  test('gets, then deletes, and claims to be atomic: several callers get the run', async () => {
    const report = await checkRunStore(getThenDeleteHarness);
    expect(report.failed.map(({ name }) => name)).toEqual(['of 16 callers of one store, one gets the run']);
    expect(String(report.failed[0]?.error)).toContain('two winners');
  });

  test('ignores expiry: what is over can be loaded, consumed and kept alive, and the model disagrees', async () => {
    const report = await checkRunStore(expiryIgnoredHarness, { model: { seed: 1 } });
    expect(report.failed.map(({ name }) => name)).toEqual([
      'an expired run loads and consumes as null',
      'loading a run does not prolong its life',
      'concurrent consumers of an expired run all get null',
      'any sequence of calls answers as a map with deadlines would',
    ]);
  });

  test('hands out the object it was given', async () => {
    const aliasing = storeOverMap((state) => state);
    expect((await checkRunStore(aliasing)).failed.map(({ name }) => name)).toContain(
      'changing a state after storing or loading it changes nothing in the store',
    );
  });

  test('loses what JSON loses and claims to keep it', async () => {
    const json = storeOverMap((state) =>
      JSON.parse(JSON.stringify(state, (_, v) => (typeof v === 'bigint' ? `${v}` : v))),
    );
    const claiming = { ...json, capabilities: { ...json.capabilities, payload: 'structured' as const } };
    expect((await checkRunStore(json)).failed).toEqual([]);
    expect((await checkRunStore(claiming)).failed.map(({ name }) => name)).toEqual([
      'values that JSON would lose come back as they were',
    ]);
  });

  test('claims what its harness cannot show', async () => {
    const capabilities = { atomicConsume: 'shared', ttl: true, retrySafe: true, payload: 'json' } as const;
    const report = await checkRunStore({ ...storeOverMap(structuredClone), capabilities });
    const incomplete = report.failed.filter(
      ({ error }) => error instanceof ConformanceError && error.code === 'HARNESS_INCOMPLETE',
    );
    expect(new Set(incomplete.map(({ error }) => /`(\w+)`/.exec(String(error))?.[1]))).toEqual(
      new Set(['advance', 'connect', 'connectFromProcess', 'unreliable']),
    );
  });
});

test('a claim that the kit does not know is refused in words, and not passed over', () => {
  const claimed = { ...referenceHarness.capabilities, atomicConsume: 'store' as 'shared' }; // As JavaScript may have it.
  const register = () => describeRunStore({ ...referenceHarness, capabilities: claimed }, { runner: { describe, it } });
  expect(register).toThrow(/atomicConsume is "store".*'shared'/);
});

describe('a runner', () => {
  test('is found in the global scope', () => {
    const seen: string[] = [];
    withGlobals({ describe: (name: string, body: () => void) => [seen.push(name), body()], it: () => {} }, () =>
      describeRunStore(referenceHarness),
    );
    expect(seen).toEqual([referenceHarness.name]);
  });

  test('that is neither given nor global is asked for in words', () => {
    withGlobals({ describe: undefined, it: undefined }, () =>
      expect(() => describeRunStore(referenceHarness)).toThrow(/Pass them/),
    );
  });

  test('can be node:test, which reports each test of the kit', async () => {
    const file = new URL('./node-test-run.ts', import.meta.url).pathname;
    const { NODE_OPTIONS: _, ...env } = process.env;
    const args = ['--import', 'tsx', '--test-reporter', 'tap', '--test', file];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    expect(stdout).toContain(`# pass ${runStoreTests(referenceHarness).length}`);
    expect(stdout).toContain('# fail 0');
  });
});

/** A store that keeps what `copy` makes of a state. */
function storeOverMap(copy: <T>(state: T) => T): RunStoreHarness {
  return {
    name: 'a store over a map',
    capabilities: { atomicConsume: 'process', ttl: false, retrySafe: false, payload: 'json' },
    async open() {
      const runs = new Map();
      const peek = async (runId: string) => (runs.has(runId) ? copy(runs.get(runId)) : null);
      return {
        store: {
          store: async (runId, state) => void runs.set(runId, copy(state)),
          load: peek,
          consume(runId) {
            const state = peek(runId);
            runs.delete(runId);
            return state;
          },
        },
        close: async () => runs.clear(),
      };
    },
  };
}

function withGlobals(values: Record<string, unknown>, body: () => void): void {
  const before = Object.fromEntries(Object.keys(values).map((key) => [key, Reflect.get(globalThis, key)]));
  Object.assign(globalThis, values);
  try {
    body();
  } finally {
    Object.assign(globalThis, before);
  }
}
