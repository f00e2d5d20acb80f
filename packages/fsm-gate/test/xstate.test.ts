/** Gates over whole XState machines. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { assign, createActor, createMachine, fromPromise, raise, sendTo, setup, spawnChild } from 'xstate';
import { decide, refusalText } from '../src/index.js';
import { createGateSessions, memoryGateStore } from '../src/sessions/index.js';
import { explorePaths, verifyGate } from '../src/verify/index.js';
import { machineGate } from '../src/xstate.js';
import { settled } from './helpers.js';

interface Line {
  sku: string;
  price: number;
}

/** A shop with a cart and a shipping form side by side, a history, guards on context and arguments, and tags. */
function aShopMachine(options: { limit?: number; shout?: () => void } = {}) {
  return setup({
    types: {
      context: {} as { total: number; lines: string[] },
      events: {} as
        | { type: 'ADD'; args?: Line }
        | { type: 'ADDRESS'; args?: { city: string } }
        | { type: 'CHECKOUT' }
        | { type: 'PAY'; args?: { amount: number } }
        | { type: 'PAUSE' }
        | { type: 'RESUME' }
        | { type: 'CANCEL' },
      tags: {} as 'open' | 'cancellable',
    },
    guards: {
      filled: ({ context }) => context.lines.length > 0,
      enough: ({ context, event }) => event.type === 'PAY' && event.args!.amount >= context.total,
    },
    actions: {
      put: assign(({ context, event }) => {
        if (event.type !== 'ADD') return context;
        const { sku, price } = event.args ?? { sku: '?', price: 0 };
        return { total: context.total + price, lines: [...context.lines, sku] };
      }),
      shout: options.shout ?? (() => undefined),
    },
  }).createMachine({
    id: 'shop',
    context: { total: 0, lines: [] },
    initial: 'shopping',
    states: {
      shopping: {
        type: 'parallel',
        tags: ['open', 'cancellable'],
        states: {
          cart: {
            initial: 'empty',
            states: {
              empty: { on: { ADD: { target: 'full', actions: 'put' } } },
              full: { on: { ADD: { actions: 'put' } } },
            },
          },
          form: { initial: 'blank', states: { blank: { on: { ADDRESS: 'written' } }, written: {} } },
          last: { type: 'history', history: 'deep' },
        },
        on: { CHECKOUT: { target: 'payment', guard: 'filled' }, PAUSE: 'paused' },
      },
      paused: { on: { RESUME: 'shopping.last' } },
      payment: { tags: ['cancellable'], on: { PAY: { target: 'paid', guard: 'enough', actions: 'shout' } } },
      paid: { type: 'final' },
      cancelled: { type: 'final' },
    },
    on: { CANCEL: { target: '.cancelled' } },
  });
}

function aShopGate(options: Parameters<typeof aShopMachine>[0] = {}) {
  return machineGate(aShopMachine(options))
    .bindTool('add', 'shopping', 'ADD')
    .bindTool('clear', 'shopping.cart.full')
    .bindTool('address', ['shopping.form.blank'], 'ADDRESS')
    .bindTool('checkout', { can: 'CHECKOUT' }, 'CHECKOUT')
    .bindTool('pay', { can: 'PAY' }, 'PAY')
    .bindTool('cancel', { tag: 'cancellable' }, 'CANCEL')
    .bindTool('pause', { tag: 'open' }, 'PAUSE')
    .bindTool('resume', 'paused', 'RESUME');
}

const TOOLS = ['add', 'clear', 'address', 'checkout', 'pay', 'cancel', 'pause', 'resume', 'search'];

describe('a gate from a machine', () => {
  it('opens tools by state path, by tag, and by what the machine can take now', async () => {
    const gate = aShopGate();
    expect(gate.getVisibleToolNames(TOOLS)).toEqual(['add', 'address', 'cancel', 'pause', 'search']);
    await gate.transition('ADD', { sku: 'tea', price: 5 });
    expect(gate.getVisibleToolNames(TOOLS)).toEqual([
      'add',
      'clear',
      'address',
      'checkout',
      'cancel',
      'pause',
      'search',
    ]);
    await gate.transition('ADDRESS');
    expect(gate.isToolAllowed('address')).toBe(false);
    await gate.transition('CHECKOUT');
    expect(gate.getVisibleToolNames(TOOLS)).toEqual(['pay', 'cancel', 'search']);
  });

  it('says where a parallel machine is by its canonical path text', async () => {
    const gate = aShopGate();
    expect(gate.currentState).toBe('shopping.(cart.empty|form.blank)');
    await gate.transition('ADD');
    expect(gate.currentState).toBe('shopping.(cart.full|form.blank)');
    await gate.transition('PAUSE');
    expect(gate.currentState).toBe('paused');
  });

  it('keeps history, over a stored and restored snapshot too', async () => {
    const gate = aShopGate();
    await gate.transition('ADD', { sku: 'tea', price: 5 });
    await gate.transition('PAUSE');
    const other = aShopGate();
    other.restore(JSON.parse(JSON.stringify(gate.snapshot())));
    expect(await other.transition('RESUME')).toEqual({
      changed: true,
      previousState: 'paused',
      currentState: 'shopping.(cart.full|form.blank)',
    });
    expect(other.isToolAllowed('checkout')).toBe(true);
  });

  it('lets guards look at context and arguments', async () => {
    const gate = aShopGate();
    const { model } = gate;
    await gate.transition('CHECKOUT');
    expect(gate.currentState).toContain('shopping');
    await gate.transition('ADD', { sku: 'tea', price: 5 });
    await gate.transition('CHECKOUT');
    expect(decide(model, gate.snapshot(), 'pay', { amount: 4 })).toMatchObject({ kind: 'refused', reason: 'closed' });
    expect(decide(model, gate.snapshot(), 'pay', { amount: 5 }).kind).toBe('allowed');
    expect((await gate.transition('PAY', { amount: 4 })).changed).toBe(false);
    expect((await gate.transition('PAY', { amount: 5 })).currentState).toBe('paid');
  });

  it('lists a tool whose guard needs arguments, and refuses the call whose arguments it cannot read', async () => {
    const gate = aShopGate();
    await gate.transition('ADD', { sku: 'tea', price: 5 });
    await gate.transition('CHECKOUT');
    expect(gate.isToolAllowed('pay')).toBe(true);
    expect(decide(gate.model, gate.snapshot(), 'pay').kind).toBe('refused');
  });

  it('never leaves a final state', async () => {
    const gate = aShopGate();
    await gate.transition('CANCEL');
    expect(gate.currentState).toBe('cancelled');
    expect(await gate.transition('CANCEL')).toMatchObject({ changed: false, currentState: 'cancelled' });
    expect(gate.getVisibleToolNames(TOOLS)).toEqual(['search']);
  });

  it('leads on', () => {
    const gate = aShopGate();
    const decision = decide(gate.model, gate.snapshot(), 'checkout');
    expect(decision).toMatchObject({
      kind: 'refused',
      wayIn: ['add'],
      openTools: ['add', 'address', 'cancel', 'pause'],
    });
    expect(decision.kind === 'refused' && refusalText(decision)).toContain('Call add first');
  });

  it('leads on where it takes a tool several times', () => {
    const machine = setup({ types: { context: {} as { n: number } } }).createMachine({
      initial: 'a',
      context: { n: 0 },
      states: {
        a: {
          on: {
            COUNT: { actions: assign({ n: ({ context }) => context.n + 1 }) },
            GO: { target: 'b', guard: ({ context }) => context.n > 2 },
          },
        },
        b: {},
      },
    });
    const gate = machineGate(machine)
      .bindTool('count', 'a', 'COUNT')
      .bindTool('go', { can: 'GO' }, 'GO')
      .bindTool('never', []);
    expect(decide(gate.model, gate.snapshot(), 'go')).toMatchObject({
      wayIn: ['count', 'count', 'count'],
      certain: false,
    });
    const never = decide(gate.model, gate.snapshot(), 'never');
    expect(never.kind === 'refused' && refusalText(never)).toContain('No sequence of calls is known to open it');
  });

  it('tells its callbacks of changes, also of those that only one region makes', async () => {
    const gate = aShopGate();
    const told = vi.fn();
    gate.onTransition(told);
    await gate.transition('ADD');
    await gate.transition('ADD');
    await gate.transition('ADDRESS');
    expect(told).toHaveBeenCalledTimes(2);
  });

  it('may have wildcards, which flat configs may not', async () => {
    const machine = createMachine({ initial: 'a', states: { a: { on: { 'cart.*': 'b' } }, b: { type: 'final' } } });
    const gate = machineGate(machine)
      .bindTool('add', 'a', 'cart.add' as never)
      .bindTool('go', { can: 'cart.go' as never });
    expect(gate.getVisibleToolNames(['add', 'go'])).toEqual(['add', 'go']);
    expect(verifyGate(gate, { tools: ['add', 'go'] }).filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect((await gate.transition('cart.add' as never)).currentState).toBe('b');
  });

  it('has clones that move on their own', async () => {
    const gate = aShopGate();
    const clone = gate.clone();
    await clone.transition('ADD');
    clone.bindTool('late', 'paused');
    expect(gate.currentState).toBe('shopping.(cart.empty|form.blank)');
    expect(gate.isToolAllowed('late')).toBe(true);
    expect(clone.isToolAllowed('late')).toBe(false);
  });

  it('runs the custom actions of a step, and reports what they throw', async () => {
    const shout = vi.fn(() => {
      throw new Error('hoarse');
    });
    const errors: unknown[] = [];
    const gate = machineGate(aShopMachine({ shout }), { onError: (error) => errors.push(error) });
    await gate.transition('ADD', { sku: 'tea', price: 5 });
    await gate.transition('CHECKOUT');
    expect((await gate.transition('PAY', { amount: 5 })).currentState).toBe('paid');
    expect(shout).toHaveBeenCalledTimes(1);
    expect(errors).toMatchObject([{ message: 'hoarse' }]);
  });
});

describe('a machine that needs a living actor is refused with the reason', () => {
  const states = (a: object) => ({ id: 'm', initial: 'a', states: { a, b: {} } }) as never;
  const logic = fromPromise(async () => 1);
  it.each<[string, () => Parameters<typeof machineGate>[0], string]>([
    ['invoke', () => createMachine(states({ invoke: { src: logic } })), 'state a invokes an actor'],
    ['after', () => createMachine(states({ after: { 1000: 'b' } })), 'state a has delayed transitions'],
    ['spawnChild', () => createMachine(states({ entry: spawnChild(logic) })), 'state a spawns an actor'],
    ['sendTo', () => createMachine(states({ exit: sendTo('x', { type: 'Y' }) })), 'state a sends to an actor'],
    [
      'a delayed raise',
      () => createMachine(states({ entry: raise({ type: 'X' }, { delay: 5 }) })),
      'raises a delayed event',
    ],
    [
      'a builtin behind a name',
      () =>
        setup({ actions: { go: spawnChild(logic) } }).createMachine(states({ on: { X: { actions: 'go' } } })) as never,
      'state a spawns an actor',
    ],
  ])('%s', (_, build, reason) => {
    expect(() => machineGate(build())).toThrow(expect.objectContaining({ code: 'MACHINE_UNSUPPORTED' }));
    expect(() => machineGate(build())).toThrow(reason);
  });

  it('also when a step spawns where nobody could see it before', async () => {
    const machine = setup({ types: { context: {} as { child: unknown } }, actors: { logic } }).createMachine({
      initial: 'a',
      context: { child: undefined },
      states: {
        a: { on: { GO: { target: 'b', actions: assign({ child: ({ spawn }) => void spawn('logic') }) } } },
        b: {},
      },
    });
    const gate = machineGate(machine);
    await expect(gate.transition('GO')).rejects.toMatchObject({ code: 'MACHINE_UNSUPPORTED' });
    expect(gate.currentState).toBe('a');
  });

  it.each([
    ['a Map', { basket: new Map() }, 'context.basket is a Map'],
    ['a Date', { at: [new Date(0)] }, 'context.at.0 is a Date'],
    ['a bigint', { big: 1n }, 'context.big'],
    ['NaN', { sum: Number.NaN }, 'context.sum'],
    ['a function', { f: () => 1 }, 'context.f'],
  ])('and so is a context that JSON cannot keep: %s', (_, context, reason) => {
    const machine = createMachine({ initial: 'a', context: context as object, states: { a: {} } });
    expect(() => machineGate(machine)).toThrow(reason);
  });

  it('and what is no machine', () => {
    expect(() => machineGate({} as never)).toThrow('package xstate');
    expect(() => machineGate(createMachine({}))).toThrow('no states');
  });
});

describe('a stored snapshot', () => {
  it('carries the machine whole, with its id and a hash of its definition', async () => {
    const gate = aShopGate();
    await gate.transition('ADD', { sku: 'tea', price: 5 });
    expect(gate.snapshot()).toMatchObject({
      state: 'shopping.(cart.full|form.blank)',
      machine: { id: 'shop', definition: expect.any(String), snapshot: { context: { total: 5, lines: ['tea'] } } },
    });
  });

  it('is of the same definition when the same machine is built again, also with other inline functions', () => {
    const build = (limit: number) =>
      machineGate(
        createMachine({
          id: 'm',
          initial: 'a',
          states: { a: { on: { GO: { target: 'b', guard: () => limit > 1 } } }, b: {} },
        }),
      );
    expect(build(1).snapshot().machine?.definition).toBe(build(2).snapshot().machine?.definition);
  });

  it.each([
    ['another target', { a: { on: { GO: 'a' } }, b: {} }],
    ['another event', { a: { on: { STOP: 'b' } }, b: {} }],
    ['one more state', { a: { on: { GO: 'b' } }, b: {}, c: {} }],
    ['a guard', { a: { on: { GO: { target: 'b', guard: 'g' } } }, b: {} }],
  ])('is of another definition with %s, and refused with a clear error', (_, states) => {
    const old = machineGate(createMachine({ id: 'm', initial: 'a', states: { a: { on: { GO: 'b' } }, b: {} } }));
    const now = machineGate(createMachine({ id: 'm', initial: 'a', states: states as never }));
    const restore = () => now.restore(old.snapshot());
    expect(restore).toThrow(expect.objectContaining({ code: 'SNAPSHOT_FOREIGN' }));
    expect(restore).toThrow('machine m in another definition');
  });

  it('of another definition goes through the migration of the author, also in sessions', async () => {
    const old = machineGate(createMachine({ id: 'm', initial: 'todo', states: { todo: {}, done: {} } }));
    const machine = createMachine({
      id: 'm',
      initial: 'open',
      context: { n: 0 },
      states: { open: { on: { GO: 'closed' } }, closed: {} },
    });
    const now = machineGate(machine).bindTool('go', 'open', 'GO');
    const migrate = () => now.snapshotAt('closed', { context: { n: 7 } });
    now.restore(old.snapshot(), migrate);
    expect(now.currentState).toBe('closed');
    expect(now.snapshot().machine?.snapshot).toMatchObject({ context: { n: 7 } });

    const store = memoryGateStore();
    await store.force('ann', old.snapshot());
    await expect(createGateSessions({ gate: now, store }).inspect('ann')).rejects.toMatchObject({
      code: 'SNAPSHOT_FOREIGN',
    });
    const sessions = createGateSessions({ gate: now, store, migrate: () => now.snapshotAt('open') });
    expect((await sessions.run('ann', 'go', {}, () => 1)).kind).toBe('done');
    expect((await store.read('ann'))?.snapshot.state).toBe('closed');
  });

  it.each([
    ['of a flat gate', (stored: object) => ({ ...stored, machine: undefined }), 'SNAPSHOT_FOREIGN'],
    [
      'of another machine',
      (stored: { machine: object }) => ({ ...stored, machine: { ...stored.machine, id: 'x' } }),
      'SNAPSHOT_FOREIGN',
    ],
    ['without a state', (stored: object) => ({ ...stored, state: undefined }), 'SNAPSHOT_INVALID'],
    ['of a state that its machine is not in', (stored: object) => ({ ...stored, state: 'paid' }), 'SNAPSHOT_INVALID'],
    [
      'with a value that the machine has not',
      (stored: { machine: { snapshot: object } }) => ({
        ...stored,
        machine: { ...stored.machine, snapshot: { ...stored.machine.snapshot, value: 'nowhere' } },
      }),
      'SNAPSHOT_INVALID',
    ],
    [
      'that is no snapshot',
      (stored: { machine: object }) => ({ ...stored, machine: { ...stored.machine, snapshot: 5 } }),
      'SNAPSHOT_INVALID',
    ],
  ])('%s is refused with a clear error', (_, spoil, code) => {
    const gate = aShopGate();
    const spoiled = (spoil as (stored: unknown) => never)(JSON.parse(JSON.stringify(gate.snapshot())));
    expect(() => aShopGate().restore(spoiled)).toThrow(expect.objectContaining({ code }));
  });
});

describe('sessions of a machine', () => {
  it('move by the arguments and results of calls, and keep the context', async () => {
    const store = memoryGateStore();
    const sessions = createGateSessions({ gate: aShopGate(), store, tools: TOOLS });
    expect(await sessions.run('ann', 'add', { sku: 'tea', price: 5 }, () => 1)).toMatchObject({ kind: 'done' });
    expect(await sessions.run('ann', 'add', { sku: 'cup', price: 7 }, () => 1)).toMatchObject({
      transition: { changed: false, currentState: 'shopping.(cart.full|form.blank)' },
    });
    await sessions.run('ann', 'checkout', {}, () => 1);
    expect(await sessions.run('ann', 'pay', { amount: 11 }, () => 1)).toMatchObject({ kind: 'refused' });
    expect(await sessions.run('ann', 'pay', { amount: 12 }, () => 1)).toMatchObject({
      transition: { currentState: 'paid' },
    });
    expect((await store.read('ann'))?.snapshot.machine?.snapshot).toMatchObject({ context: { total: 12 } });
  });

  it('run the custom actions once the step is committed, and not when the commit was lost', async () => {
    const shout = vi.fn();
    const store = { ...memoryGateStore() };
    const sessions = createGateSessions({ gate: aShopGate({ shout }), store, onError: () => undefined });
    for (const key of ['ann', 'bob']) {
      await sessions.run(key, 'add', { sku: 'tea', price: 5 }, () => 1);
      await sessions.run(key, 'checkout', {}, () => 1);
    }
    const lost = vi.spyOn(store, 'commit').mockResolvedValue({ kind: 'lost' });
    await expect(sessions.run('bob', 'pay', { amount: 5 }, () => 1)).rejects.toMatchObject({
      code: 'EFFECT_NOT_RECORDED',
    });
    expect(shout).not.toHaveBeenCalled();
    lost.mockRestore();
    await sessions.run('ann', 'pay', { amount: 5 }, () => 1);
    expect(shout).toHaveBeenCalledTimes(1);
  });

  it('keep what is stored apart from the machine: a refused commit leaves no trace, and all judge the same', async () => {
    let time = 1;
    const now = () => time;
    const machine = createMachine({
      ...{ id: 'm', context: { paid: [] as unknown[] }, initial: 'a' },
      states: {
        a: {
          on: {
            STAY: {},
            // An action that writes into the context that it is given.
            PAY: {
              actions: assign(({ context }) => {
                context.paid.push(undefined);
                return { paid: context.paid };
              }),
            },
            SHIP: { guard: ({ context }) => context.paid.length > 0 && context.paid[0] === undefined, target: 'b' },
          },
        },
        b: {},
      },
    });
    const gate = machineGate(machine)
      .bindTool('pay', 'a', 'PAY')
      .bindTool('stay', 'a', 'STAY')
      .bindTool('ship', { can: 'SHIP' }, 'SHIP');
    const sessions = createGateSessions({
      ...{ gate, now, leaseMs: 100, contention: { kind: 'refuse' }, onError: () => undefined },
      timers: { setTimeout: () => 0, clearTimeout: () => undefined },
    });
    for (let call = 0; call < 2; call += 1) await sessions.run('ann', 'stay', {}, () => 1);
    const admission = await sessions.reserve('ann', 'pay');
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    time += 1_000;
    await expect(admission.call.commit()).rejects.toMatchObject({ code: 'EFFECT_NOT_RECORDED' });
    expect((await sessions.inspect('ann')).snapshot.machine?.snapshot).toMatchObject({ context: { paid: [] } });
    for (let call = 0; call < 2; call += 1) await sessions.run('ann', 'pay', {}, () => 1);
    expect((await sessions.reserve('ann', 'ship')).kind).toBe(
      (await sessions.decide('ann', 'ship')).kind === 'allowed' ? 'admitted' : 'refused',
    );
  });

  it('can be forced by the text of a state, and keep their context', async () => {
    const sessions = createGateSessions({ gate: aShopGate() });
    await sessions.run('ann', 'add', { sku: 'tea', price: 5 }, () => 1);
    const note = { by: 'carol', reason: 'helped out' };
    const view = await sessions.force('ann', 'shopping.(cart.empty|form.written)', note);
    expect(view).toMatchObject({
      state: 'shopping.(cart.empty|form.written)',
      snapshot: { machine: { snapshot: { context: { total: 5 } } } },
    });
    expect((await sessions.force('ann', 'paid', note)).closed).toEqual(
      new Set(TOOLS.filter((tool) => tool !== 'search')),
    );
    expect(await sessions.run('ann', 'cancel', {}, () => 1)).toMatchObject({ kind: 'refused' });
    for (const state of ['nowhere', 'shopping.(cart.empty', '', '(', 'paid.x'])
      await expect(sessions.force('ann', state, note)).rejects.toMatchObject({ code: 'SNAPSHOT_FOREIGN' });
    expect(await sessions.reset('ann', note)).toMatchObject({
      snapshot: { machine: { snapshot: { context: { total: 0 } } } },
    });
  });

  it('tell of a change of what is open though the state text is the same', async () => {
    const machine = setup({ types: { context: {} as { n: number } } }).createMachine({
      initial: 'a',
      context: { n: 0 },
      states: {
        a: {
          on: {
            COUNT: { actions: assign({ n: ({ context }) => context.n + 1 }) },
            GO: { target: 'b', guard: ({ context }) => context.n > 0 },
          },
        },
        b: {},
      },
    });
    const gate = machineGate(machine).bindTool('count', 'a', 'COUNT').bindTool('go', { can: 'GO' }, 'GO');
    const sessions = createGateSessions({ gate });
    const changes: unknown[] = [];
    sessions.onChange((change) => changes.push(change));
    await sessions.run('ann', 'count', {}, () => 1);
    await sessions.run('ann', 'count', {}, () => 1);
    await settled();
    expect(changes).toMatchObject([{ previousState: 'a', currentState: 'a', visibleChanged: true }]);
  });
});

describe('a machine gate is verified', () => {
  it('with warnings where guards decide', () => {
    const findings = verifyGate(aShopGate(), { tools: TOOLS });
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('and its mistakes are errors all the same', () => {
    const gate = machineGate(aShopMachine());
    // The wrong names are the point: a machine of unknown type takes any.
    (gate as ReturnType<typeof machineGate>)
      .bindTool('one', 'shoping' as never)
      .bindTool('two', { tag: 'opn' } as never)
      .bindTool('three', 'paused', 'RESUMED' as never);
    expect(
      verifyGate(gate)
        .filter(({ severity }) => severity === 'error')
        .map(({ code, tool }) => `${code} ${tool}`),
    ).toEqual(['unknown-state one', 'unknown-state two', 'unknown-event three']);
  });

  it('and explored', () => {
    const ends = new Set([...explorePaths(aShopGate(), { maxSteps: 3 })].map(({ end }) => end));
    expect(ends).toContain('payment');
    expect(ends).toContain('cancelled');
  });
});

describe('a machine gate and a living actor', () => {
  it('agree on every sequence, also when the session is stored and restored in the middle', async () => {
    const event = fc.oneof(
      fc.constantFrom('ADD', 'ADDRESS', 'CHECKOUT', 'PAUSE', 'RESUME').map((type) => ({ type })),
      fc.record({ type: fc.constant('ADD'), args: fc.record({ sku: fc.string(), price: fc.nat(9) }) }),
      fc.record({ type: fc.constant('PAY'), args: fc.record({ amount: fc.nat(30) }) }),
      { weight: 1, arbitrary: fc.constant({ type: 'CANCEL' }) },
      fc.constant('restore' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 20 }), async (sequence) => {
        const machine = aShopMachine();
        // A revived history names the same states in another order.
        const sorted = (persisted: unknown): unknown =>
          JSON.parse(JSON.stringify(persisted), (_, part) =>
            Array.isArray(part) ? part.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : part,
          );
        const actor = createActor(machine).start();
        let gate = aShopGate();
        for (const next of sequence) {
          if (next === 'restore') {
            const stored = JSON.parse(JSON.stringify(gate.snapshot()));
            gate = aShopGate();
            gate.restore(stored);
            continue;
          }
          if (actor.getSnapshot().status === 'active') actor.send(next as never);
          await gate.transition(next.type as never, 'args' in next ? next.args : undefined);
          expect(sorted(gate.snapshot().machine?.snapshot)).toEqual(sorted(actor.getPersistedSnapshot()));
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('the text of a state', () => {
  it('leads back to the very state, whatever the names', () => {
    const name = fc.constantFrom('a', 'b.c', 'd|e', '(f)', 'ü', 'constructor');
    const node: fc.Arbitrary<object> = fc.letrec<{ node: object }>((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.constant({}),
        fc
          .tuple(
            fc.boolean(),
            fc.uniqueArray(fc.tuple(name, tie('node')), { selector: ([key]) => key, minLength: 1, maxLength: 3 }),
          )
          .map(([parallel, children]) => ({
            ...(parallel ? { type: 'parallel' } : { initial: 'first' }),
            states: { first: {}, ...Object.fromEntries(children) },
          })),
      ),
    })).node;
    fc.assert(
      fc.property(node, (root) => {
        fc.pre('states' in root);
        const gate = machineGate(createMachine({ id: 'm', ...root } as never));
        const { state, machine } = gate.snapshot();
        expect(gate.snapshotAt(state).machine?.snapshot).toEqual(machine?.snapshot);
      }),
    );
  });
});
