/** The contract's classes: the engine with a backend already chosen, for both families of runs. */
import type { RunKey } from './backend.js';
import { cacheRunBackend } from './backends/cache.js';
import { type MemoryRunBackend, memoryRunBackend } from './backends/memory.js';
import type { RunStoreEngineOptions } from './engine/options.js';
import { RunStoreEngine } from './run-store.js';
import type {
  AgentRunState,
  AgentRunStore,
  CacheAdapter,
  InMemoryRunStoreOptions,
  SubAgentRunSnapshot,
  SubAgentRunStore,
} from './types.js';

export const AGENT_RUN_PREFIX = 'interlock:agent-run:';
export const SUB_AGENT_RUN_PREFIX = 'interlock:sub-agent-run:';

/** Options of the in-memory stores, and those of every store. Without `ttlSeconds` nothing expires. */
export interface InMemoryRunStoreBaseOptions<TState>
  extends InMemoryRunStoreOptions,
    Omit<RunStoreEngineOptions<TState>, 'ttlSeconds' | 'now'> {}

/** Runs in this process: for tests and single-process hosts. What it hands out are deep copies. */
export class InMemoryRunStoreBase<TState> extends RunStoreEngine<TState> {
  readonly #memory: MemoryRunBackend;

  constructor(options: InMemoryRunStoreBaseOptions<TState> = {}) {
    const { ttlSeconds = 'never', maxRuns, now, ...rest } = options;
    let evicted: (key: RunKey) => void = () => {};
    const memory = memoryRunBackend({ maxRuns, now, onEvict: (key) => evicted(key) });
    // In memory nothing is gained by squeezing, and a big conversation may stay.
    super({ compression: 'none', maxBytes: 64 * 1024 * 1024, ...rest, ttlSeconds, now, backend: memory });
    this.#memory = memory;
    evicted = (key) => this.noteEviction(key);
  }

  /** Number of runs that wait or are claimed. */
  get size(): number {
    return this.#memory.size;
  }

  /** Forgets everything; for tests. */
  clear(): void {
    this.#memory.clear();
  }
}

export interface CachedRunStoreOptions<TState> extends RunStoreEngineOptions<TState> {
  /** Where runs are kept. Give it an atomic `take`, or one process must do all the resuming. */
  cache: CacheAdapter;
}

/** Runs in a cache of the host's. Default life: 300 seconds. */
export class CachedRunStoreBase<TState> extends RunStoreEngine<TState> {
  constructor(options: CachedRunStoreOptions<TState>) {
    const { cache, ...rest } = options;
    super({ ...rest, backend: cacheRunBackend({ cache, now: rest.now }) });
  }
}

export type CachedAgentRunStoreOptions = CachedRunStoreOptions<AgentRunState>;

export type CachedSubAgentRunStoreOptions = CachedRunStoreOptions<SubAgentRunSnapshot>;

/** Top-level runs in this process. */
export class InMemoryAgentRunStore extends InMemoryRunStoreBase<AgentRunState> implements AgentRunStore {
  constructor(options: InMemoryRunStoreBaseOptions<AgentRunState> = {}) {
    super({ keyPrefix: AGENT_RUN_PREFIX, ...options });
  }
}

/** Sub-agents' runs in this process. */
export class InMemorySubAgentRunStore extends InMemoryRunStoreBase<SubAgentRunSnapshot> implements SubAgentRunStore {
  constructor(options: InMemoryRunStoreBaseOptions<SubAgentRunSnapshot> = {}) {
    super({ keyPrefix: SUB_AGENT_RUN_PREFIX, ...options });
  }
}

/** Top-level runs in a cache of the host's. */
export class CachedAgentRunStore extends CachedRunStoreBase<AgentRunState> implements AgentRunStore {
  constructor(options: CachedAgentRunStoreOptions) {
    super({ keyPrefix: AGENT_RUN_PREFIX, ...options });
  }
}

/** Sub-agents' runs in a cache of the host's. */
export class CachedSubAgentRunStore extends CachedRunStoreBase<SubAgentRunSnapshot> implements SubAgentRunStore {
  constructor(options: CachedSubAgentRunStoreOptions) {
    super({ keyPrefix: SUB_AGENT_RUN_PREFIX, ...options });
  }
}
