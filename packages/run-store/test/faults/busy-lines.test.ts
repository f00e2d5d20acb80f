import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type AgentRunState, createRunStore, type RunStore } from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { aPausedRun } from '../../src/testing/index.js';
import { CLIENTS, type Client, type ClientKind, type ClientOptions, FAULTS, type LineFault } from './lines.js';
import { overALine, type Settled, settle } from './over-a-line.js';

const url = inject('redisUrl') ?? '';
/** A database that no other test file uses. */
const DB = 12;
const IN_FLIGHT = 64;

const SETTINGS: readonly (readonly [string, ClientOptions])[] = [
  ['its defaults', {}],
  ['maxRetriesPerRequest: 0', { maxRetriesPerRequest: 0 }],
  ['enableOfflineQueue: false', { enableOfflineQueue: false }],
  ['enableAutoPipelining: true', { enableAutoPipelining: true }],
];

/** Calls that meet share a write, so that one fault strikes many of them, some in the middle of their two commands. */
describe.skipIf(!url)(`${IN_FLIGHT} calls at once over a line to Redis that breaks`, () => {
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
    for (const [name, options] of SETTINGS) {
      test.concurrent(`${kind.name} with ${name}: each run is had once, by its consume or by whoever repeats it`, async () => {
        for (const fault of FAULTS) {
          await underFault(fault, kind, options);
        }
      });
    }

    for (const act of ['destroy', 'disconnect'] as const) {
      test.concurrent(`${kind.name}: a ${act} between two turns of sending loses no run`, async () => {
        const end = { url, kind, options: { retryStrategy: () => 1, db: DB } };
        await overALine(end, undefined, async ({ line, client }) => {
          const runIds = await storeMany();
          // Both are called while what was sent is still held back.
          process.nextTick(() => (act === 'destroy' ? client.stream.destroy() : client.disconnect(true)));
          await checkEach(runIds, await Promise.all(runIds.map((runId) => settle(line.consume(runId)))), act);
          expect(client.stream.writableCorked).toBe(0);
        });
      });
    }
  }

  async function storeMany(): Promise<readonly string[]> {
    const runIds = Array.from({ length: IN_FLIGHT }, () => crypto.randomUUID());
    await Promise.all(runIds.map((runId) => healthy.store(runId, aPausedRun(runId))));
    return runIds;
  }

  async function underFault(fault: LineFault, kind: ClientKind, options: ClientOptions): Promise<void> {
    await overALine({ url, kind, options: { ...options, db: DB } }, fault, async ({ line, client, strike }) => {
      const runIds = await storeMany();
      const struck = strike();
      const answers = await Promise.all(runIds.map((runId) => settle(line.consume(runId))));
      await struck;
      await checkEach(runIds, answers, fault.name);
      expect(client.stream.writableCorked).toBe(0);
    });
  }

  async function checkEach(
    runIds: readonly string[],
    answers: readonly Settled<AgentRunState | null>[],
    why: string,
  ): Promise<void> {
    await Promise.all(
      runIds.map(async (runId, i) => {
        const answer = answers[i]!;
        const had =
          answer.kind === 'value'
            ? answer.value
            : await healthy.consume(runId, answer.kind === 'unknown' ? { token: answer.token! } : {});
        expect(had, `${why}: ${answer.kind}`).toEqual(aPausedRun(runId));
        expect(await healthy.consume(runId), why).toBeNull();
      }),
    );
  }
});
