/** The memory cache: bounded, forgetting what was used longest ago. */
import type { EraRecord, MCPEraCache } from './types.js';

export interface MemoryEraCacheOptions {
  /** How many verdicts are kept. Default 1000. */
  readonly maxEntries?: number;
}

/** A cache of this object alone: gone with the process. */
export function createMcpEraCache({ maxEntries = 1000 }: MemoryEraCacheOptions = {}): MCPEraCache {
  const records = new Map<string, EraRecord>();
  const set = (key: string, record: EraRecord): void => {
    records.delete(key);
    records.set(key, record);
    if (records.size > maxEntries) records.delete([...records.keys()][0] as string);
  };
  return {
    get(key) {
      const record = records.get(key);
      if (record) set(key, record);
      return record;
    },
    set,
    delete: (key) => void records.delete(key),
  };
}

/** One memory cache for the whole process, for callers who bring none. A test should bring its own. */
export const defaultMcpEraCache: MCPEraCache = /* @__PURE__ */ createMcpEraCache();
