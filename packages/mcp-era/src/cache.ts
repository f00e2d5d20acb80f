/** The memory cache: bounded, forgetting what was used longest ago. */
import type { EraRecord, MCPEraCache } from './types.js';

export interface MemoryEraCacheOptions {
  /** How many verdicts are kept. Default 1000. */
  readonly maxEntries?: number;
}

/** A cache of this object alone: gone with the process. */
export function createMcpEraCache({ maxEntries = 1000 }: MemoryEraCacheOptions = {}): MCPEraCache {
  return boundedMap<EraRecord>(maxEntries);
}

/** One memory cache for the whole process, for callers who bring none. A test should bring its own. */
export const defaultMcpEraCache: MCPEraCache = /* @__PURE__ */ createMcpEraCache();

export interface BoundedMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
}

/** Keeps the `size` entries that were used last. */
export function boundedMap<V>(size: number): BoundedMap<V> {
  const entries = new Map<string, V>();
  const set = (key: string, value: V): void => {
    entries.delete(key);
    entries.set(key, value);
    if (entries.size > size) entries.delete(entries.keys().next().value as string);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value) set(key, value);
      return value;
    },
    set,
    delete: (key) => void entries.delete(key),
  };
}
