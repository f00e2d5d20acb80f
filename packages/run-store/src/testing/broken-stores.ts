/**
 * Two stores that are wrong on purpose, as they are often written. A conformance kit that passes either is worth
 * nothing; ours is tested against both, and yours can be too.
 */
import type { AgentRunStore, RunStoreHarness } from './harness.js';

/** Claims atomicity, and reads first and deletes afterwards, with a turn of the event loop in between. */
export const getThenDeleteHarness: RunStoreHarness = {
  name: 'a store that gets, then deletes',
  capabilities: { atomicConsume: 'process', ttl: false, retrySafe: false, payload: 'json' },
  async open() {
    const runs = new Map<string, string>();
    const load: AgentRunStore['load'] = async (runId) => {
      const text = runs.get(runId);
      await Promise.resolve();
      return text === undefined ? null : JSON.parse(text);
    };
    const store: AgentRunStore = {
      store: async (runId, state) => void runs.set(runId, JSON.stringify(state)),
      load,
      async consume(runId) {
        const state = await load(runId);
        runs.delete(runId);
        return state;
      },
    };
    return { store, close: async () => runs.clear() };
  },
};

/** Claims expiry, notes the deadline, and never looks at it again. */
export const expiryIgnoredHarness: RunStoreHarness = {
  name: 'a store that ignores expiry',
  capabilities: { atomicConsume: 'process', ttl: true, retrySafe: false, payload: 'json' },
  async open({ ttlSeconds }) {
    let now = 0;
    const runs = new Map<string, { text: string; goneAt: number }>();
    const read = (runId: string) => {
      const run = runs.get(runId);
      return run ? JSON.parse(run.text) : null;
    };
    const store: AgentRunStore = {
      store: async (runId, state) =>
        void runs.set(runId, { text: JSON.stringify(state), goneAt: now + ttlSeconds * 1000 }),
      load: async (runId) => read(runId),
      async consume(runId) {
        const state = read(runId);
        runs.delete(runId);
        return state;
      },
    };
    return {
      store,
      async advance(ms) {
        now += ms;
      },
      close: async () => runs.clear(),
    };
  },
};
