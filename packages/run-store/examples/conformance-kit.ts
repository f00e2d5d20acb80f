/** A store of your own under the conformance kit, here with node:test; `runner: { describe, it }` of vitest works alike. */
import { describe, it } from 'node:test';
import { type AgentRunStore, describeRunStore } from '@mcp-interlock/run-store/testing';

describeRunStore(
  {
    name: 'my store',
    // Only what is claimed is tested, and everything that is claimed is.
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
      const advance = async (ms: number) => {
        now += ms;
      };
      return { store, advance, close: async () => runs.clear() };
    },
  },
  { runner: { describe, it } },
);
