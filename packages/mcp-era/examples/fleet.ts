import { Redis } from 'ioredis';

const redis = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379');
let asked = 0;
const probe = async () => {
  asked++;
  const result = { supportedVersions: ['2026-07-28'], capabilities: {}, cacheScope: 'public' };
  return { kind: 'result', result } as const;
};
const key = `http:https://${crypto.randomUUID()}.example.com`;

// #region fleet
import { createEraResolver, type EraEvent } from '@mcp-interlock/mcp-era';
import { createStoreEraCache } from '@mcp-interlock/mcp-era/store';

const cache = createStoreEraCache({
  get: (key) => redis.get(key),
  set: (key, value, ttlSeconds) => redis.set(key, value, 'EX', ttlSeconds),
  delete: (key) => redis.del(key),
});
const counts: Partial<Record<EraEvent['type'], number>> = {};
const onEvent = ({ type }: EraEvent) => {
  counts[type] = (counts[type] ?? 0) + 1;
};
const [here, there] = [createEraResolver({ cache, onEvent }), createEraResolver({ cache, onEvent })];

await here.resolve({ key, probe });
await there.resolve({ key, probe }); // another process of the fleet
console.log(counts);
// { probe: 1, hit: 1 }
// #endregion

if (asked !== 1) throw new Error(`asked ${asked} times`);
redis.disconnect();
