import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, inject, test } from 'vitest';
import { type AgentRunStore, createRunStore } from '../../src/index.js';
import { RedisAgentRunStore } from '../../src/redis.js';
import { openSqlite } from '../../src/sqlite.js';
import {
  aPausedRun,
  checkHistory,
  describeViolation,
  type ForkedStore,
  forkStore,
  HistoryRecorder,
} from '../../src/testing/index.js';

const url = inject('redisUrl') ?? '';
const DB = 10;
const RUNS = 300;
const PROCESSES = 3;
const execArgv = ['--import', 'tsx'];

describe('consumers in several processes, of which one is killed while it consumes', () => {
  test.skipIf(!url)(
    'on Redis leave every run with one winner, or with a caller who knows that it does not know',
    async () => {
      const client = new Redis(url, { db: DB });
      const module = new URL('../conformance/redis-process.ts', import.meta.url);
      const fork = () => forkStore({ module, args: [url, `${DB}`], execArgv });
      try {
        await raceWithAKill(new RedisAgentRunStore({ client, ttlSeconds: 600 }), fork);
      } finally {
        await client.flushdb();
        await client.quit();
      }
    },
  );

  test('on SQLite leave every run with one winner, or with a caller who knows that it does not know', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'interlock-kill-'));
    const path = join(folder, 'runs.db');
    const { backend, close } = await openSqlite({ path });
    const module = new URL('../conformance/sqlite-process.ts', import.meta.url);
    try {
      await raceWithAKill(createRunStore({ backend, ttlSeconds: 600 }), () =>
        forkStore({ module, args: [path], execArgv }),
      );
    } finally {
      close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function raceWithAKill(own: AgentRunStore, fork: () => Promise<ForkedStore>): Promise<void> {
  const children = await Promise.all(Array.from({ length: PROCESSES }, fork));
  const history = new HistoryRecorder();
  const keeper = history.watch(own, 'keeper');
  const consumers = children.map((child) => history.watch(child, `process ${child.pid}`));
  try {
    const runIds = Array.from({ length: RUNS }, () => crypto.randomUUID());
    await Promise.all(runIds.map((runId) => keeper.store(runId, aPausedRun(runId))));

    let answered = 0;
    await Promise.all(
      consumers.map(async (consumer, index) => {
        // Each begins elsewhere, so that they meet at every run.
        const order = [...runIds.slice(index * 100), ...runIds.slice(0, index * 100)];
        await Promise.allSettled(
          order.map(async (runId) => {
            await consumer.consume(runId);
            answered += 1;
            if (answered === RUNS / 4) await children[0]!.kill();
          }),
        );
      }),
    );
    // Whatever the killed process did not take is still there for somebody.
    await Promise.all(runIds.map((runId) => keeper.consume(runId)));

    const { violations, winners, unknown } = checkHistory(history.calls);
    expect(violations.map(describeViolation)).toEqual([]);
    expect(unknown).toBeGreaterThan(0);
    expect(winners).toBeLessThanOrEqual(RUNS);
    expect(winners + unknown).toBeGreaterThanOrEqual(RUNS);
  } finally {
    await Promise.all(children.map((child) => child.kill()));
  }
}
