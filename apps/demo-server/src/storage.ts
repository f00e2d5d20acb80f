/** Where state lives: embedded by default, a SQLite file for what must survive a restart, or one Redis for everything. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { redisGateStore } from '@mcp-interlock/fsm-gate/redis';
import type { GateStore } from '@mcp-interlock/fsm-gate/sessions';
import { memoryGateStore } from '@mcp-interlock/fsm-gate/sessions';
import { createMcpEraCache, type MCPEraCache } from '@mcp-interlock/mcp-era';
import { createStoreEraCache } from '@mcp-interlock/mcp-era/store';
import { type AgentRunState, createRunStore, memoryRunBackend, type RunStore } from '@mcp-interlock/run-store';
import { redisRunBackend } from '@mcp-interlock/run-store/redis';
import { openSqlite } from '@mcp-interlock/run-store/sqlite';
import { Redis } from 'ioredis';
import type { DemoOptions } from './options.js';
import { type CartStore, memoryCarts, redisCarts } from './shop/carts.js';

export interface Storage {
  /** For people: where state is, without credentials. */
  readonly description: string;
  readonly gateStore: GateStore;
  readonly runs: RunStore<AgentRunState>;
  readonly carts: CartStore;
  /** Which protocol each upstream was found to speak. */
  readonly eraCache: MCPEraCache;
  close(): Promise<void>;
}

/** A decision may take until tomorrow. */
const RUN_TTL_SECONDS = 24 * 3600;

export async function openStorage(options: DemoOptions, onError: (error: unknown) => void): Promise<Storage> {
  if (options.redisUrl !== undefined) return openRedisStorage(options.redisUrl, onError);
  const embedded = { gateStore: memoryGateStore(), carts: memoryCarts(), eraCache: createMcpEraCache() };
  if (options.dataFolder === undefined) {
    return {
      ...embedded,
      description: 'memory',
      runs: createRunStore<AgentRunState>({
        backend: memoryRunBackend({ maxRuns: 10_000 }),
        ttlSeconds: RUN_TTL_SECONDS,
      }),
      close: async () => {},
    };
  }
  const path = join(options.dataFolder, 'runs.db');
  const sqlite = await openRunsFile(options.dataFolder, path);
  return {
    ...embedded,
    description: `memory; paused payments in ${path}`,
    runs: createRunStore<AgentRunState>({ backend: sqlite.backend, ttlSeconds: RUN_TTL_SECONDS, index: 'clear' }),
    close: async () => sqlite.close(),
  };
}

async function openRunsFile(folder: string, path: string) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(`The folder ${folder} (from --data) cannot be made: ${reasonOf(error)}. Name another.`, {
      cause: error,
    });
  }
  try {
    return await openSqlite({ path });
  } catch (error) {
    throw new Error(
      `The file ${path} (in --data) cannot be opened: ${reasonOf(error)}. Move it away, or name another folder.`,
      { cause: error },
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A caller waits seconds, not minutes, for a Redis that went away; the connection itself is tried again for ever. */
const REDIS_PATIENCE = {
  maxRetriesPerRequest: 1,
  commandTimeout: 5_000,
  retryStrategy: (attempt: number) => Math.min(attempt * 200, 2_000),
} as const;

async function openRedisStorage(url: string, onError: (error: unknown) => void): Promise<Storage> {
  const redis = new Redis(url, { ...REDIS_PATIENCE, lazyConnect: true });
  // Said once for each time that it goes away, not for each attempt to reach it again.
  let toldOfLoss = false;
  redis.on('ready', () => {
    toldOfLoss = false;
  });
  redis.on('error', (error) => {
    if (!toldOfLoss) onError(error);
    toldOfLoss = true;
  });
  const place = `Redis at ${redis.options.host}:${redis.options.port}`;
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw new Error(`The ${place} (from REDIS_URL) cannot be reached. Start it, or unset REDIS_URL.`, { cause: error });
  }
  const gateStore = redisGateStore({ client: redis, prefix: 'interlock:demo:gate:' });
  return {
    description: place,
    gateStore,
    runs: createRunStore<AgentRunState>({
      backend: redisRunBackend({ client: redis }),
      keyPrefix: 'interlock:demo:run:',
      ttlSeconds: RUN_TTL_SECONDS,
      index: 'clear',
    }),
    carts: redisCarts(redis),
    eraCache: createStoreEraCache(
      {
        get: (key) => redis.get(key),
        set: (key, value, ttlSeconds) => redis.set(key, value, 'EX', ttlSeconds),
        delete: (key) => redis.del(key),
      },
      { prefix: 'interlock:demo:era:' },
    ),
    async close() {
      // `quit` waits for answers that a Redis which is gone will never give.
      if (redis.status === 'ready') await redis.quit().catch(onError);
      redis.disconnect();
    },
  };
}
