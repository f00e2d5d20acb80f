/** What several suites of this package arrange with. */
import { type FsmSnapshot, type FsmStateStore, StateMachineGate } from '../src/index.js';
import type { GateTimers } from '../src/sessions/index.js';

/** A checkout with three gated tools; `cart_view` is bound without an event. */
export function aCheckoutGate() {
  return new StateMachineGate({
    id: 'checkout',
    initial: 'empty',
    states: {
      empty: { on: { ADD_ITEM: 'has_items' } },
      has_items: { on: { ADD_ITEM: 'has_items', CHECKOUT: 'payment', CLEAR: 'empty' } },
      payment: { on: { PAY: 'confirmed', PARK: 'awaiting', CANCEL: 'has_items' } },
      awaiting: { on: { APPROVED: 'confirmed' } },
      confirmed: { type: 'final' },
    },
  })
    .bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM')
    .bindTool('cart_checkout', ['has_items'], 'CHECKOUT')
    .bindTool('cart_pay', ['payment'], 'PAY')
    .bindTool('cart_view', ['has_items', 'payment']);
}

/** A plain load/save store on a Map, through JSON as a real one. */
export function aStateStore(): FsmStateStore & { saved: Map<string, string> } {
  const saved = new Map<string, string>();
  return {
    saved,
    load: async (id) => {
      const text = saved.get(id);
      return text === undefined ? undefined : (JSON.parse(text) as FsmSnapshot);
    },
    save: async (id, snapshot) => void saved.set(id, JSON.stringify(snapshot)),
    delete: async (id) => void saved.delete(id),
  };
}

/** A clock that stands still until it is told to move, and fires the timers it passes. */
export function aClock(start = 1_000_000) {
  let time = start;
  const timers = new Set<{ at: number; fire: () => void }>();
  const clock: GateTimers & {
    now: () => number;
    /** Lets time pass. */
    advance: (ms: number) => Promise<void>;
    /** Waits until somebody has let so much time pass. */
    passed: (ms: number) => Promise<void>;
    pending: () => number;
  } = {
    now: () => time,
    passed: (ms) => new Promise((resolve) => void clock.setTimeout(resolve, ms)),
    pending: () => timers.size,
    setTimeout: (fire, ms) => {
      const timer = { at: time + ms, fire };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer) => void timers.delete(timer as { at: number; fire: () => void }),
    advance: async (ms) => {
      const end = time + ms;
      for (;;) {
        await settled();
        const next = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        timers.delete(next);
        time = Math.max(time, next.at);
        next.fire();
      }
      time = end;
      await settled();
    },
  };
  return clock;
}

/** Lets every promise that can go on go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

/** A promise and its ends. */
export function deferred<T = void>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((res, rej) => {
    resolve = res;
    reject = rej;
  });
  return { promise, resolve, reject };
}
