import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  type AgentRunState,
  createRunStore,
  OutcomeUnknownError,
  type RunStore,
  RunStoreError,
} from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { aPausedRun } from '../../src/testing/index.js';
import { CLIENTS, type Client, type ClientKind, type ClientOptions, FAULTS, type LineFault, proxyTo } from './lines.js';

const url = inject('redisUrl') ?? '';
/** A database that no other test file uses. */
const DB = 12;
const IN_FLIGHT = 64;
const SILENCE_MS = 400;
const PATIENCE_MS = 30_000;

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
        await overALine(kind, { retryStrategy: () => 1 }, PATIENCE_MS, async (line, client) => {
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
    const timeoutMs = fault.silent ? SILENCE_MS : PATIENCE_MS;
    await overALine(kind, options, timeoutMs, async (line, client, strike) => {
      const runIds = await storeMany();
      const struck = strike(fault);
      const answers = await Promise.all(runIds.map((runId) => settle(line.consume(runId))));
      await struck;
      await checkEach(runIds, answers, fault.name);
      expect(client.stream.writableCorked).toBe(0);
    });
  }

  async function checkEach(runIds: readonly string[], answers: readonly Answer[], why: string): Promise<void> {
    await Promise.all(
      runIds.map(async (runId, i) => {
        const answer = answers[i]!;
        const had =
          answer.kind === 'value'
            ? answer.value
            : await healthy.consume(runId, answer.token ? { token: answer.token } : {});
        expect(had, `${why}: ${answer.kind}`).toEqual(aPausedRun(runId));
        expect(await healthy.consume(runId), why).toBeNull();
      }),
    );
  }
});

async function overALine(
  kind: ClientKind,
  options: ClientOptions,
  timeoutMs: number,
  body: (line: RunStore<AgentRunState>, client: Client, strike: (fault: LineFault) => Promise<void>) => Promise<void>,
): Promise<void> {
  const proxy = await proxyTo(url);
  const client = kind.connect(proxy.port, { ...options, db: DB });
  try {
    if (client.status !== 'ready') await once(client, 'ready');
    const backend = redisRunBackend({ client, timeoutMs });
    await body(createRunStore<AgentRunState>({ backend, ttlSeconds: 600 }), client, (fault) => fault.strike(proxy));
  } finally {
    client.disconnect();
    await proxy.stop();
  }
}

type Answer =
  | { readonly kind: 'value'; readonly value: AgentRunState | null }
  /** `refused`: nothing happened, so there is no token to repeat with. */
  | { readonly kind: 'unknown' | 'refused'; readonly token: string | undefined };

/** Anything else than an error of ours fails the test. */
async function settle(call: Promise<AgentRunState | null>): Promise<Answer> {
  try {
    return { kind: 'value', value: await call };
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return { kind: 'unknown', token: error.token };
    if (error instanceof RunStoreError) return { kind: 'refused', token: undefined };
    throw error;
  }
}
