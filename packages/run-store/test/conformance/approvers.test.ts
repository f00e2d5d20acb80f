import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, inject, test } from 'vitest';
import { type AgentRunState, createRunStore, DecisionError, type RunBackend, type RunStore } from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { openSqlite } from '../../src/sqlite.js';
import { aPausedRun } from '../../src/testing/index.js';
import { aRedisPlace } from './redis-places.js';

const url = inject('redisUrl') ?? '';
const DB = 9;
const APPROVERS = 5;
const ROUNDS = 20;
const scope = { tenant: 'acme', threadId: 'thread-1' };
const partial = { mode: 'partial' } as const;

describe.skipIf(!url)('on Redis, approvers on connections of their own', () =>
  theApprovers(async (body) => {
    const place = aRedisPlace(() => new Redis(url, { db: DB }));
    try {
      await body(() => redisRunBackend({ client: place.connect() }));
    } finally {
      await place.close();
    }
  }),
);

describe('on SQLite, approvers on connections of their own', () =>
  theApprovers(async (body) => {
    const folder = mkdtempSync(join(tmpdir(), 'interlock-approvers-'));
    const opened = await Promise.all(
      Array.from({ length: APPROVERS }, () => openSqlite({ path: join(folder, 'runs.db') })),
    );
    let next = 0;
    try {
      await body(() => opened[next++ % APPROVERS]!.backend);
    } finally {
      for (const { close } of opened) close();
      rmSync(folder, { recursive: true, force: true });
    }
  }));

type Connect = () => RunBackend;

function theApprovers(onPlace: (body: (connect: Connect) => Promise<void>) => Promise<void>): void {
  test('who each decide one call at the same time complete the decision once, with every part in it', () =>
    onPlace(async (connect) => {
      const approvers = approversOn(connect);
      for (let round = 0; round < ROUNDS; round += 1) {
        const { runId, calls } = await aRunThatAsks(approvers[0]!);
        const answers = await Promise.all(
          calls.map((call, index) => approvers[index]!.resume(runId, decisionOn(call, index), scope, partial)),
        );
        const resumed = answers.filter((answer) => answer.kind === 'resumed');
        expect(resumed).toHaveLength(1);
        expect(resumed[0]).toMatchObject({
          decision: {
            approved: calls.filter((_, index) => index % 2 === 0),
            rejected: calls.filter((_, index) => index % 2 === 1).map((toolCallId) => ({ toolCallId })),
          },
        });
        expect(await approvers[0]!.consume(runId)).toBeNull();
      }
    }));

  test('who contradict each other on the last call resume the run once, one way', () =>
    onPlace(async (connect) => {
      const approvers = approversOn(connect);
      for (let round = 0; round < ROUNDS; round += 1) {
        const { runId, calls } = await aRunThatAsks(approvers[0]!);
        const [last, ...others] = calls;
        await approvers[0]!.resume(runId, { approved: others }, scope, partial);
        const answers = await Promise.allSettled([
          approvers[1]!.resume(runId, { approved: [last!] }, scope, partial),
          approvers[2]!.resume(runId, { rejected: [last!] }, scope, partial),
        ]);
        const kinds = answers.map((answer) => {
          if (answer.status === 'fulfilled') return answer.value.kind;
          expect(answer.reason).toBeInstanceOf(DecisionError);
          return 'contradiction refused';
        });
        expect(kinds.filter((kind) => kind === 'resumed')).toHaveLength(1);
        expect(['not_found', 'contradiction refused']).toContain(kinds.find((kind) => kind !== 'resumed'));
      }
    }));
}

function approversOn(connect: Connect): RunStore<AgentRunState>[] {
  return Array.from({ length: APPROVERS }, () => createRunStore({ backend: connect(), ttlSeconds: 600 }));
}

async function aRunThatAsks(runs: RunStore<AgentRunState>): Promise<{ runId: string; calls: string[] }> {
  const runId = crypto.randomUUID();
  const calls = Array.from({ length: APPROVERS }, (_, index) => `call-${index}`);
  await runs.store(runId, { ...aPausedRun(runId), pendingToolCallIds: calls }, { scope });
  return { runId, calls };
}

function decisionOn(call: string, index: number) {
  return index % 2 === 0 ? { approved: [call] } : { rejected: [call] };
}
