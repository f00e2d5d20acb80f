/** Makes a plain `load`/`save` store do for one process: leases in memory, snapshots in the store. */
import type { FsmSnapshot, FsmStateStore } from '../snapshot.js';
import { memoryGateStore } from './memory-store.js';
import type { GateStore, StoredSession } from './store.js';

/**
 * A `GateStore` over a `load`/`save` store. Calls of one process are arbitrated; two processes on the same store are not, for
 * such a store has no way to tell them apart. Fences start anew with the process.
 */
export function serialisedStore(store: FsmStateStore, options: { readonly now?: () => number } = {}): GateStore {
  // Holds the leases of calls in flight and nothing of idle sessions.
  const leases = memoryGateStore({ ...options, maxSessions: Number.POSITIVE_INFINITY });

  return {
    read: load,

    async reserve(key, request) {
      // Load after the lease is ours: what was loaded earlier may be out of date.
      const taken = await leases.reserve(key, { ...request, onlyIn: undefined });
      if (taken.kind === 'elsewhere') return taken;
      try {
        const session = (await load(key)) ?? { snapshot: request.initial(), version: 0 };
        if (taken.kind === 'held') return { ...taken, session };
        if (!request.onlyIn || request.onlyIn.includes(session.snapshot.state)) return { ...taken, session };
        await leases.release(key, taken.fence);
        return { kind: 'elsewhere', session };
      } catch (error) {
        if (taken.kind === 'granted') await leases.release(key, taken.fence);
        throw error;
      }
    },

    renew: (key, fence, leaseMs) => leases.renew(key, fence, leaseMs),

    async commit(key, fence, snapshot) {
      if (!(await leases.renew(key, fence, SAVE_GRACE_MS))) return { kind: 'lost' };
      const { version } = await save(key, snapshot);
      await leases.release(key, fence);
      return { kind: 'committed', version };
    },

    release: (key, fence) => leases.release(key, fence),

    async force(key, snapshot) {
      await leases.delete(key);
      return save(key, snapshot);
    },

    async delete(key) {
      await leases.delete(key);
      await store.delete?.(key);
    },
  };

  async function load(key: string): Promise<StoredSession | undefined> {
    const saved = await store.load(key);
    if (!saved) return undefined;
    const { version = 1, ...snapshot } = saved;
    return { snapshot, version };
  }

  async function save(key: string, snapshot: FsmSnapshot): Promise<StoredSession> {
    const version = ((await load(key))?.version ?? 0) + 1;
    await store.save(key, { ...snapshot, version });
    return { snapshot, version };
  }
}

/** A `save` may take its time; the lease must outlive it. */
const SAVE_GRACE_MS = 60_000;
