import { describe, expect, it, test } from 'vitest';
import type { RunBackend } from '../../src/backend.js';
import { memoryRunBackend } from '../../src/backends/memory.js';
import { checkRunBackend, describeRunBackend, type RunBackendHarness } from '../../src/testing/index.js';

const memory: RunBackendHarness = {
  name: 'the memory driver',
  async open() {
    let now = 1_700_000_000_000;
    return {
      backend: memoryRunBackend({ now: () => now }),
      async advance(ms) {
        now += ms;
      },
      close: async () => {},
    };
  },
};

describeRunBackend(memory, { runner: { describe, it } });

describe('the kit rejects a driver that', () => {
  test('answers a repeated take with null though it claims to be safe to repeat', async () => {
    const failed = await failuresOf((backend) => ({
      ...backend,
      take: (key, options) => backend.take(key, { ...options, token: crypto.randomUUID() }),
    }));
    expect(failed).toEqual(
      expect.arrayContaining([
        'a repeated take gets the same bytes, whatever was asked for or removed since',
        'a repeated take takes no later run of the same key',
        'callers of one token all get the run, and callers of another get nothing',
        'any sequence of calls answers as the memory driver does',
      ]),
    );
  });

  test('gives every claimer the run', async () => {
    const failed = await failuresOf((backend) => ({
      ...backend,
      claims: {
        ...backend.claims!,
        async claim(key) {
          const value = await backend.get(key);
          return value ? { kind: 'claimed', bytes: value, fence: 1 } : { kind: 'missing' };
        },
      },
    }));
    expect(failed).toContain('of concurrent claims one gets the run');
    expect(failed).toContain('a claimed run is held against others, seen by get, and not taken');
  });

  test('leaves a taken run where it was', async () => {
    const failed = await failuresOf((backend) => ({ ...backend, take: (key) => backend.get(key) }));
    expect(failed).toContain('a taken run is gone for everybody else');
    expect(failed).toContain('of 16 concurrent takers of a run, one wins');
  });
});

async function failuresOf(spoil: (backend: RunBackend) => RunBackend): Promise<string[]> {
  const spoilt: RunBackendHarness = {
    name: 'a spoilt driver',
    async open() {
      const place = await memory.open();
      return { ...place, backend: spoil(place.backend) };
    },
  };
  // Seeded: whether a random sequence shows a defect must not be left to chance here.
  const report = await checkRunBackend(spoilt, { model: { seed: 1, numRuns: 200 } });
  return report.failed.map(({ name }) => name);
}
