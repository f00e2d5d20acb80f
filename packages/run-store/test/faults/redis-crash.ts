/** Kills a Redis in the middle of traffic, starts it again on the same files, and counts what became of every run. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedis } from '@mcp-interlock/test-kit/redis';
import { Redis } from 'ioredis';
import { type AgentRunState, createRunStore, type RunStore } from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { aPausedRun } from '../../src/testing/index.js';

export interface CrashOptions {
  /** `no`: without an append-only file. */
  readonly appendfsync: 'always' | 'everysec' | 'no';
  /** Runs confirmed as stored before the kill. */
  readonly runs: number;
}

export interface CrashReport {
  /** Confirmed as stored, and nobody has asked for them: those must be there. */
  readonly stored: number;
  readonly lost: number;
  /** Confirmed as consumed: those must not come back. */
  readonly consumed: number;
  readonly cameBack: number;
  /** Calls under way when the server died. Either outcome is right; what is not is a third. */
  readonly unknown: number;
  readonly damaged: number;
}

const WORKERS = 16;

export async function crashRedis({ appendfsync, runs }: CrashOptions): Promise<CrashReport> {
  const dir = await mkdtemp(join(tmpdir(), 'interlock-crash-'));
  const args = appendfsync === 'no' ? [] : ['--appendonly', 'yes', '--appendfsync', appendfsync];
  let server: RedisServer | undefined;
  try {
    server = await startRedis({ args, dir });
    const traffic = await trafficUntilKilled(server, runs);
    server = await startRedis({ args, dir, port: server.port });
    return await census(server, traffic);
  } finally {
    await server?.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

interface Traffic {
  readonly stored: ReadonlySet<string>;
  readonly consumed: ReadonlySet<string>;
  readonly unknown: ReadonlySet<string>;
}

/** Workers store runs and consume every other one, until the server is gone under them. */
async function trafficUntilKilled(server: RedisServer, runs: number): Promise<Traffic> {
  const [stored, consumed, unknown] = [new Set<string>(), new Set<string>(), new Set<string>()];
  // It must not send again to the server that comes after: what was in flight stays unknown.
  const client = new Redis(server.url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => {});
  const store = storeOn(client);
  let killed: Promise<void> | undefined;

  async function worker(): Promise<void> {
    for (let round = 0; killed === undefined; round += 1) {
      const runId = crypto.randomUUID();
      try {
        await store.store(runId, aPausedRun(runId));
        if (round % 2 === 0) {
          stored.add(runId);
        } else {
          await store.consume(runId);
          consumed.add(runId);
        }
      } catch {
        unknown.add(runId);
      }
      if (stored.size + consumed.size >= runs) killed ??= server.kill('SIGKILL');
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker));
  await killed;
  client.disconnect();
  return { stored, consumed, unknown };
}

async function census(server: RedisServer, { stored, consumed, unknown }: Traffic): Promise<CrashReport> {
  const client = new Redis(server.url);
  const store = storeOn(client);
  const found = async (runId: string) => {
    const state = await store.load(runId).catch(() => 'damaged' as const);
    if (state === null || state === 'damaged') return state;
    return JSON.stringify(state) === JSON.stringify(aPausedRun(runId)) ? ('whole' as const) : ('damaged' as const);
  };
  const [ofStored, ofConsumed, ofUnknown] = await Promise.all(
    [stored, consumed, unknown].map((ids) => Promise.all([...ids].map(found))),
  );
  client.disconnect();
  const all = [...ofStored!, ...ofConsumed!, ...ofUnknown!];
  return {
    stored: stored.size,
    lost: ofStored!.filter((state) => state === null).length,
    consumed: consumed.size,
    cameBack: ofConsumed!.filter((state) => state !== null).length,
    unknown: unknown.size,
    damaged: all.filter((state) => state === 'damaged').length,
  };
}

function storeOn(client: Redis): RunStore<AgentRunState> {
  return createRunStore({ backend: redisRunBackend({ client }), ttlSeconds: 3_600 });
}
