/** A store as a third party might write it against the contract alone, and right: what the kit must pass. */
import type { AgentRunStore, RunStoreHarness } from '../../src/testing/index.js';

export const referenceHarness: RunStoreHarness = {
  name: 'a third party store in memory',
  capabilities: { atomicConsume: 'process', ttl: true, retrySafe: false, payload: 'json' },
  async open({ ttlSeconds }) {
    let now = 0;
    const runs = new Map<string, { text: string; goneAt: number }>();
    const peek = (runId: string) => {
      const run = runs.get(runId);
      return run && run.goneAt > now ? JSON.parse(run.text) : null;
    };
    const store: AgentRunStore = {
      store: async (runId, state) => {
        runs.set(runId, { text: JSON.stringify(state), goneAt: now + ttlSeconds * 1000 });
      },
      load: async (runId) => peek(runId),
      async consume(runId) {
        const state = peek(runId);
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
