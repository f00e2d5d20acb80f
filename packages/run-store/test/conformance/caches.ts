/** A cache as hosts have them: asynchronous, with expiry in whole seconds, and an atomic take. */
import type { CacheAdapter } from '../../src/index.js';

export function aMapCache(now: () => number = Date.now): Required<CacheAdapter> {
  const entries = new Map<string, { text: string; goneAt: number }>();
  // The type of what a cache holds is its user's promise.
  const read = <T>(key: string): T | null => {
    const entry = entries.get(key);
    return entry && entry.goneAt > now() ? (JSON.parse(entry.text) as T) : null;
  };
  return {
    async get<T>(key: string) {
      await Promise.resolve();
      return read<T>(key);
    },
    async set(key, value, ttlSeconds) {
      await Promise.resolve();
      const goneAt = ttlSeconds === undefined ? Number.POSITIVE_INFINITY : now() + ttlSeconds * 1000;
      entries.set(key, { text: JSON.stringify(value), goneAt });
    },
    async forget(key) {
      await Promise.resolve();
      entries.delete(key);
    },
    async take<T>(key: string) {
      await Promise.resolve();
      const value = read<T>(key);
      entries.delete(key);
      return value;
    },
  };
}
