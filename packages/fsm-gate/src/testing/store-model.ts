/** Runs random operations of several callers on a store and on the simplest model of one, and compares every answer. */
import { GateError } from '../errors.js';
import type { CommitOutcome, GateStore, ReserveOutcome, StoredSession } from '../sessions/store.js';
import type { FsmSnapshot } from '../snapshot.js';
import { equal } from './assert.js';
import type { StoreUnderTest } from './store-checks.js';

type Operation =
  | { readonly do: 'reserve'; readonly leaseMs: number; readonly onlyIn: string[] | undefined }
  /** `call` picks one of the reservations granted so far: also one that has ended long ago. */
  | { readonly do: 'commit' | 'release'; readonly call: number; readonly state: string }
  | { readonly do: 'renew'; readonly call: number; readonly leaseMs: number }
  | { readonly do: 'force'; readonly state: string }
  | { readonly do: 'delete' | 'read' }
  | { readonly do: 'advance'; readonly ms: number };

const KEY = 'session';
const START: FsmSnapshot = { state: 'a', updatedAt: 0 };

/** Rejects with the shortest sequence on which the store and the model differ. */
export async function agreesWithModel(open: () => StoreUnderTest | Promise<StoreUnderTest>): Promise<void> {
  const fc = await loadFastCheck();
  const state = fc.constantFrom('a', 'b', 'c');
  const call = fc.nat(3);
  const leaseMs = fc.constantFrom(50, 100);
  const onlyIn = fc.option(fc.subarray(['a', 'b', 'c']), { nil: undefined });
  const operation: import('fast-check').Arbitrary<Operation> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('reserve' as const), leaseMs, onlyIn }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('commit' as const, 'release' as const), call, state }) },
    fc.record({ do: fc.constant('renew' as const), call, leaseMs }),
    fc.record({ do: fc.constant('force' as const), state }),
    fc.record({ do: fc.constantFrom('delete' as const, 'read' as const, 'read' as const) }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(20, 50, 100) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
      const under = await open();
      try {
        await compare(under, operations);
      } finally {
        await under.close?.();
      }
    }),
    { numRuns: 60 },
  );
}

async function compare(under: StoreUnderTest, operations: readonly Operation[]): Promise<void> {
  const model = new Model();
  /** The fence that each side gave for the same reservation. */
  const calls: { ours: number; theirs: number }[] = [];
  let turn = 0;
  for (const operation of operations) {
    turn += 1;
    // Two connections, turn and turn about.
    const store: GateStore = turn % 2 ? under.store : (under.other ?? under.store);
    const what = `the answer to step ${turn}, ${JSON.stringify(operation)},`;
    switch (operation.do) {
      case 'reserve': {
        const request = { id: `call-${turn}`, tool: `tool-${turn}`, initial: () => START, ...operation };
        const theirs = await store.reserve(KEY, request);
        const ours = model.reserve(request.tool, operation.leaseMs, operation.onlyIn);
        if (ours.kind === 'granted' && theirs.kind === 'granted')
          calls.push({ ours: ours.fence, theirs: theirs.fence });
        equal(withoutFence(theirs), withoutFence(ours), what);
        break;
      }
      case 'commit': {
        const fences = calls[operation.call];
        if (!fences) break;
        const next = { state: operation.state, updatedAt: turn };
        equal(await store.commit(KEY, fences.theirs, next), model.commit(fences.ours, next), what);
        break;
      }
      case 'release': {
        const fences = calls[operation.call];
        if (fences) equal(await store.release(KEY, fences.theirs), model.release(fences.ours), what);
        break;
      }
      case 'renew': {
        const fences = calls[operation.call];
        if (fences)
          equal(
            await store.renew(KEY, fences.theirs, operation.leaseMs),
            model.renew(fences.ours, operation.leaseMs),
            what,
          );
        break;
      }
      case 'force': {
        const next = { state: operation.state, updatedAt: turn };
        equal(await store.force(KEY, next), model.force(next), what);
        break;
      }
      case 'delete':
        await store.delete(KEY);
        model.delete();
        break;
      case 'read':
        equal(await store.read(KEY), model.read(), what);
        break;
      case 'advance':
        await under.advance(operation.ms);
        model.time += operation.ms;
        break;
      default:
        operation satisfies never;
    }
  }
  equal(await under.store.read(KEY), model.read(), 'the session at the end');
}

function withoutFence(outcome: ReserveOutcome): unknown {
  return outcome.kind === 'granted' ? { ...outcome, fence: 'any' } : outcome;
}

/** One session, spelled out. */
class Model {
  time = 0;
  #fences = 0;
  #session: StoredSession | undefined;
  #lease: { tool: string; fence: number; until: number } | undefined;
  #committed = 0;

  read(): StoredSession | undefined {
    return this.#session;
  }

  reserve(tool: string, leaseMs: number, onlyIn: readonly string[] | undefined): ReserveOutcome {
    const session = this.#session ?? { snapshot: START, version: 0 };
    const lease = this.#living();
    if (lease) return { kind: 'held', session, tool: lease.tool, expiresInMs: lease.until - this.time };
    if (onlyIn && !onlyIn.includes(session.snapshot.state)) return { kind: 'elsewhere', session };
    this.#fences += 1;
    this.#lease = { tool, fence: this.#fences, until: this.time + leaseMs };
    return { kind: 'granted', session, fence: this.#fences };
  }

  commit(fence: number, snapshot: FsmSnapshot): CommitOutcome {
    if (this.#session && this.#committed === fence) return { kind: 'committed', version: this.#session.version };
    if (this.#living()?.fence !== fence) return { kind: 'lost' };
    this.#committed = fence;
    return { kind: 'committed', version: this.#write(snapshot).version };
  }

  renew(fence: number, leaseMs: number): boolean {
    const lease = this.#living();
    if (lease?.fence !== fence) return false;
    lease.until = this.time + leaseMs;
    return true;
  }

  release(fence: number): void {
    if (this.#lease?.fence === fence) this.#lease = undefined;
  }

  force(snapshot: FsmSnapshot): StoredSession {
    this.#committed = 0;
    return this.#write(snapshot);
  }

  delete(): void {
    this.#session = undefined;
    this.#lease = undefined;
    this.#committed = 0;
  }

  #write(snapshot: FsmSnapshot): StoredSession {
    this.#lease = undefined;
    this.#session = { snapshot, version: (this.#session?.version ?? 0) + 1 };
    return this.#session;
  }

  #living(): { tool: string; fence: number; until: number } | undefined {
    return this.#lease && this.#lease.until > this.time ? this.#lease : undefined;
  }
}

async function loadFastCheck(): Promise<typeof import('fast-check')> {
  try {
    return await import('fast-check');
  } catch (cause) {
    throw new GateError('PEER_MISSING', 'This check needs the package fast-check: npm i -D fast-check.', { cause });
  }
}
