import { describe, expect, it, vi } from 'vitest';
import { type FsmConfig, GateError, StateMachineGate } from '../src/index.js';

const CHECKOUT: FsmConfig = {
  id: 'checkout',
  initial: 'empty',
  states: {
    empty: { on: { ADD_ITEM: 'has_items' } },
    has_items: { on: { CHECKOUT: 'payment', CLEAR: 'empty' } },
    payment: { on: { PAY: 'confirmed', CANCEL: 'has_items' } },
    confirmed: { on: { RESET: 'empty' } },
  },
};

function aCheckoutGate(options = {}) {
  return new StateMachineGate(CHECKOUT, options)
    .bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM')
    .bindTool('cart_checkout', ['has_items'], 'CHECKOUT')
    .bindTool('cart_pay', ['payment'], 'PAY');
}

describe('what is visible', () => {
  it('a bound tool exists in its states and in no other', async () => {
    const gate = aCheckoutGate();
    const tools = ['cart_add_item', 'cart_checkout', 'cart_pay'];
    expect(gate.getVisibleToolNames(tools)).toEqual(['cart_add_item']);
    await gate.transition('ADD_ITEM');
    expect(gate.getVisibleToolNames(tools)).toEqual(['cart_add_item', 'cart_checkout']);
    await gate.transition('CHECKOUT');
    expect(gate.getVisibleToolNames(tools)).toEqual(['cart_pay']);
    expect(gate.isToolAllowed('cart_pay')).toBe(true);
    expect(gate.isToolAllowed('cart_checkout')).toBe(false);
  });

  it('what is remembered of a state is remembered of real ones only, however many others are asked for', () => {
    const { model } = aCheckoutGate();
    const closedIn = (state: string) => model.closedTools({ state, updatedAt: 1 });
    expect(closedIn('empty')).toBe(closedIn('empty'));
    expect(closedIn('made up')).not.toBe(closedIn('made up'));
    expect([...closedIn('made up')]).toEqual(['cart_add_item', 'cart_checkout', 'cart_pay']);
  });

  it('a tool that was never bound always exists', () => {
    expect(aCheckoutGate().isToolAllowed('search')).toBe(true);
  });

  it('the order and the duplicates of the given names are kept', () => {
    expect(aCheckoutGate().getVisibleToolNames(['z', 'cart_pay', 'cart_add_item', 'a', 'z'])).toEqual([
      'z',
      'cart_add_item',
      'a',
      'z',
    ]);
  });

  it('binding a tool again replaces the earlier binding, its event too', async () => {
    const gate = aCheckoutGate().bindTool('cart_pay', ['empty']);
    expect(gate.isToolAllowed('cart_pay')).toBe(true);
    expect(gate.getTransitionEvent('cart_pay')).toBeUndefined();
  });

  it('a tool bound to a state that does not exist is never visible', () => {
    expect(aCheckoutGate().bindTool('ghost', ['nowhere']).isToolAllowed('ghost')).toBe(false);
  });

  it('a tool may be bound to one state without a list', () => {
    const gate = aCheckoutGate().bindTool('cart_view', 'has_items');
    expect(gate.isToolAllowed('cart_view')).toBe(false);
  });

  it('an empty event string means none', () => {
    expect(aCheckoutGate().bindTool('cart_view', ['empty'], '').getTransitionEvent('cart_view')).toBeUndefined();
  });

  it('says whether anything is bound', () => {
    expect(new StateMachineGate(CHECKOUT).hasBindings).toBe(false);
    expect(aCheckoutGate().hasBindings).toBe(true);
  });

  it.each([
    ['a tool name that is no string', [42, ['empty']]],
    ['an empty tool name', ['', ['empty']]],
    ['states that are no list', ['x', 7]],
    ['a state that is no string', ['x', [null]]],
    ['an event that is no string', ['x', ['empty'], 5]],
    ['a guard that is no function', ['x', ['empty'], { guard: 'no' }]],
    ['several events without eventFor', ['x', ['empty'], { event: ['ADD_ITEM', 'PAY'] }]],
  ])('refuses %s', (_, args) => {
    // The wrong types are the point of this test.
    const bind = new StateMachineGate(CHECKOUT).bindTool as (...args: unknown[]) => unknown;
    const gate = new StateMachineGate(CHECKOUT);
    expect(() => bind.apply(gate, args as unknown[])).toThrow(expect.objectContaining({ code: 'BINDING_INVALID' }));
  });
});

describe('a transition', () => {
  it('moves along the config', async () => {
    const gate = aCheckoutGate();
    expect(await gate.transition('ADD_ITEM')).toEqual({
      changed: true,
      previousState: 'empty',
      currentState: 'has_items',
    });
    expect(await gate.transition('CLEAR')).toEqual({
      changed: true,
      previousState: 'has_items',
      currentState: 'empty',
    });
  });

  it('changes nothing on an unknown event', async () => {
    expect(await aCheckoutGate().transition('NONSENSE')).toEqual({
      changed: false,
      previousState: 'empty',
      currentState: 'empty',
    });
  });

  it('changes nothing on a self-loop and tells nobody', async () => {
    const gate = new StateMachineGate({ initial: 'a', states: { a: { on: { AGAIN: 'a' } } } });
    const told = vi.fn();
    gate.onTransition(told);
    expect(await gate.transition('AGAIN')).toEqual({ changed: false, previousState: 'a', currentState: 'a' });
    expect(told).not.toHaveBeenCalled();
  });

  it('never leaves a final state, whatever its "on" says, before and after init', async () => {
    const config: FsmConfig = { initial: 'end', states: { end: { type: 'final', on: { GO: 'more' } }, more: {} } };
    const gate = new StateMachineGate(config);
    expect((await gate.transition('GO')).changed).toBe(false);
    await gate.init();
    expect((await gate.transition('GO')).changed).toBe(false);
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'is not fooled by the event %s',
    async (event) => {
      expect((await aCheckoutGate().transition(event)).changed).toBe(false);
    },
  );

  it('is made by one of two concurrent calls only', async () => {
    const gate = aCheckoutGate();
    const results = await Promise.all([gate.transition('ADD_ITEM'), gate.transition('ADD_ITEM')]);
    expect(results.map((result) => result.changed)).toEqual([true, false]);
  });

  it('goes through a chain of fifty states', async () => {
    const states = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`s${at}`, at < 49 ? { on: { NEXT: `s${at + 1}` } } : {}]),
    );
    const gate = new StateMachineGate({ initial: 's0', states } as FsmConfig);
    for (let at = 1; at < 50; at += 1) expect((await gate.transition('NEXT')).currentState).toBe(`s${at}`);
    expect((await gate.transition('NEXT')).changed).toBe(false);
  });

  it('goes round a cycle a thousand times', async () => {
    const gate = new StateMachineGate({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { on: { GO: 'a' } } } });
    for (let round = 0; round < 1_000; round += 1) expect((await gate.transition('GO')).changed).toBe(true);
    expect(gate.currentState).toBe('a');
  });

  it.each<[string, FsmConfig, string[], string]>([
    ['a single state', { initial: 'only', states: { only: {} } }, ['X'], 'only'],
    ['an empty "on"', { initial: 'a', states: { a: { on: {} } } }, ['X'], 'a'],
    ['nothing but final states', { initial: 'a', states: { a: { type: 'final' }, b: { type: 'final' } } }, ['X'], 'a'],
    [
      'a diamond',
      { initial: 'a', states: { a: { on: { L: 'l', R: 'r' } }, l: { on: { D: 'd' } }, r: { on: { D: 'd' } }, d: {} } },
      ['R', 'D'],
      'd',
    ],
  ])('works with %s', async (_, config, sequence, end) => {
    const gate = new StateMachineGate(config);
    for (const event of sequence) await gate.transition(event);
    expect(gate.currentState).toBe(end);
  });
});

describe('callbacks', () => {
  it('fire in order, once a change, seeing the new state, before the promise resolves', async () => {
    const gate = aCheckoutGate();
    const seen: string[] = [];
    gate.onTransition(() => seen.push(`first:${gate.currentState}`));
    gate.onTransition(() => seen.push(`second:${gate.currentState}`));
    await gate.transition('ADD_ITEM');
    expect(seen).toEqual(['first:has_items', 'second:has_items']);
  });

  it('do not disturb each other or the transition when they throw or reject', async () => {
    const errors: unknown[] = [];
    const gate = aCheckoutGate({ onError: (error: unknown) => errors.push(error) });
    const later = vi.fn();
    const thrown = new Error('thrown');
    const rejected = new Error('rejected');
    gate.onTransition(() => {
      throw thrown;
    });
    gate.onTransition(async () => {
      throw rejected;
    });
    gate.onTransition(later);
    expect((await gate.transition('ADD_ITEM')).changed).toBe(true);
    await Promise.resolve();
    expect(later).toHaveBeenCalledTimes(1);
    expect(errors).toEqual([thrown, rejected]);
  });

  it('can be removed, twice, and in the middle of firing', async () => {
    const gate = aCheckoutGate();
    const seen: string[] = [];
    gate.onTransition(() => {
      seen.push('first');
      removeSecond();
    });
    const removeSecond = gate.onTransition(() => seen.push('second'));
    gate.onTransition(() => seen.push('third'));
    await gate.transition('ADD_ITEM');
    removeSecond();
    removeSecond();
    await gate.transition('CLEAR');
    expect(seen).toEqual(['first', 'third', 'first', 'third']);
  });

  it('registered twice fire twice, and removing one leaves the other', async () => {
    const gate = aCheckoutGate();
    const told = vi.fn();
    const remove = gate.onTransition(told);
    gate.onTransition(told);
    await gate.transition('ADD_ITEM');
    expect(told).toHaveBeenCalledTimes(2);
    remove();
    await gate.transition('CLEAR');
    expect(told).toHaveBeenCalledTimes(3);
  });
});

describe('snapshots', () => {
  it('carry the time of the last transition, of construction before the first', async () => {
    let time = 1_000;
    const gate = aCheckoutGate({ now: () => time });
    time = 2_000;
    expect(gate.snapshot()).toEqual({ state: 'empty', updatedAt: 1_000 });
    await gate.transition('ADD_ITEM');
    time = 3_000;
    await gate.transition('NONSENSE');
    expect(gate.snapshot()).toEqual({ state: 'has_items', updatedAt: 2_000 });
  });

  it('are fresh objects that survive JSON', () => {
    const gate = aCheckoutGate();
    expect(gate.snapshot()).not.toBe(gate.snapshot());
    gate.snapshot().state = 'payment';
    expect(gate.currentState).toBe('empty');
    const other = aCheckoutGate();
    other.restore(JSON.parse(JSON.stringify({ ...gate.snapshot(), state: 'payment' })));
    expect(other.currentState).toBe('payment');
  });

  it('restored, keep their time, tell nobody, and go on from there', async () => {
    const gate = aCheckoutGate();
    const told = vi.fn();
    gate.onTransition(told);
    gate.restore({ state: 'payment', updatedAt: 77 });
    expect(told).not.toHaveBeenCalled();
    expect(gate.snapshot()).toEqual({ state: 'payment', updatedAt: 77 });
    expect((await gate.transition('PAY')).currentState).toBe('confirmed');
  });

  it('restored before init are not lost by it', async () => {
    const gate = aCheckoutGate();
    gate.restore({ state: 'payment', updatedAt: 77 });
    expect(await gate.init()).toBe(true);
    expect(gate.currentState).toBe('payment');
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['an unknown state', { state: 'nowhere', updatedAt: 1 }],
    ['an empty state', { state: '', updatedAt: 1 }],
    ['a state that is no string', { state: 7, updatedAt: 1 }],
    ['"constructor"', { state: 'constructor', updatedAt: 1 }],
    ['"__proto__"', { state: '__proto__', updatedAt: 1 }],
    ['"toString"', { state: 'toString', updatedAt: 1 }],
  ])('of %s are ignored', (_, snapshot) => {
    const gate = aCheckoutGate();
    gate.restore(snapshot as never);
    expect(gate.currentState).toBe('empty');
  });

  it('without a usable time get one', () => {
    const gate = aCheckoutGate({ now: () => 5 });
    gate.restore({ state: 'payment', updatedAt: 'yesterday' } as never);
    expect(gate.snapshot()).toEqual({ state: 'payment', updatedAt: 5 });
  });
});

describe('clones', () => {
  it('copy the bindings, the state and its time, not the callbacks', async () => {
    let time = 10;
    const gate = aCheckoutGate({ now: () => time });
    const told = vi.fn();
    gate.onTransition(told);
    await gate.transition('ADD_ITEM');
    time = 20;
    const clone = gate.clone();
    expect(clone.snapshot()).toEqual({ state: 'has_items', updatedAt: 10 });
    expect(clone.getTransitionEvent('cart_pay')).toBe('PAY');
    told.mockClear();
    await clone.transition('CHECKOUT');
    expect(told).not.toHaveBeenCalled();
    expect(gate.currentState).toBe('has_items');
  });

  it('do not see what is bound later, nor the other way round', () => {
    const gate = aCheckoutGate();
    const clone = gate.clone();
    gate.bindTool('late', ['payment']);
    clone.bindTool('later', ['payment']);
    expect(clone.isToolAllowed('late')).toBe(true);
    expect(gate.isToolAllowed('later')).toBe(true);
    expect(gate.isToolAllowed('late')).toBe(false);
  });

  it('ten of them move on their own', async () => {
    const clones = Array.from({ length: 10 }, () => aCheckoutGate().clone());
    await Promise.all(clones.map((clone, at) => (at % 2 ? clone.transition('ADD_ITEM') : undefined)));
    expect(clones.map((clone) => clone.currentState)).toEqual(clones.map((_, at) => (at % 2 ? 'has_items' : 'empty')));
  });
});

describe('dispose', () => {
  it('forgets the callbacks, twice, and leaves a gate that works', async () => {
    const gate = aCheckoutGate();
    const before = vi.fn();
    const after = vi.fn();
    gate.onTransition(before);
    await gate.init();
    gate.dispose();
    gate.dispose();
    gate.onTransition(after);
    gate.bindTool('late', ['has_items']);
    expect((await gate.transition('ADD_ITEM')).changed).toBe(true);
    expect(gate.isToolAllowed('late')).toBe(true);
    expect(gate.snapshot().state).toBe('has_items');
    expect(before).not.toHaveBeenCalled();
    expect(after).toHaveBeenCalledTimes(1);
  });
});

describe('a config that cannot work', () => {
  it.each<[string, unknown, string]>([
    ['is no object', undefined, 'config must be an object'],
    ['has no states', { initial: 'a' }, 'states must name at least one state'],
    ['has an empty list of states', { initial: 'a', states: {} }, 'states must name at least one state'],
    ['has a list for states', { initial: '0', states: [{}] }, 'states must name at least one state'],
    ['starts nowhere', { states: { a: {} } }, 'initial is undefined'],
    [
      'starts in an unknown state',
      { initial: 'b', states: { a: {} } },
      'initial is "b", which is none of the states: a',
    ],
    ['starts in "constructor"', { initial: 'constructor', states: { a: {} } }, 'initial is "constructor"'],
    ['leads to an unknown state', { initial: 'a', states: { a: { on: { GO: 'b' } } } }, 'states.a.on.GO leads to "b"'],
    ['leads to "toString"', { initial: 'a', states: { a: { on: { GO: 'toString' } } } }, 'states.a.on.GO leads to'],
    [
      'has a target that is no name',
      { initial: 'a', states: { a: { on: { GO: { target: 'a' } } } } },
      'states.a.on.GO',
    ],
    ['has a wildcard event', { initial: 'a', states: { a: { on: { '*': 'a' } } } }, 'exact event name'],
    ['has a partial wildcard', { initial: 'a', states: { a: { on: { 'cart.*': 'a' } } } }, 'exact event name'],
    ['has an empty event', { initial: 'a', states: { a: { on: { '': 'a' } } } }, 'exact event name'],
    [
      'has a state of another type',
      { initial: 'a', states: { a: { type: 'parallel' } } },
      "states.a.type can only be 'final'",
    ],
    ['has nested states', { initial: 'a', states: { a: { states: {} } } }, 'states.a.states needs a whole machine'],
    ['has an invoke', { initial: 'a', states: { a: { invoke: {} } } }, 'states.a.invoke needs a whole machine'],
    ['has an "on" that is no object', { initial: 'a', states: { a: { on: 'GO' } } }, 'states.a.on must be an object'],
    ['has a state that is no object', { initial: 'a', states: { a: null } }, 'states.a must be an object'],
    ['has an id that is no string', { id: 5, initial: 'a', states: { a: {} } }, 'id must be a non-empty string'],
  ])('is refused at construction when it %s', (_, config, message) => {
    const build = () => new StateMachineGate(config as FsmConfig);
    expect(build).toThrow(GateError);
    expect(build).toThrow(message);
    expect(build).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  it('needs no id', () => {
    expect(new StateMachineGate({ initial: 'a', states: { a: {} } }).currentState).toBe('a');
  });
});
