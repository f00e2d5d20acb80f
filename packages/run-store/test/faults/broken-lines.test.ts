import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type AgentRunState, createRunStore, type RunStore } from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { aPausedRun, checkRunStore } from '../../src/testing/index.js';
import {
  CLIENTS,
  type Client,
  type ClientKind,
  type ClientOptions,
  FAULTS,
  type LineFault,
  RESENDING,
} from './lines.js';
import { type BreakableLine, overALine, settle } from './over-a-line.js';
import { plainGetdelHarness } from './plain-getdel.js';

const url = inject('redisUrl') ?? '';
/** A database that no other test file uses. */
const DB = 13;

describe.skipIf(!url)('over a line to Redis that breaks', () => {
  let healthyClient: Client;
  let healthy: RunStore<AgentRunState>;

  beforeAll(() => {
    healthyClient = new Redis(url, { db: DB });
    healthy = createRunStore({ backend: redisRunBackend({ client: healthyClient }), ttlSeconds: 600 });
  });
  afterAll(async () => {
    await healthyClient.flushdb();
    await healthyClient.quit();
  });

  for (const kind of CLIENTS) {
    for (const [name, options] of RESENDING) {
      test.concurrent(`${kind.name} with ${name}: a consume gets the run or says that it does not know, never null`, async () => {
        for (const fault of FAULTS) await consumeUnder(fault, kind, options);
      });
    }

    test.concurrent(`${kind.name}: a claim gets the run or says that it does not know, and a repeat gets the same claim`, async () => {
      for (const fault of FAULTS) await claimUnder(fault, kind);
    });

    test.concurrent(`${kind.name}: a resume decides once, whatever is lost`, async () => {
      for (const fault of FAULTS) await resumeUnder(fault, kind);
    });

    test.concurrent(`${kind.name}: a store that was confirmed is there, and one that was not can be repeated`, async () => {
      for (const fault of FAULTS) await storeUnder(fault, kind);
    });

    test.concurrent(`${kind.name}: a load that fails says so and is never taken for an absent run`, async () => {
      for (const fault of FAULTS) await loadUnder(fault, kind);
    });
  }

  function over(
    fault: LineFault,
    kind: ClientKind,
    options: ClientOptions,
    body: (line: BreakableLine) => Promise<void>,
  ): Promise<void> {
    return overALine({ url, kind, options: { ...options, db: DB } }, fault, body);
  }

  async function consumeUnder(fault: LineFault, kind: ClientKind, options: ClientOptions): Promise<void> {
    const why = `${fault.name}, run-id`;
    await over(fault, kind, options, async ({ line, strike }) => {
      const runId = crypto.randomUUID();
      await healthy.store(runId, aPausedRun(runId));
      const struck = strike();
      const outcome = await settle(line.consume(runId));
      await struck;
      switch (outcome.kind) {
        case 'value':
          expect(outcome.value, why).toEqual(aPausedRun(runId));
          break;
        case 'refused':
          // Certain that nothing has happened: then the run must still be there.
          expect(await healthy.consume(runId), why).toEqual(aPausedRun(runId));
          break;
        case 'unknown':
          expect(outcome.token, why).toEqual(expect.any(String));
          expect(await healthy.consume(runId, { token: outcome.token! }), why).toEqual(aPausedRun(runId));
          break;
      }
      expect(await healthy.consume(runId), why).toBeNull();
    });
  }

  async function claimUnder(fault: LineFault, kind: ClientKind): Promise<void> {
    await over(fault, kind, {}, async ({ line, strike }) => {
      const runId = crypto.randomUUID();
      await healthy.store(runId, aPausedRun(runId));
      const struck = strike();
      const lease = { leaseMs: 600_000, owner: 'worker' };
      const outcome = await settle(line.claim(runId, lease));
      await struck;
      if (outcome.kind === 'refused') throw new Error(`${fault.name}: nothing here is refused for certain`);
      const claimed =
        outcome.kind === 'value' ? outcome.value : await healthy.claim(runId, { ...lease, token: outcome.token! });
      if (claimed.kind !== 'claimed') throw new Error(`${fault.name}: the claim answered ${claimed.kind}`);
      expect(claimed.claim.state).toEqual(aPausedRun(runId));
      expect((await healthy.claim(runId, lease)).kind).toBe('held');
    });
  }

  async function resumeUnder(fault: LineFault, kind: ClientKind): Promise<void> {
    await over(fault, kind, {}, async ({ line, strike }) => {
      const runId = crypto.randomUUID();
      await healthy.store(runId, aPausedRun(runId));
      const decision = { approved: [`call-${runId}`] };
      const struck = strike();
      const outcome = await settle(line.resume(runId, decision));
      await struck;
      // The look before the take may be what failed; then nothing was taken.
      const token = outcome.kind === 'unknown' ? outcome.token : undefined;
      const resumed =
        outcome.kind === 'value' ? outcome.value : await healthy.resume(runId, decision, undefined, { token });
      expect(resumed).toMatchObject({ kind: 'resumed', state: aPausedRun(runId) });
      expect(await healthy.resume(runId, decision)).toEqual({ kind: 'not_found' });
    });
  }

  async function storeUnder(fault: LineFault, kind: ClientKind): Promise<void> {
    await over(fault, kind, {}, async ({ line, strike }) => {
      const runId = crypto.randomUUID();
      const struck = strike();
      const outcome = await settle(line.store(runId, aPausedRun(runId)));
      await struck;
      if (outcome.kind !== 'value') await healthy.store(runId, aPausedRun(runId));
      expect(await healthy.consume(runId), fault.name).toEqual(aPausedRun(runId));
    });
  }

  async function loadUnder(fault: LineFault, kind: ClientKind): Promise<void> {
    await over(fault, kind, {}, async ({ line, strike }) => {
      const runId = crypto.randomUUID();
      await healthy.store(runId, aPausedRun(runId));
      const struck = strike();
      const outcome = await settle(line.load(runId));
      await struck;
      if (outcome.kind === 'value') expect(outcome.value, fault.name).toEqual(aPausedRun(runId));
      else expect(outcome, fault.name).toMatchObject({ kind: 'refused', code: 'BACKEND_UNAVAILABLE' });
    });
  }

  test('the kit rejects GETDEL, which is atomic, on a client that sends again', async () => {
    const report = await checkRunStore(plainGetdelHarness(url, DB));
    expect(report.failed.map(({ name }) => name)).toEqual([
      'a consume whose reply is lost answers with the run or rejects, never with null',
      'among healthy and broken lines a run still has at most one winner',
    ]);
    expect(String(report.failed[0]?.error)).toContain('consume answered null though the run was there');
  });
});
