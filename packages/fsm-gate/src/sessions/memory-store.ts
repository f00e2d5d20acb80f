/** Sessions in this process's memory: bounded, least recently used out first, with an optional time to live. */
import type { FsmSnapshot } from '../snapshot.js';
import type { CommitOutcome, GateStore, ReserveOutcome, StoredSession } from './store.js';

/** Options of `memoryGateStore`. */
export interface MemoryGateStoreOptions {
  /** How many sessions are kept; the least recently used goes first, never one with a living lease. Default 10,000. */
  readonly maxSessions?: number;
  /** For how long a session that nobody touches is kept, in milliseconds. Default: for ever. */
  readonly ttlMs?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

/** What is kept of a session. The lease is part of it, so that a call makes none. */
export interface Slot {
  readonly key: string;
  /** Replaced, never changed. */
  snapshot: FsmSnapshot;
  version: number;
  /** The fence of the last commit, 0 for none: its repetition is answered, not refused. */
  done: number;
  touchedAt: number;
  /** The lease: its fence, 0 for none; the reservation's id ('' for one by `LocalSlots`) and tool; its end. */
  fence: number;
  id: string;
  tool: string;
  until: number;
}

/** How many held sessions are passed over to make room for one; what is kept beyond the bound meanwhile goes with the next ones. */
const MOST_PASSED = 4;

/**
 * The store of this process as it is, for the interlock alone: with no copies, since snapshots do not change, and without the
 * answers that a store must make. What it does is what `GateStore` does; `test/local-slots.test.ts` holds them together.
 */
export interface LocalSlots {
  readonly now: () => number;
  /** The slot of a session that nobody holds; it is the most recently used one then. */
  findFree(key: string): Slot | undefined;
  /** `reserve` of a free slot; gives the fence. */
  take(slot: Slot, tool: string, leaseMs: number): number;
  /** `commit` at a time that was read just now; false where the lease is no longer the caller's. */
  commit(slot: Slot, fence: number, snapshot: FsmSnapshot, at: number): boolean;
  /** `release`. */
  free(slot: Slot, fence: number): void;
}

const localSlots = new WeakMap<GateStore, LocalSlots>();

/** The slots of a store that `memoryGateStore` made; of no other, and of none that is wrapped. */
export function slotsOf(store: GateStore): LocalSlots | undefined {
  return localSlots.get(store);
}

/**
 * The default store of `createGateSessions`: one process, nothing survives it. Calls of a session that nobody else holds pass its
 * methods by, so it is frozen: to stand between, wrap it (`{ ...memoryGateStore(), commit }`).
 */
export function memoryGateStore(options: MemoryGateStoreOptions = {}): GateStore {
  const { maxSessions = 10_000, ttlMs = Number.POSITIVE_INFINITY, now = Date.now } = options;
  // A Map keeps the order of insertion: touching a slot moves it to the end, so the oldest is always first.
  const slots = new Map<string, Slot>();
  const expires = Number.isFinite(ttlMs);
  let fences = 0;
  /** The most recently used one, which needs no moving. */
  let newest: Slot | undefined;

  const store: GateStore = {
    read(key) {
      const slot = touch(key);
      // A session that only has a lease was never written.
      return slot && slot.version > 0 ? view(slot) : undefined;
    },

    reserve(key, request): ReserveOutcome {
      const slot = touch(key) ?? insert(key, request.initial());
      if (held(slot)) {
        if (slot.id === request.id) return { kind: 'granted', session: view(slot), fence: slot.fence };
        return { kind: 'held', session: view(slot), tool: slot.tool, expiresInMs: slot.until - now() };
      }
      if (request.onlyIn && !request.onlyIn.includes(slot.snapshot.state)) {
        free(slot, slot.fence);
        return { kind: 'elsewhere', session: view(slot) };
      }
      const fence = take(slot, request.tool, request.leaseMs);
      slot.id = request.id;
      return { kind: 'granted', session: view(slot), fence };
    },

    renew(key, fence, leaseMs) {
      const slot = touch(key);
      if (!slot || !holds(slot, fence, now())) return false;
      slot.until = now() + leaseMs;
      return true;
    },

    commit(key, fence, snapshot): CommitOutcome {
      const slot = find(key);
      if (!slot || !commit(slot, fence, copy(snapshot), now())) return { kind: 'lost' };
      return { kind: 'committed', version: slot.version };
    },

    release(key, fence) {
      const slot = find(key);
      if (slot) free(slot, fence);
    },

    force(key, snapshot) {
      const slot = touch(key) ?? insert(key, snapshot);
      write(slot, copy(snapshot));
      slot.done = 0;
      return view(slot);
    },

    delete: forget,
  };
  if (!expires) localSlots.set(store, { now, findFree, take, commit, free });
  return Object.freeze(store);

  function findFree(key: string): Slot | undefined {
    const slot = touch(key);
    return slot?.fence === 0 ? slot : undefined;
  }

  function take(slot: Slot, tool: string, leaseMs: number): number {
    // One counter for the store: a fence of a session that was deleted is never handed out again under its key.
    fences += 1;
    slot.fence = fences;
    slot.tool = tool;
    slot.until = now() + leaseMs;
    return fences;
  }

  function commit(slot: Slot, fence: number, snapshot: FsmSnapshot, at: number): boolean {
    if (!holds(slot, fence, at)) return fence > 0 && slot.done === fence;
    touch(slot.key);
    write(slot, snapshot);
    slot.done = fence;
    return true;
  }

  function find(key: string): Slot | undefined {
    return newest?.key === key ? newest : slots.get(key);
  }

  /** A call that still has the slot must find nothing of it alive. */
  function forget(key: string): void {
    const slot = find(key);
    if (!slot) return;
    slot.fence = 0;
    slot.done = 0;
    slots.delete(key);
    if (slot === newest) newest = undefined;
  }

  function touch(key: string): Slot | undefined {
    const slot = find(key);
    if (!slot) return undefined;
    if (expires) {
      if (stale(slot)) {
        forget(key);
        return undefined;
      }
      slot.touchedAt = now();
    }
    if (slot === newest) return slot;
    slots.delete(key);
    slots.set(key, slot);
    newest = slot;
    return slot;
  }

  function insert(key: string, snapshot: FsmSnapshot): Slot {
    makeRoom();
    const slot: Slot = {
      key,
      snapshot: copy(snapshot),
      version: 0,
      done: 0,
      touchedAt: expires ? now() : 0,
      fence: 0,
      id: '',
      tool: '',
      until: 0,
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
        forget(key);
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

  function held(slot: Slot): boolean {
    return slot.fence !== 0 && slot.until > now();
  }

  function holds(slot: Slot, fence: number, at: number): boolean {
    return slot.fence === fence && fence !== 0 && slot.until > at;
  }

  function write(slot: Slot, snapshot: FsmSnapshot): void {
    if (slot.snapshot !== snapshot) slot.snapshot = snapshot;
    slot.version += 1;
    free(slot, slot.fence);
  }

  function free(slot: Slot, fence: number): void {
    if (slot.fence !== fence) return;
    slot.fence = 0;
    slot.id = '';
    // Nobody has written it: there is no such session.
    if (slot.version === 0) forget(slot.key);
  }
}

function view({ snapshot, version }: Slot): StoredSession {
  return { snapshot: copy(snapshot), version };
}

/** Callers own what they give and get: changing it must not change what is stored. */
function copy({ state, updatedAt, machine }: FsmSnapshot): FsmSnapshot {
  return machine ? { state, updatedAt, machine: structuredClone(machine) } : { state, updatedAt };
}
