import { describe, expect, it, test } from 'vitest';
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

test('a defect that only a sequence of calls shows is found by the model', async () => {
  const spoilt: RunBackendHarness = {
    name: 'a driver that forgets a taken copy when its key is used again',
    async open() {
      const place = await memory.open();
      const { backend } = place;
      const used = new Map<string, number>();
      const tokenNow = (key: string, token: string) => `${token}${used.get(key) ?? 0}`;
      return {
        ...place,
        backend: {
          ...backend,
          put(key, value, options) {
            used.set(key, (used.get(key) ?? 0) + 1);
            return backend.put(key, value, options);
          },
          take: (key, options) => backend.take(key, { ...options, token: tokenNow(key, options.token) }),
          putBack: (key, options) => backend.putBack(key, { ...options, token: tokenNow(key, options.token) }),
        },
      };
    },
  };
  // Seeded: whether a random sequence shows it must not be left to chance here.
  const report = await checkRunBackend(spoilt, { model: { seed: 1, numRuns: 300 } });
  expect(report.failed.map(({ name }) => name)).toContain('any sequence of calls answers as the memory driver does');
});
