import type { TcpProxy } from '@mcp-interlock/test-kit/tcp-proxy';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { type AgentRunState, createRunStore, type RunStore } from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { aPausedRun } from '../../src/testing/index.js';
import { CLIENTS, type Client, proxyTo } from './lines.js';

const url = inject('redisUrl') ?? '';
const DB = 14;
const scope = { tenant: 'acme', principal: 'ann' };

describe.skipIf(!url).each(CLIENTS)('over $name', (kind) => {
  let proxy: TcpProxy;
  let client: Client;
  let plain: RunStore<AgentRunState>;
  let indexed: RunStore<AgentRunState>;

  beforeEach(async () => {
    proxy = await proxyTo(url);
    client = kind.connect(proxy.port, { db: DB });
    const backend = redisRunBackend({ client });
    plain = createRunStore({ backend });
    indexed = createRunStore({ backend, index: 'clear' });
    // The scripts are loaded and the line is up.
    for (const runs of [plain, indexed]) {
      await runs.store('warm-up', aPausedRun(), { scope });
      const claimed = await runs.claim('warm-up', { leaseMs: 60_000, owner: 'warm-up' });
      if (claimed.kind === 'claimed') await claimed.claim.ack();
    }
  });
  afterEach(async () => {
    await client.flushdb();
    client.disconnect();
    await proxy.stop();
  });

  test('store, load, consume, an indexed store, a claim and its end take one round trip each', async () => {
    expect(await roundTripsOf(() => plain.store('run', aPausedRun()))).toBe(1);
    expect(await roundTripsOf(() => plain.load('run'))).toBe(1);
    expect(await roundTripsOf(() => plain.consume('run'))).toBe(1);
    expect(await roundTripsOf(() => indexed.store('run', aPausedRun(), { scope }))).toBe(1);
    const before = proxy.roundTrips;
    const claimed = await indexed.claim('run', { leaseMs: 60_000, owner: 'worker' });
    expect(proxy.roundTrips - before).toBe(1);
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
    expect(await roundTripsOf(() => claimed.claim.ack({ outcome: 'done' }))).toBe(1);
  });

  async function roundTripsOf(operation: () => Promise<unknown>): Promise<number> {
    const before = proxy.roundTrips;
    await operation();
    return proxy.roundTrips - before;
  }
});
