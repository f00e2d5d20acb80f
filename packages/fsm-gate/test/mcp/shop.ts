/** A checkout with its sessions and a record of what happened to them. */
import type { AuditRecord } from '../../src/audit/index.js';
import { type FsmConfig, StateMachineGate } from '../../src/index.js';
import { createGateSessions, type GateSessions } from '../../src/sessions/index.js';
import { type Answer, type Call, Counter, ManualTimers, type ServerSpec, type ToolSpec, text } from './harness.js';

export interface Shop {
  readonly sessions: GateSessions;
  readonly timers: ManualTimers;
  readonly errors: unknown[];
  readonly decisions: AuditRecord[];
  /** Committed moves, as `from → to`. */
  readonly moves: () => string[];
  /** Resolves once that many decisions of a kind were made. */
  until(kind: AuditRecord['kind'], count?: number): Promise<void>;
  /** What a tool does when it is called; the default answers `ok`. */
  on(tool: string, run: (call: Call) => Answer | Promise<Answer>): void;
  spec(more?: Partial<ServerSpec>): ServerSpec;
}

export const TOOLS: readonly string[] = ['catalogue', 'cart_add_item', 'cart_checkout', 'cart_pay', 'cart_reset'];

export function shopGate(): StateMachineGate {
  return new StateMachineGate<FsmConfig>({
    id: 'checkout',
    initial: 'empty',
    states: {
      empty: { on: { ADD_ITEM: 'has_items' } },
      has_items: { on: { ADD_ITEM: 'has_items', CHECKOUT: 'payment' } },
      payment: { on: { PAY: 'confirmed' } },
      confirmed: { on: { RESET: 'empty' } },
    },
  })
    .bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM')
    .bindTool('cart_checkout', 'has_items', 'CHECKOUT')
    .bindTool('cart_pay', 'payment', 'PAY')
    .bindTool('cart_reset', 'confirmed', 'RESET');
}

export function openShop(options: { gate?: StateMachineGate; contention?: 'refuse' | 'wait' } = {}): Shop {
  const decisions: AuditRecord[] = [];
  const errors: unknown[] = [];
  const timers = new ManualTimers();
  const counters = new Map<string, Counter>();
  const counterOf = (kind: string): Counter => {
    const counter = counters.get(kind) ?? new Counter();
    counters.set(kind, counter);
    return counter;
  };
  const runs = new Map<string, (call: Call) => Answer | Promise<Answer>>();
  const sessions = createGateSessions({
    gate: options.gate ?? shopGate(),
    contention: options.contention === 'refuse' ? { kind: 'refuse' } : { kind: 'wait', timeoutMs: 60_000 },
    onDecision: (record) => {
      decisions.push(record);
      counterOf(record.kind).increment();
    },
    onError: (error) => errors.push(error),
  });
  const tools: readonly ToolSpec[] = TOOLS.map((name) => ({
    name,
    checked: name === 'cart_pay',
    run: (call) => (runs.get(name) ?? (() => ({ ...text('ok'), structuredContent: { total: 1 } })))(call),
  }));
  return {
    sessions,
    timers,
    errors,
    decisions,
    moves: () =>
      decisions.filter(({ kind }) => kind === 'committed').map(({ state, nextState }) => `${state} → ${nextState}`),
    until: (kind, count = 1) => counterOf(kind).until(count),
    on: (tool, run) => void runs.set(tool, run),
    spec: ({ attach, ...more } = {}) => ({
      sessions,
      tools,
      ...more,
      attach: { timers, onError: (error) => errors.push(error), ...attach },
    }),
  };
}
