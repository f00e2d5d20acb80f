/** The contract of a `GateStore` as checks for any test runner. */
import type { GateStore, ReserveOutcome, ReserveRequest } from '../sessions/store.js';
import type { FsmSnapshot } from '../snapshot.js';
import { equal, granted } from './assert.js';
import { agreesWithModel } from './store-model.js';

/** A fresh, empty store on a clock that the check moves. */
export interface StoreUnderTest {
  readonly store: GateStore;
  /** The same data through another connection or process, where there is such a thing. Default: `store`. */
  readonly other?: GateStore;
  /** Lets time pass for the store's leases. */
  advance(ms: number): void | Promise<void>;
  close?(): void | Promise<void>;
}

/** One promise of the contract. `run` rejects where it is broken. */
export interface StoreCheck {
  readonly name: string;
  readonly run: () => Promise<void>;
}

type Check = (under: Required<Pick<StoreUnderTest, 'store' | 'other' | 'advance'>>) => Promise<void>;

/**
 * Every check of the contract.
 *
 * @example
 * ```ts
 * let time = 0;
 * const open = () => ({ store: myStore({ now: () => time }), advance: (ms: number) => void (time += ms) });
 * describe('my store', () => {
 *   for (const { name, run } of gateStoreChecks(open)) it(name, run);
 * });
 * ```
 * The last check needs the package `fast-check`.
 */
export function gateStoreChecks(open: () => StoreUnderTest | Promise<StoreUnderTest>): StoreCheck[] {
  const opened = (check: Check) => async (): Promise<void> => {
    const under = await open();
    try {
      const advance = async (ms: number): Promise<void> => under.advance(ms);
      await check({ store: under.store, other: under.other ?? under.store, advance });
    } finally {
      await under.close?.();
    }
  };
  const named = Object.entries(CHECKS).map(([name, check]) => ({ name, run: opened(check) }));
  const name = 'any sequence of operations of several callers ends as the model says';
  return [...named, { name, run: () => agreesWithModel(open) }];
}

const LEASE_MS = 1_000;
const START: FsmSnapshot = { state: 'start', updatedAt: 1 };
const NEXT: FsmSnapshot = { state: 'next', updatedAt: 2 };

let ids = 0;

function wish(changes: Partial<ReserveRequest> = {}): ReserveRequest {
  ids += 1;
  return { id: `call-${ids}`, tool: 'tool', initial: () => START, leaseMs: LEASE_MS, onlyIn: undefined, ...changes };
}

async function written(store: GateStore, key: string, snapshot: FsmSnapshot): Promise<number> {
  const { fence } = granted(await store.reserve(key, wish()));
  equal((await store.commit(key, fence, snapshot)).kind, 'committed', 'the outcome of the commit');
  return fence;
}

const CHECKS: Record<string, Check> = {
  'a session that was never written is not there, before and after a reservation that was released': async ({
    store,
  }) => {
    equal(await store.read('s'), undefined, 'a new session');
    const { fence } = granted(await store.reserve('s', wish()));
    equal(await store.read('s'), undefined, 'a session that was only reserved');
    await store.release('s', fence);
    equal(await store.read('s'), undefined, 'a session that was released');
  },

  'the first reservation starts from the initial snapshot at version 0': async ({ store }) => {
    equal(granted(await store.reserve('s', wish())).session, { snapshot: START, version: 0 }, 'the session');
  },

  'a second reservation is told which tool holds the session, and for how long': async ({ store, other, advance }) => {
    await store.reserve('s', wish({ tool: 'pay' }));
    await advance(400);
    const outcome = await other.reserve('s', wish());
    const session = { snapshot: START, version: 0 };
    equal(outcome, { kind: 'held', session, tool: 'pay', expiresInMs: LEASE_MS - 400 }, 'the outcome');
  },

  'asking again with the same id is the same reservation': async ({ store, other }) => {
    const request = wish();
    equal(await other.reserve('s', request), await store.reserve('s', request), 'the second answer');
  },

  'of many reservations at once exactly one is granted': async ({ store, other }) => {
    const asked = Array.from({ length: 24 }, (_, at) => (at % 2 ? store : other).reserve('s', wish()));
    const outcomes = await Promise.all(asked);
    equal(outcomes.filter(({ kind }) => kind === 'granted').length, 1, 'the number of grants');
  },

  'a commit writes the snapshot, raises the version by one and frees the session': async ({ store, other }) => {
    await written(store, 's', NEXT);
    equal(await other.read('s'), { snapshot: NEXT, version: 1 }, 'the session');
    equal(granted(await other.reserve('s', wish())).session, { snapshot: NEXT, version: 1 }, 'the next reservation');
  },

  'a repeated commit of one fence is the same commit': async ({ store, other }) => {
    const fence = await written(store, 's', NEXT);
    equal(await other.commit('s', fence, NEXT), { kind: 'committed', version: 1 }, 'the second answer');
    equal((await store.read('s'))?.version, 1, 'the version');
  },

  'fences only grow, over commits, releases, expiry, force and delete': async ({ store, advance }) => {
    const fences = [await written(store, 's', NEXT)];
    const next = async (): Promise<number> => granted(await store.reserve('s', wish())).fence;
    fences.push(await next());
    await store.release('s', fences.at(-1) ?? 0);
    fences.push(await next());
    await advance(LEASE_MS);
    fences.push(await next());
    await store.force('s', START);
    fences.push(await next());
    await store.delete('s');
    fences.push(await next());
    equal(
      fences,
      [...new Set(fences)].sort((a, b) => a - b),
      'the fences',
    );
  },

  'a lease that ran out makes room, and its holder can do no more': async ({ store, other, advance }) => {
    const late = granted(await store.reserve('s', wish())).fence;
    await advance(LEASE_MS);
    const now = granted(await other.reserve('s', wish({ tool: 'second' }))).fence;
    equal(await store.renew('s', late, LEASE_MS), false, 'a late renewal');
    equal(await store.commit('s', late, NEXT), { kind: 'lost' }, 'a late commit');
    await store.release('s', late);
    equal((await store.reserve('s', wish())).kind, 'held', 'the lease of the second after a late release of the first');
    equal(await other.commit('s', now, NEXT), { kind: 'committed', version: 1 }, 'the commit of the second');
  },

  'a late commit is refused though nobody took over': async ({ store, advance }) => {
    const { fence } = granted(await store.reserve('s', wish()));
    await advance(LEASE_MS);
    equal(await store.commit('s', fence, NEXT), { kind: 'lost' }, 'the commit');
    equal(await store.renew('s', fence, LEASE_MS), false, 'the renewal');
    equal(await store.read('s'), undefined, 'the session');
  },

  'a renewal lengthens the lease from now': async ({ store, other, advance }) => {
    const { fence } = granted(await store.reserve('s', wish()));
    await advance(LEASE_MS - 1);
    equal(await store.renew('s', fence, LEASE_MS), true, 'the renewal');
    await advance(LEASE_MS - 1);
    equal((await other.reserve('s', wish())).kind, 'held', 'the session after the first term');
    equal((await store.commit('s', fence, NEXT)).kind, 'committed', 'the commit');
  },

  'a reservation that wants other states takes no lease': async ({ store }) => {
    const elsewhere = await store.reserve('s', wish({ onlyIn: ['next', 'last'] }));
    equal(elsewhere, { kind: 'elsewhere', session: { snapshot: START, version: 0 } }, 'the outcome for a new session');
    await written(store, 's', NEXT);
    const again = await store.reserve('s', wish({ onlyIn: [] }));
    equal(again, { kind: 'elsewhere', session: { snapshot: NEXT, version: 1 } }, 'the outcome for a stored session');
    granted(await store.reserve('s', wish({ onlyIn: ['start', 'next'] })));
  },

  'a session that is held is said to be held, whatever states are wanted': async ({ store }) => {
    await store.reserve('s', wish());
    equal((await store.reserve('s', wish({ onlyIn: ['next'] }))).kind, 'held', 'the outcome');
  },

  'force overwrites whoever holds the session, and cuts the lease': async ({ store, other }) => {
    const { fence } = granted(await store.reserve('s', wish()));
    equal(await other.force('s', NEXT), { snapshot: NEXT, version: 1 }, 'the answer');
    equal(await store.commit('s', fence, START), { kind: 'lost' }, 'the commit of the holder');
    equal(await other.read('s'), { snapshot: NEXT, version: 1 }, 'the session');
    granted(await other.reserve('s', wish()));
  },

  'delete forgets the session, and a commit that comes later does not bring it back': async ({ store, other }) => {
    await written(store, 's', NEXT);
    const { fence } = granted(await store.reserve('s', wish()));
    await other.delete('s');
    equal(await store.read('s'), undefined, 'the session');
    equal(await store.commit('s', fence, NEXT), { kind: 'lost' }, 'the commit of the holder');
    equal(await store.read('s'), undefined, 'the session after it');
    await store.delete('never there');
  },

  'the old fence of a session that was deleted and begun anew is worth nothing': async ({ store }) => {
    const { fence } = granted(await store.reserve('s', wish()));
    await store.delete('s');
    granted(await store.reserve('s', wish()));
    equal(await store.commit('s', fence, NEXT), { kind: 'lost' }, 'the commit of the old holder');
    equal(await store.renew('s', fence, LEASE_MS), false, 'the renewal of the old holder');
  },

  'what is handed out or in can be changed without changing what is stored': async ({ store }) => {
    const machine = { id: 'm', definition: 'd', snapshot: { context: { items: [1] } } };
    const given: FsmSnapshot = { ...NEXT, machine };
    await written(store, 's', given);
    machine.snapshot.context.items.push(2);
    given.state = 'changed';
    const taken = await store.read('s');
    if (taken) taken.snapshot.state = 'changed';
    const kept = { ...NEXT, machine: { id: 'm', definition: 'd', snapshot: { context: { items: [1] } } } };
    equal((await store.read('s'))?.snapshot, kept, 'the stored snapshot');
  },

  'keys of any spelling are kept apart': async ({ store }) => {
    const keys = ['a', 'a:b', 'a b', '{a}', '__proto__', 'constructor', 'ü', 'A', '*', 'a\n'];
    for (const key of keys) await written(store, key, { state: key, updatedAt: 0 });
    const read: (ReserveOutcome['session'] | undefined)[] = [];
    for (const key of keys) read.push(await store.read(key));
    equal(
      read.map((session) => session?.snapshot.state),
      keys,
      'the states',
    );
  },
};
