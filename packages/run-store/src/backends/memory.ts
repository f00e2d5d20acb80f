/** The backend within one process: a `Map`, a clock, and the same rules as the others. */
import type {
  ClaimReply,
  ClaimRequest,
  PutOptions,
  RemoveOptions,
  RunBackend,
  RunBackendCapabilities,
  RunClaims,
  RunIndex,
  RunKey,
  TakeOptions,
  TouchOptions,
} from '../backend.js';
import { sameBytes, startsWith } from '../bytes.js';
import {
  dropExpired,
  isEmpty,
  leaseLives,
  meant,
  outliving,
  pageOf,
  runsOf,
  Slot,
  type Tally,
} from './memory-slots.js';

export interface MemoryRunBackendOptions {
  /** The oldest waiting run makes room when there are more; a claimed one never does. Default: no bound. */
  maxRuns?: number | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: (() => number) | undefined;
  /** Told the key of each run that made room. */
  onEvict?: ((key: RunKey) => void) | undefined;
}

/** The backend, and a `clear()` for tests. */
export interface MemoryRunBackend extends RunBackend {
  readonly claims: RunClaims;
  readonly index: RunIndex;
  /** Number of runs that wait or are claimed. */
  readonly size: number;
  clear(): void;
}

const capabilities: RunBackendCapabilities = {
  atomicTake: 'process',
  retrySafeTake: true,
  expiry: true,
  durability: 'none',
  shared: false,
};

/**
 * @example
 * const store = createRunStore({ backend: memoryRunBackend({ maxRuns: 10_000 }) });
 */
export function memoryRunBackend(options: MemoryRunBackendOptions = {}): MemoryRunBackend {
  const { now = Date.now, maxRuns = Number.POSITIVE_INFINITY, onEvict = () => {} } = options;
  const slots = new Map<RunKey, Slot>();
  const tally: Tally = { runs: 0, earliestExpiry: Number.POSITIVE_INFINITY };
  let sequence = 0;
  let lastFence = 0;
  /** What expired without being asked for again goes when the map has doubled: constant work a put, on average. */
  let sweepAt = 1024;

  /** The slot with what has expired taken out of it. */
  function slotAt(key: RunKey): Slot | undefined {
    const slot = slots.get(key);
    if (slot === undefined) return undefined;
    dropExpired(slot, now());
    if (isEmpty(slot)) slots.delete(key);
    return slot;
  }

  function dropAllExpired(): void {
    tally.earliestExpiry = Number.POSITIVE_INFINITY;
    for (const key of [...slots.keys()]) {
      const slot = slotAt(key);
      for (const run of [slot?.waiting, slot?.claimed]) {
        if (run !== undefined) tally.earliestExpiry = Math.min(tally.earliestExpiry, run.expiresAt);
      }
    }
  }

  function makeRoom(): void {
    // What is over goes before what still waits.
    if (now() >= tally.earliestExpiry) dropAllExpired();
    for (const [key, slot] of slots) {
      if (tally.runs <= maxRuns) return;
      if (slot.waiting === undefined) continue;
      slot.waiting = undefined;
      onEvict(key);
      if (isEmpty(slot)) slots.delete(key);
    }
  }

  async function put(key: RunKey, bytes: Uint8Array, put: PutOptions): Promise<'stored' | 'exists'> {
    const slot = slotAt(key) ?? new Slot(tally);
    const present = slot.waiting ?? slot.claimed;
    if (put.existing === 'keep' && present !== undefined) {
      return startsWith(present.bytes, bytes) ? 'stored' : 'exists';
    }
    sequence += 1;
    const expiresAt = put.ttlMs === undefined ? Number.POSITIVE_INFINITY : now() + put.ttlMs;
    slot.waiting = { bytes, expiresAt, sequence, index: put.index };
    slots.delete(key);
    slots.set(key, slot);
    if (slots.size > sweepAt) {
      dropAllExpired();
      sweepAt = Math.max(1024, 2 * slots.size);
    }
    if (tally.runs > maxRuns) makeRoom();
    return 'stored';
  }

  async function get(key: RunKey): Promise<Uint8Array | null> {
    const slot = slotAt(key);
    return (slot?.waiting ?? slot?.claimed)?.bytes ?? null;
  }

  async function take(key: RunKey, options: TakeOptions): Promise<Uint8Array | null> {
    const { token, retainMs, ifStamp, ifCell } = options;
    const slot = slotAt(key);
    if (slot === undefined) return null;
    const earlier = slot.taken.get(token);
    if (earlier !== undefined) return earlier.bytes;
    const run = slot.waiting ?? (leaseLives(slot.claimed, now()) ? undefined : slot.claimed);
    if (run === undefined || (ifStamp !== undefined && !startsWith(run.bytes, ifStamp))) return null;
    if (ifCell !== undefined && !sameBytes(slot.cell?.bytes ?? null, ifCell)) return null;
    if (run === slot.waiting) slot.waiting = undefined;
    else slot.claimed = undefined;
    const expiresAt = now() + retainMs;
    const { bytes, sequence, index } = run;
    slot.taken.set(token, { bytes, sequence, index, expiresAt, wouldExpireAt: run.expiresAt });
    if (slot.cell !== undefined) slot.cell = { ...slot.cell, expiresAt };
    return run.bytes;
  }

  async function putBack(key: RunKey, { token }: { readonly token: string }): Promise<boolean> {
    const slot = slotAt(key);
    const copy = slot?.taken.get(token);
    if (slot === undefined || copy === undefined || slot.waiting !== undefined) return false;
    const { wouldExpireAt, ...run } = copy;
    slot.waiting = { ...run, expiresAt: wouldExpireAt };
    slot.taken.delete(token);
    return true;
  }

  async function touch(key: RunKey, { ttlMs, ifStamp }: TouchOptions): Promise<boolean> {
    const slot = slotAt(key);
    if (slot === undefined) return false;
    const { waits, held } = meant(slot, ifStamp);
    if (!waits && !held) return false;
    const expiresAt = now() + ttlMs;
    if (waits && slot.waiting !== undefined) slot.waiting = { ...slot.waiting, expiresAt };
    if (held && slot.claimed !== undefined) {
      const leaseMs = slot.claimed.leaseEndsAt - now();
      slot.claimed = { ...slot.claimed, expiresAt: outliving({ expiresAt }, now(), leaseMs) };
    }
    if (slot.cell !== undefined) slot.cell = { ...slot.cell, expiresAt };
    return true;
  }

  async function remove(key: RunKey, { ifStamp }: RemoveOptions = {}): Promise<boolean> {
    const slot = slotAt(key);
    if (slot === undefined) return false;
    const { waits, held } = meant(slot, ifStamp);
    if (!waits && !held && ifStamp !== undefined) return false;
    if (waits) slot.waiting = undefined;
    if (held) slot.claimed = undefined;
    slot.outcome = undefined;
    // A cell beside a run that stays is that run's.
    if (slot.waiting === undefined) slot.cell = undefined;
    slot.releasedToken = undefined;
    if (isEmpty(slot)) slots.delete(key);
    return waits || held;
  }

  async function claim(key: RunKey, { token, leaseMs, ifStamp }: ClaimRequest): Promise<ClaimReply> {
    const slot = slotAt(key);
    if (slot === undefined) return { kind: 'missing' };
    const held = slot.claimed;
    if (held !== undefined && leaseLives(held, now())) {
      if (held.token !== token) return { kind: 'held', retryInMs: held.leaseEndsAt - now() };
      return { kind: 'claimed', bytes: held.bytes, fence: held.fence };
    }
    const run = slot.waiting ?? held;
    if (run === undefined) {
      const outcome = slot.outcome?.bytes;
      return outcome === undefined ? { kind: 'missing' } : { kind: 'settled', outcome };
    }
    if (ifStamp !== undefined && !startsWith(run.bytes, ifStamp)) return { kind: 'missing' };
    lastFence = Math.max(lastFence + 1, Math.floor(now()));
    const leaseEndsAt = now() + leaseMs;
    slot.claimed = { ...run, token, fence: lastFence, leaseEndsAt, expiresAt: outliving(run, now(), leaseMs) };
    slot.waiting = undefined;
    slot.releasedToken = undefined;
    return { kind: 'claimed', bytes: run.bytes, fence: lastFence };
  }

  const claims: RunClaims = {
    claim,
    async extend(key, { token, leaseMs }) {
      const slot = slotAt(key);
      if (slot?.claimed?.token !== token) return 'stale';
      const leaseEndsAt = now() + leaseMs;
      slot.claimed = { ...slot.claimed, leaseEndsAt, expiresAt: outliving(slot.claimed, now(), leaseMs) };
      return 'ok';
    },
    async release(key, { token }) {
      const slot = slotAt(key);
      if (slot?.claimed?.token !== token) return slot?.releasedToken === token ? 'ok' : 'stale';
      const { bytes, expiresAt, sequence, index } = slot.claimed;
      slot.waiting ??= { bytes, expiresAt, sequence, index };
      slot.claimed = undefined;
      slot.releasedToken = token;
      return 'ok';
    },
    async outcome(key) {
      return slotAt(key)?.outcome?.bytes ?? null;
    },
    async settle(key, { token, outcome, outcomeTtlMs }) {
      const slot = slotAt(key);
      if (slot?.claimed?.token !== token) return slot?.outcome?.token === token ? 'ok' : 'stale';
      slot.claimed = undefined;
      // A cell beside a newer run is that run's.
      if (slot.waiting === undefined) slot.cell = undefined;
      slot.outcome = { token, bytes: outcome, expiresAt: now() + outcomeTtlMs };
      return 'ok';
    },
  };

  const index: RunIndex = {
    async list(query) {
      return pageOf(slots, query, now());
    },
    async eraseTenant(tenant) {
      let erased = 0;
      for (const [key, slot] of [...slots]) {
        if ((slot.waiting ?? slot.claimed)?.index?.tenant !== tenant) continue;
        if (await remove(key)) erased += 1;
      }
      return erased;
    },
  };

  return {
    name: 'memory',
    capabilities,
    put,
    get,
    take,
    putBack,
    touch,
    remove,
    cells: {
      async read(key) {
        return slotAt(key)?.cell?.bytes ?? null;
      },
      async swap(key, { expected, next, ifStamp }) {
        const slot = slotAt(key);
        if (slot?.waiting === undefined || !startsWith(slot.waiting.bytes, ifStamp)) return false;
        if (!sameBytes(slot.cell?.bytes ?? null, expected)) return false;
        slot.cell = { bytes: next, expiresAt: slot.waiting.expiresAt };
        return true;
      },
    },
    claims,
    index,
    async sweep({ limit, onExpired }) {
      let swept = 0;
      for (const [key, slot] of [...slots]) {
        if (swept >= limit) break;
        const runs = runsOf(slot);
        slotAt(key);
        const expired = runs - runsOf(slot);
        for (let i = 0; i < expired; i++) onExpired?.(key);
        swept += expired;
      }
      return swept;
    },
    get size() {
      dropAllExpired();
      return tally.runs;
    },
    clear() {
      slots.clear();
      tally.runs = 0;
    },
  };
}
