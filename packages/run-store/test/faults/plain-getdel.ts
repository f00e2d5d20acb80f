/** The store that most would write: SET, GET, GETDEL. Atomic, and yet a run can be gone with nobody having it. */
import { Redis } from 'ioredis';
import type { AgentRunStore, RunStoreHarness } from '../../src/testing/index.js';
import { proxyTo } from './lines.js';

export function plainGetdelHarness(url: string, db: number): RunStoreHarness {
  return {
    name: 'a store on plain GETDEL, with ioredis 6 as it comes',
    capabilities: { atomicConsume: 'process', ttl: false, retrySafe: true, payload: 'json' },
    async open({ ttlSeconds }) {
      const proxy = await proxyTo(url);
      const place = crypto.randomUUID();
      const [direct, broken] = [new Redis(url, { db }), new Redis(proxy.port, proxy.host, { db })];
      broken.on('error', () => {});
      return {
        store: overGetdel(direct, place, ttlSeconds),
        unreliable: async () => ({
          store: overGetdel(broken, place, ttlSeconds),
          loseNextRequest: () => void proxy.arm({ at: 'request', effect: 'cut' }),
          loseNextReply: () => void proxy.arm({ at: 'reply', effect: 'cut' }),
        }),
        async close() {
          broken.disconnect();
          await direct.quit();
          await proxy.stop();
        },
      };
    },
  };
}

function overGetdel(client: Redis, place: string, ttlSeconds: number): AgentRunStore {
  const keyOf = (runId: string) => `${place}:${runId}`;
  const parse = (text: string | null) => (text === null ? null : JSON.parse(text));
  return {
    store: async (runId, state) => void (await client.set(keyOf(runId), JSON.stringify(state), 'EX', ttlSeconds)),
    load: async (runId) => parse(await client.get(keyOf(runId))),
    consume: async (runId) => parse(await client.getdel(keyOf(runId))),
  };
}
