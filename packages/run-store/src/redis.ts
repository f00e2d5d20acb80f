/** `@mcp-interlock/run-store/redis`: paused runs on Redis, with ioredis 5 or 6, on a single server or a Cluster. */
import type { RunStoreEngineOptions } from './engine/options.js';
import { AGENT_RUN_PREFIX, SUB_AGENT_RUN_PREFIX } from './faces.js';
import { nodeRuntime } from './node.js';
import { type RedisRunBackendOptions, redisRunBackend } from './redis/backend.js';
import { RunStoreEngine } from './run-store.js';
import type { AgentRunState, AgentRunStore, SubAgentRunSnapshot, SubAgentRunStore } from './types.js';

export { nodeRuntime } from './node.js';
export { type RedisRunBackendOptions, redisRunBackend } from './redis/backend.js';
export type { RedisArgument, RedisClient, RedisPipeline } from './redis/client.js';

export interface RedisRunStoreOptions<TState> extends RunStoreEngineOptions<TState>, RedisRunBackendOptions {
  readonly now?: (() => number) | undefined;
}

/** Runs of any state on Redis. */
export class RedisRunStore<TState> extends RunStoreEngine<TState> {
  constructor(options: RedisRunStoreOptions<TState>) {
    const { client, timeoutMs, setTimer, ...engine } = options;
    const backend = redisRunBackend({ client, timeoutMs, setTimer, now: engine.now });
    super({ runtime: nodeRuntime, ...engine, backend });
  }
}

/**
 * Top-level runs on Redis.
 *
 * @example
 * const runs = new RedisAgentRunStore({ client: new Redis(process.env.REDIS_URL), ttlSeconds: 3600 });
 */
export class RedisAgentRunStore extends RedisRunStore<AgentRunState> implements AgentRunStore {
  constructor(options: RedisRunStoreOptions<AgentRunState>) {
    super({ keyPrefix: AGENT_RUN_PREFIX, ...options });
  }
}

/** Sub-agents' runs on Redis. */
export class RedisSubAgentRunStore extends RedisRunStore<SubAgentRunSnapshot> implements SubAgentRunStore {
  constructor(options: RedisRunStoreOptions<SubAgentRunSnapshot>) {
    super({ keyPrefix: SUB_AGENT_RUN_PREFIX, ...options });
  }
}
