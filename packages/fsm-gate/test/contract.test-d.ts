/** Does not compile when a name, parameter or result of the contract is lost. */
import { describe, expectTypeOf, it } from 'vitest';
import type {
  FsmConfig as FsmConfigExport,
  FsmSnapshot as FsmSnapshotExport,
  FsmStateStore as FsmStateStoreExport,
  TransitionResult as TransitionResultExport,
} from '../src/index.js';
import { initFsmEngine, resetXStateCache, StateMachineGate } from '../src/index.js';
import { createGateSessions } from '../src/sessions/index.js';

interface Config {
  id?: string;
  initial: string;
  states: Record<string, { on?: Record<string, string>; type?: 'final' }>;
}
interface Snapshot {
  state: string;
  updatedAt: number;
}
interface Store {
  load(sessionId: string): Promise<Snapshot | undefined>;
  save(sessionId: string, snapshot: Snapshot): Promise<void>;
}
interface Result {
  changed: boolean;
  previousState: string;
  currentState: string;
}
/** The class as the contract has it. */
interface Gate {
  init(): Promise<boolean>;
  bindTool(toolName: string, allowedStates: string[], transitionEvent?: string): Gate;
  readonly currentState: string;
  isToolAllowed(toolName: string): boolean;
  getVisibleToolNames(toolNames: string[]): string[];
  getTransitionEvent(toolName: string): string | undefined;
  readonly hasBindings: boolean;
  transition(eventType: string): Promise<Result>;
  onTransition(callback: () => void): () => void;
  snapshot(): Snapshot;
  restore(snap: Snapshot): void;
  clone(): Gate;
  dispose(): void;
}

describe('the contract', () => {
  it('takes and gives the types it names', () => {
    expectTypeOf<Config>().toExtend<FsmConfigExport>();
    expectTypeOf<FsmConfigExport>().toExtend<Config>();
    expectTypeOf<Snapshot>().toExtend<FsmSnapshotExport>();
    expectTypeOf<FsmSnapshotExport>().toExtend<Snapshot>();
    expectTypeOf<Store>().toExtend<FsmStateStoreExport>();
    expectTypeOf<FsmStateStoreExport>().toExtend<Store>();
    expectTypeOf<TransitionResultExport>().toExtend<Result>();
    expectTypeOf<Result>().toExtend<TransitionResultExport>();
  });

  it('has the class and the two functions', () => {
    expectTypeOf<StateMachineGate>().toExtend<Gate>();
    expectTypeOf<(config: Config) => Gate>().toExtend<(config: FsmConfigExport) => Gate>();
    const made: Gate = new StateMachineGate({} as Config);
    expectTypeOf(made).toExtend<Gate>();
    expectTypeOf(initFsmEngine).toExtend<() => Promise<boolean>>();
    expectTypeOf(resetXStateCache).toExtend<() => void>();
  });
});

describe('a literal config', () => {
  const gate = new StateMachineGate({
    id: 'checkout',
    initial: 'empty',
    states: {
      empty: { on: { ADD_ITEM: 'has_items' } },
      has_items: { on: { CHECKOUT: 'payment', CLEAR: 'empty' } },
      payment: { on: { PAY: 'confirmed' } },
      confirmed: { type: 'final' },
    },
  });

  it('knows its states and events', () => {
    expectTypeOf(gate.currentState).toEqualTypeOf<'empty' | 'has_items' | 'payment' | 'confirmed'>();
    expectTypeOf(gate.getTransitionEvent('x')).toEqualTypeOf<'ADD_ITEM' | 'CHECKOUT' | 'CLEAR' | 'PAY' | undefined>();
    gate
      .bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM')
      .bindTool('cart_pay', 'payment', { event: 'PAY' });
    gate.bindTool('cart_view', ['empty'], '');
  });

  it('refuses a misspelt state', () => {
    // @ts-expect-error has_itmes is no state
    gate.bindTool('x', ['has_itmes']);
    // @ts-expect-error paymnet is no state
    gate.bindTool('x', 'paymnet');
  });

  it('refuses an unknown event', () => {
    // @ts-expect-error ADD_ITEMS is no event
    gate.bindTool('x', ['empty'], 'ADD_ITEMS');
    // @ts-expect-error PAYED is no event
    gate.bindTool('x', ['payment'], { event: 'PAYED' });
    // @ts-expect-error PAYED is no event
    gate.bindTool('x', ['payment'], { event: ['PAY', 'CLEAR'], eventFor: () => 'PAYED' });
    // @ts-expect-error CHEKOUT is no event
    void gate.transition('CHEKOUT');
  });

  it('keeps its names in a clone', () => {
    // @ts-expect-error has_itmes is no state
    gate.clone().bindTool('x', ['has_itmes']);
  });

  it('is a gate wherever one is wanted', () => {
    expectTypeOf(gate).toExtend<StateMachineGate>();
    createGateSessions({ gate });
  });
});

describe('a config that is a constant of its own', () => {
  it('knows its states without "as const"', () => {
    const config = { initial: 'a', states: { a: { on: { GO: 'b' } }, b: {} } };
    const gate = new StateMachineGate(config);
    expectTypeOf(gate.currentState).toEqualTypeOf<'a' | 'b'>();
    // @ts-expect-error c is no state
    gate.bindTool('x', ['c']);
  });

  it('takes any string where it is typed FsmConfig', () => {
    const config: FsmConfigExport = { initial: 'a', states: { a: {} } };
    const gate = new StateMachineGate(config);
    expectTypeOf(gate.currentState).toEqualTypeOf<string>();
    gate.bindTool('x', ['anything'], 'ANYTHING');
    void gate.transition('ANYTHING');
  });
});
