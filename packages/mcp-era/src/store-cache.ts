/** A cache over any store with get, set and delete, so that a fleet asks each server once. */
import { isObject } from './is-object.js';
import { readDiscover } from './message.js';
import type { EraRecord, MaybePromise, MCPEraCache } from './types.js';
import { LEGACY_VERSIONS, MODERN_VERSIONS } from './versions.js';

/** The least a store must do. `ttlSeconds` is a wish: a store that cannot expire keeps the entry. */
export interface EraStore {
  get(key: string): MaybePromise<string | null | undefined>;
  set(key: string, value: string, ttlSeconds: number): MaybePromise<unknown>;
  delete(key: string): MaybePromise<unknown>;
}

export interface StoreEraCacheOptions {
  /** Put before every key. Default `interlock:era:`. */
  readonly prefix?: string;
  /** How long the store may keep an entry; the resolver judges its age by itself. Default 86 400 (a day). */
  readonly ttlSeconds?: number;
}

/**
 * Verdicts as JSON text in a store of yours. What does not read back as a verdict counts as absent.
 *
 * ```ts
 * const cache = createStoreEraCache({
 *   get: (key) => redis.get(key),
 *   set: (key, value, ttl) => redis.set(key, value, 'EX', ttl),
 *   delete: (key) => redis.del(key),
 * });
 * ```
 */
export function createStoreEraCache(store: EraStore, options: StoreEraCacheOptions = {}): MCPEraCache {
  const { prefix = 'interlock:era:', ttlSeconds = 86_400 } = options;
  return {
    get: async (key) => parseEraRecord(await store.get(prefix + key)),
    set: async (key, record) => void (await store.set(prefix + key, JSON.stringify(record), ttlSeconds)),
    delete: async (key) => void (await store.delete(prefix + key)),
  };
}

/** Reads a stored verdict; `undefined` for anything that is none. */
export function parseEraRecord(text: unknown): EraRecord | undefined {
  let record: unknown;
  try {
    record = JSON.parse(text as string);
  } catch {
    return undefined; // absent, not ours, or half written
  }
  if (!isObject(record)) return undefined;
  const { kind, version, discover } = record;
  const versions: readonly unknown[] = kind === 'modern' ? MODERN_VERSIONS : kind === 'legacy' ? LEGACY_VERSIONS : [];
  // Its times are compared as numbers only: what is none counts as past.
  return versions.includes(version) ? ({ ...record, discover: readDiscover(discover) } as EraRecord) : undefined;
}
