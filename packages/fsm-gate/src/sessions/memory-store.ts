/** Sessions in this process's memory: bounded, least recently used out first, with an optional time to live. */
import type { FsmSnapshot } from '../snapshot.js';
import type { CommitOutcome, GateStore, ReserveOutcome, ReserveRequest, StoredSession } from './store.js';

/** Options of `memoryGateStore`. */
export interface MemoryGateStoreOptions {
  /** How many sessions are kept; the least recently used goes first, never one with a living lease. Default 10,000. */
  readonly maxSessions?: number;
  /** For how long a session that nobody touches is kept, in milliseconds. Default: for ever. */
  readonly ttlMs?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** What is kept of a session. A lease is there only while a call is in flight, so that an idle session stays small. */
interface Slot {
  snapshot: FsmSnapshot;
  version: number;
  /** The fence of the last commit: its repetition is answered, not refused. */
  done: number;
  touchedAt: number;
  lease: Lease | undefined;
}

interface Lease {
  readonly id: string;
  readonly tool: string;
  readonly fence: number;
  until: number;
}

/** How many held sessions are passed over to make room for one; what is kept beyond the bound meanwhile goes with the next ones. */
const MOST_PASSED = 4;

/** The default store of `createGateSessions`: one process, nothing survives it. */
export function memoryGateStore(options: MemoryGateStoreOptions = {}): GateStore {
  const { maxSessions = 10_000, ttlMs = Number.POSITIVE_INFINITY, now = Date.now } = options;
  // A Map keeps the order of insertion: touching a slot moves it to the end, so the oldest is always first.
  const slots = new Map<string, Slot>();
  const expires = Number.isFinite(ttlMs);
  let fences = 0;
  /** The most recently used one, which needs no moving. */
  let newest: Slot | undefined;

  return {
    read(key) {
      const slot = touch(key);
      // A session that only has a lease was never written.
      return slot && slot.version > 0 ? view(slot) : undefined;
    },

    reserve(key, request): ReserveOutcome {
      const slot = touch(key) ?? insert(key, request.initial());
      const { lease } = slot;
      if (held(slot) && lease) {
        if (lease.id === request.id) return { kind: 'granted', session: view(slot), fence: lease.fence };
        return { kind: 'held', session: view(slot), tool: lease.tool, expiresInMs: lease.until - now() };
      }
      if (request.onlyIn && !request.onlyIn.includes(slot.snapshot.state)) {
        forgetUnwritten(key, slot);
        return { kind: 'elsewhere', session: view(slot) };
      }
      slot.lease = newLease(request);
      return { kind: 'granted', session: view(slot), fence: slot.lease.fence };
    },

    renew(key, fence, leaseMs) {
      const slot = touch(key);
      if (!slot?.lease || !holds(slot, fence)) return false;
      slot.lease.until = now() + leaseMs;
      return true;
    },

    commit(key, fence, snapshot): CommitOutcome {
      // Its reservation has just moved it to the end.
      const slot = expires ? touch(key) : slots.get(key);
      if (slot?.done === fence) return { kind: 'committed', version: slot.version };
      if (!slot || !holds(slot, fence)) return { kind: 'lost' };
      write(slot, snapshot);
      slot.done = fence;
      return { kind: 'committed', version: slot.version };
    },

    release(key, fence) {
      const slot = slots.get(key);
      if (slot?.lease?.fence !== fence) return;
      slot.lease = undefined;
      forgetUnwritten(key, slot);
    },

    force(key, snapshot) {
      const slot = touch(key) ?? insert(key, snapshot);
      write(slot, snapshot);
      slot.done = 0;
      return view(slot);
    },

    delete(key) {
      slots.delete(key);
    },
  };

  function touch(key: string): Slot | undefined {
    const slot = slots.get(key);
    if (!slot) return undefined;
    if (stale(slot)) {
      slots.delete(key);
      return undefined;
    }
    if (expires) slot.touchedAt = now();
    if (slot === newest) return slot;
    slots.delete(key);
    slots.set(key, slot);
    newest = slot;
    return slot;
  }

  function insert(key: string, snapshot: FsmSnapshot): Slot {
    makeRoom();
    const slot: Slot = {
      snapshot: copy(snapshot),
      version: 0,
      done: 0,
      touchedAt: expires ? now() : 0,
      lease: undefined,
    };
    slots.set(key, slot);
    newest = slot;
    return slot;
  }

  function makeRoom(): void {
    if (slots.size < maxSessions && !expires) return;
    let passed = 0;
    for (const [key, slot] of slots) {
      if (!held(slot)) {
        if (slots.size < maxSessions && !stale(slot)) return;
        slots.delete(key);
        continue;
      }
      // It is in use. Were it passed over where it lies, each new session would pass over all that are held.
      slots.delete(key);
      slots.set(key, slot);
      passed += 1;
      if (passed === MOST_PASSED) return;
    }
  }

  function stale(slot: Slot): boolean {
    return expires && !held(slot) && now() - slot.touchedAt >= ttlMs;
  }

  function held({ lease }: Slot): boolean {
    return lease !== undefined && lease.until > now();
  }

  function holds(slot: Slot, fence: number): boolean {
    return held(slot) && slot.lease?.fence === fence;
  }

  function newLease({ id, tool, leaseMs }: ReserveRequest): Lease {
    // One counter for the store: a fence of a session that was deleted is never handed out again under its key.
    fences += 1;
    return { id, tool, fence: fences, until: now() + leaseMs };
  }

  function write(slot: Slot, snapshot: FsmSnapshot): void {
    slot.snapshot = copy(snapshot);
    slot.version += 1;
    slot.lease = undefined;
  }

  function forgetUnwritten(key: string, slot: Slot): void {
    if (slot.version === 0) slots.delete(key);
  }
}

function view({ snapshot, version }: Slot): StoredSession {
  return { snapshot: copy(snapshot), version };
}

/** Callers own what they get: changing it must not change what is stored. */
function copy({ state, updatedAt, machine }: FsmSnapshot): FsmSnapshot {
  return machine ? { state, updatedAt, machine: structuredClone(machine) } : { state, updatedAt };
}
