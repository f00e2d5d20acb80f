/** The backend over any cache: as atomic as the cache is. */
import type { PutOptions, RunBackend, RunBackendCapabilities, RunKey, TakeOptions, TouchOptions } from '../backend.js';
import { fromBase64, startsWith, toBase64 } from '../bytes.js';
import { corrupt } from '../codec/decode.js';
import { RunStoreError } from '../errors.js';
import type { CacheAdapter } from '../types.js';

export interface CacheRunBackendOptions {
  readonly cache: CacheAdapter;
  /** Milliseconds since the epoch; expiry is checked here as well, for caches that are late or never. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** What the cache holds: text, since caches serialise as they like. `expiry|base64`, expiry in ms or empty. */
interface Entry {
  readonly bytes: Uint8Array;
  readonly expiresAt: number;
}

/**
 * With `take` in the cache, a run is handed out once among all its clients; without, once within this process, where
 * read and delete are done one after the other for each key. That holds for `ifStamp` too. A `touch` with `take` holds the
 * run for the moment: a consume of another process, just then, finds nothing.
 */
export function cacheRunBackend(options: CacheRunBackendOptions): RunBackend {
  const { cache, now = Date.now } = options;
  for (const method of ['get', 'set', 'forget'] as const) {
    if (typeof cache?.[method] === 'function') continue;
    throw new RunStoreError('INVALID_OPTION', `The option \`cache\` has no method ${method}(); see CacheAdapter.`);
  }
  const inOrder = queueOf(cache);
  /** Copies handed out, so that a repeated token gets the same again; they die with this process. */
  const taken = new Map<string, Entry & { readonly wouldExpireAt: number }>();

  async function read(key: RunKey): Promise<Entry | null> {
    return living(parseEntry(await cache.get<unknown>(key)), now());
  }

  async function write(key: RunKey, bytes: Uint8Array, ttlMs: number | undefined): Promise<void> {
    const text = `${ttlMs === undefined ? '' : now() + ttlMs}|${toBase64(bytes)}`;
    // Whole seconds, rounded up: the exact end is in the text.
    await (ttlMs === undefined ? cache.set(key, text) : cache.set(key, text, Math.ceil(ttlMs / 1000)));
  }

  /** Removes a run and answers with it; with a stamp, only the run that carries it. */
  async function takeOut(key: RunKey, ifStamp: Uint8Array | undefined): Promise<Entry | null> {
    if (cache.take === undefined) {
      const entry = await read(key);
      if (!isMeant(entry, ifStamp)) return null;
      await cache.forget(key);
      return entry;
    }
    if (ifStamp !== undefined && !isMeant(await read(key), ifStamp)) return null;
    const value = await cache.take<unknown>(key);
    let entry: Entry | null;
    try {
      entry = living(parseEntry(value), now());
    } catch (error) {
      await cache.set(key, value);
      throw error;
    }
    if (entry === null || ifStamp === undefined || startsWith(entry.bytes, ifStamp)) return entry;
    // Another process stored a new run between the look and the take.
    await write(key, entry.bytes, remaining(entry, now()));
    return null;
  }

  async function takeOnce(key: RunKey, { token, retainMs, ifStamp }: TakeOptions): Promise<Uint8Array | null> {
    const copyName = `${key}:${token}`;
    for (const [name, copy] of taken) {
      if (copy.expiresAt > now()) break;
      taken.delete(name);
    }
    const earlier = taken.get(copyName);
    if (earlier !== undefined) return earlier.bytes;
    const entry = await takeOut(key, ifStamp);
    if (entry === null) return null;
    taken.set(copyName, { bytes: entry.bytes, expiresAt: now() + retainMs, wouldExpireAt: entry.expiresAt });
    return entry.bytes;
  }

  const capabilities: RunBackendCapabilities = {
    atomicTake: cache.take === undefined ? 'process' : 'store',
    retrySafeTake: false,
    expiry: true,
    durability: 'none',
    shared: cache.take !== undefined,
  };

  return {
    name: 'cache',
    capabilities,
    put: (key, bytes, put: PutOptions) =>
      inOrder(key, async () => {
        if (put.existing === 'keep') {
          const present = await read(key);
          if (present !== null) return startsWith(present.bytes, bytes) ? 'stored' : 'exists';
        }
        await write(key, bytes, put.ttlMs);
        return 'stored';
      }),
    get: async (key) => (await read(key))?.bytes ?? null,
    take: (key, take) => inOrder(key, () => takeOnce(key, take)),
    putBack: (key, { token }) =>
      inOrder(key, async () => {
        const copy = taken.get(`${key}:${token}`);
        if (copy === undefined || copy.expiresAt <= now() || (await read(key)) !== null) return false;
        await write(key, copy.bytes, remaining({ bytes: copy.bytes, expiresAt: copy.wouldExpireAt }, now()));
        taken.delete(`${key}:${token}`);
        return true;
      }),
    touch: (key, { ttlMs, ifStamp }: TouchOptions) =>
      inOrder(key, async () => {
        // Where it can be, it is taken for the moment: rewriting a run that somebody consumes meanwhile would revive it.
        const entry = await (cache.take === undefined ? read(key) : takeOut(key, ifStamp));
        if (!isMeant(entry, ifStamp)) return false;
        await write(key, entry.bytes, ttlMs);
        return true;
      }),
    remove: (key, { ifStamp } = {}) =>
      inOrder(key, async () => {
        if (ifStamp !== undefined) return (await takeOut(key, ifStamp)) !== null;
        const present = await read(key);
        await cache.forget(key);
        return present !== null;
      }),
  };
}

function parseEntry(value: unknown): Entry | null {
  if (value === null || value === undefined) return null;
  const match = typeof value === 'string' ? /^(\d*)\|([A-Za-z0-9+/=]+)$/.exec(value) : null;
  if (match === null) throw corrupt('the cache holds something else under its key');
  try {
    return { bytes: fromBase64(match[2]!), expiresAt: match[1] === '' ? Number.POSITIVE_INFINITY : Number(match[1]) };
  } catch (cause) {
    throw corrupt('its text in the cache is not base64', cause);
  }
}

function isMeant(entry: Entry | null, ifStamp: Uint8Array | undefined): entry is Entry {
  return entry !== null && (ifStamp === undefined || startsWith(entry.bytes, ifStamp));
}

function living(entry: Entry | null, at: number): Entry | null {
  return entry !== null && entry.expiresAt > at ? entry : null;
}

function remaining(entry: Entry, at: number): number | undefined {
  return entry.expiresAt === Number.POSITIVE_INFINITY ? undefined : Math.max(1, entry.expiresAt - at);
}

type Queue = <T>(key: string, work: () => Promise<T>) => Promise<T>;
/** By cache, not by backend: two stores over one cache must not take the same run. */
const queues = new WeakMap<CacheAdapter, Queue>();

function queueOf(cache: CacheAdapter): Queue {
  let queue = queues.get(cache);
  if (queue === undefined) {
    queue = createQueue();
    queues.set(cache, queue);
  }
  return queue;
}

/** One after the other for each key; keys do not wait for each other. */
function createQueue(): Queue {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work, work);
    const settled = result.catch(() => undefined);
    tails.set(key, settled);
    void settled.then(() => {
      if (tails.get(key) === settled) tails.delete(key);
    });
    return result;
  };
}
