import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setup } from 'xstate';
import type { AuditRecord } from '../src/audit/index.js';
import {
  EffectNotRecordedError,
  type FsmSnapshot,
  GateError,
  type RefusedDecision,
  StateMachineGate,
} from '../src/index.js';
import {
  createGateSessions,
  type GateSessionsOptions,
  type GateStore,
  memoryGateStore,
  outcomeOfResult,
  type SessionChange,
  type StoreChange,
} from '../src/sessions/index.js';
import { machineGate } from '../src/xstate.js';
import { aCheckoutGate, aClock, aStateStore, deferred, settled } from './helpers.js';

const TOOLS = ['cart_add_item', 'cart_checkout', 'cart_pay', 'cart_view', 'search'];

function aShop(options: Partial<GateSessionsOptions> = {}) {
  const clock = aClock();
  const records: AuditRecord[] = [];
  const errors: unknown[] = [];
  const store = memoryGateStore({ now: clock.now });
  const sessions = createGateSessions({
    gate: aCheckoutGate(),
    store,
    tools: TOOLS,
    now: clock.now,
    timers: clock,
    leaseMs: 3_000,
    onDecision: (record) => records.push(record),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { sessions, clock, records, errors, store };
}

/** The same over a store that may be patched: calls do not pass its methods by. */
function aPatchableShop(options: Partial<GateSessionsOptions> = {}) {
  const clock = aClock();
  const store = { ...memoryGateStore({ now: clock.now }) };
  return { ...aShop({ store, now: clock.now, timers: clock, ...options }), clock, store };
}

async function inState(sessions: ReturnType<typeof aShop>['sessions'], key: string, state: string): Promise<void> {
  await sessions.force(key, state, { by: 'test', reason: 'arranged' });
}

async function refused(outcome: Promise<{ kind: string; decision?: unknown }>): Promise<RefusedDecision> {
  const { kind, decision } = await outcome;
  expect(kind).toBe('refused');
  return decision as RefusedDecision;
}

describe('a call', () => {
  it('that succeeds moves its session, and no other', async () => {
    const { sessions } = aShop();
    const outcome = await sessions.run('ann', 'cart_add_item', { sku: 1 }, () => 'added');
    expect(outcome).toEqual({
      kind: 'done',
      result: 'added',
      transition: { changed: true, previousState: 'empty', currentState: 'has_items' },
    });
    expect((await sessions.inspect('ann')).state).toBe('has_items');
    expect((await sessions.inspect('bob')).state).toBe('empty');
  });

  it('out of turn is refused with the way in, and its callback does not run', async () => {
    const { sessions } = aShop();
    const callback = vi.fn();
    const decision = await refused(sessions.run('ann', 'cart_pay', {}, callback));
    expect(decision).toEqual({
      kind: 'refused',
      reason: 'closed',
      tool: 'cart_pay',
      state: 'empty',
      openTools: ['cart_add_item'],
      wayIn: ['cart_add_item', 'cart_checkout'],
      certain: true,
    });
    expect(callback).not.toHaveBeenCalled();
  });

  it('that throws leaves the session where it was, and free', async () => {
    const { sessions } = aShop();
    const failure = new Error('out of stock');
    await expect(
      sessions.run('ann', 'cart_add_item', {}, () => {
        throw failure;
      }),
    ).rejects.toBe(failure);
    expect((await sessions.inspect('ann')).state).toBe('empty');
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 'added')).kind).toBe('done');
  });

  it.each([
    ['isError', { isError: true, content: [] }],
    ['input_required', { resultType: 'input_required' }],
  ])('that answers %s leaves the session where it was, and free', async (_, result) => {
    const { sessions } = aShop();
    expect(await sessions.run('ann', 'cart_add_item', {}, () => result)).toEqual({
      kind: 'rolled_back',
      result,
      state: 'empty',
    });
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 'added')).kind).toBe('done');
  });

  it('may have its outcome judged by the host', async () => {
    const { sessions } = aShop({ outcomeOf: (result) => (result === 'declined' ? 'rollback' : 'commit') });
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 'declined')).kind).toBe('rolled_back');
  });

  it('whose outcome cannot be judged leaves the session where it was, and free', async () => {
    const { sessions } = aShop({
      outcomeOf: (result) => {
        if (result === 'odd') throw new Error('what is this?');
        return 'commit';
      },
    });
    await expect(sessions.run('ann', 'cart_add_item', {}, () => 'odd')).rejects.toThrow('what is this?');
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 'added')).kind).toBe('done');
  });

  it('of an unbound tool runs in every state and moves nothing', async () => {
    const { sessions } = aShop();
    const outcome = await sessions.run('ann', 'search', {}, (call) => call.fence);
    expect(outcome).toMatchObject({ kind: 'done', result: undefined, transition: { changed: false } });
  });

  it.each([undefined, null, '', 5])('without a session key (%s) is an error, never a shared session', async (key) => {
    const { sessions } = aShop();
    const bad = key as unknown as string;
    const code = expect.objectContaining({ code: 'ARGUMENT_INVALID' });
    await expect(sessions.run(bad, 'cart_add_item', {}, () => 1)).rejects.toEqual(code);
    await expect(sessions.reserve(bad, 'search')).rejects.toEqual(code);
    await expect(sessions.visibleTools(bad, TOOLS)).rejects.toEqual(code);
    await expect(sessions.end(bad)).rejects.toEqual(code);
    await expect(sessions.reset(bad, { by: 'x', reason: 'y' })).rejects.toEqual(code);
  });
});

describe('what a session sees', () => {
  it('is filtered by its own state', async () => {
    const { sessions } = aShop();
    await sessions.run('ann', 'cart_add_item', {}, () => 1);
    expect(await sessions.visibleTools('ann', TOOLS)).toEqual([
      'cart_add_item',
      'cart_checkout',
      'cart_view',
      'search',
    ]);
    expect(await sessions.visibleTools('bob', TOOLS)).toEqual(['cart_add_item', 'search']);
  });

  it('can be asked without taking or storing anything', async () => {
    const { sessions, store } = aShop();
    expect((await sessions.decide('ann', 'cart_add_item')).kind).toBe('allowed');
    expect((await sessions.decide('ann', 'cart_pay')).kind).toBe('refused');
    expect((await sessions.inspect('ann')).closed).toEqual(new Set(['cart_checkout', 'cart_pay', 'cart_view']));
    expect(await store.read('ann')).toBeUndefined();
  });
});

describe('two calls at once', () => {
  it('do not both pass: the second waits, and is judged by the state that the first left', async () => {
    const { sessions } = aShop();
    await inState(sessions, 'ann', 'payment');
    const paying = deferred<string>();
    const first = sessions.run('ann', 'cart_pay', {}, () => paying.promise);
    const callback = vi.fn();
    const second = sessions.run('ann', 'cart_pay', {}, callback);
    await settled();
    paying.resolve('paid');
    expect((await first).kind).toBe('done');
    expect(await refused(second)).toMatchObject({ reason: 'closed', state: 'confirmed' });
    expect(callback).not.toHaveBeenCalled();
  });

  it('run one after the other in the order in which they came', async () => {
    const { sessions } = aShop();
    const order: string[] = [];
    const calls = ['cart_add_item', 'cart_checkout', 'cart_pay'].map((tool) =>
      sessions.run('ann', tool, {}, async () => {
        order.push(`${tool} begins`);
        await settled();
        order.push(`${tool} ends`);
      }),
    );
    expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
    expect(order.map((entry) => entry.split(' ')[0])).toEqual([
      ...['cart_add_item', 'cart_add_item', 'cart_checkout', 'cart_checkout', 'cart_pay', 'cart_pay'],
    ]);
    expect((await sessions.inspect('ann')).state).toBe('confirmed');
  });

  it('of tools without an event run side by side, also beside one that moves the session', async () => {
    const { sessions } = aShop();
    await inState(sessions, 'ann', 'payment');
    const gate = deferred<string>();
    const running = ['cart_view', 'cart_view', 'cart_pay'].map((tool) =>
      sessions.run('ann', tool, {}, async () => gate.promise),
    );
    const last = await sessions.run('ann', 'cart_view', {}, () => 'seen');
    expect(last).toMatchObject({ kind: 'done', result: 'seen' });
    gate.resolve('all');
    expect((await Promise.all(running)).map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
  });

  it('where the loser shall not wait: it is refused at once, naming the state and the holder', async () => {
    const { sessions } = aShop({ contention: { kind: 'refuse' } });
    await inState(sessions, 'ann', 'has_items');
    const adding = deferred<string>();
    const first = sessions.run('ann', 'cart_add_item', {}, () => adding.promise);
    await settled();
    expect(await refused(sessions.run('ann', 'cart_checkout', {}, () => 1))).toEqual({
      kind: 'refused',
      reason: 'busy',
      tool: 'cart_checkout',
      state: 'has_items',
      openTools: ['cart_add_item', 'cart_checkout', 'cart_view'],
      holder: 'cart_add_item',
      retryAfterMs: 3_000,
    });
    expect(await refused(sessions.run('ann', 'cart_pay', {}, () => 1))).toMatchObject({ reason: 'closed' });
    adding.resolve('added');
    expect((await first).kind).toBe('done');
  });

  it('where the loser waits for a while: it is refused when that is over', async () => {
    const { sessions, clock } = aShop({ contention: { kind: 'wait', timeoutMs: 500 } });
    const adding = deferred<string>();
    const first = sessions.run('ann', 'cart_add_item', {}, () => adding.promise);
    const second = refused(sessions.run('ann', 'cart_add_item', {}, () => 1));
    await clock.advance(500);
    expect(await second).toMatchObject({ reason: 'busy', state: 'empty', holder: 'cart_add_item' });
    adding.resolve('added');
    await first;
  });

  it('may wait or not by tool', async () => {
    const { sessions } = aShop({
      contention: (tool) => (tool === 'cart_pay' ? { kind: 'refuse' } : { kind: 'wait', timeoutMs: 1_000 }),
    });
    await inState(sessions, 'ann', 'payment');
    const paying = deferred<string>();
    const first = sessions.run('ann', 'cart_pay', {}, () => paying.promise);
    await settled();
    expect(await refused(sessions.run('ann', 'cart_pay', {}, () => 1))).toMatchObject({ reason: 'busy' });
    paying.resolve('paid');
    await first;
  });

  it('an abort ends the wait, and the queue goes on', async () => {
    const { sessions } = aShop();
    const adding = deferred<string>();
    const first = sessions.run('ann', 'cart_add_item', {}, () => adding.promise);
    const controller = new AbortController();
    const second = sessions.run('ann', 'cart_add_item', {}, () => 1, { signal: controller.signal });
    const third = sessions.run('ann', 'cart_checkout', {}, () => 'out');
    controller.abort(new Error('cancelled by the client'));
    await expect(second).rejects.toThrow('cancelled by the client');
    adding.resolve('added');
    expect((await first).kind).toBe('done');
    expect((await third).kind).toBe('done');
  });

  it('an out-of-turn call holds nobody up', async () => {
    const { sessions } = aShop({ contention: { kind: 'refuse' } });
    const outcomes = await Promise.all([
      sessions.run('ann', 'cart_pay', {}, () => 1),
      sessions.run('ann', 'cart_add_item', {}, () => 1),
      sessions.run('ann', 'cart_checkout', {}, () => 1),
    ]);
    expect(outcomes[1]).toMatchObject({ kind: 'done' });
  });
});

describe('two processes on one store', () => {
  it('do not both pass, and the waiting one comes after', async () => {
    const here = aShop();
    const there = createGateSessions({
      gate: aCheckoutGate(),
      store: here.store,
      now: here.clock.now,
      timers: here.clock,
      leaseMs: 3_000,
    });
    await inState(here.sessions, 'ann', 'payment');
    const paying = deferred<string>();
    const first = here.sessions.run('ann', 'cart_pay', {}, () => paying.promise);
    await settled();
    const callback = vi.fn();
    const second = there.run('ann', 'cart_pay', {}, callback);
    await here.clock.advance(100);
    paying.resolve('paid');
    await first;
    await here.clock.advance(100);
    expect(await refused(second)).toMatchObject({ reason: 'closed', state: 'confirmed' });
    expect(callback).not.toHaveBeenCalled();
  });
});

describe('a lease', () => {
  it('is renewed for as long as the callback runs', async () => {
    const { sessions, clock, store } = aShop();
    const human = deferred<string>();
    const call = sessions.run('ann', 'cart_add_item', {}, () => human.promise);
    await clock.advance(60_000);
    const rival = {
      id: 'rival',
      tool: 'cart_checkout',
      initial: () => ({ state: 'empty', updatedAt: 0 }),
      leaseMs: 1,
      onlyIn: undefined,
    };
    expect(await store.reserve('ann', rival)).toMatchObject({ kind: 'held', tool: 'cart_add_item' });
    human.resolve('approved');
    expect(await call).toMatchObject({ kind: 'done', transition: { currentState: 'has_items' } });
    await clock.advance(1_000);
    expect(clock.pending()).toBe(0);
  });

  it('that is lost makes the commit fail: the effect happened, the state did not move', async () => {
    const { sessions, store, clock, records } = aPatchableShop();
    const outcome = sessions.run('ann', 'cart_add_item', {}, async () => {
      // Another process thought this one dead.
      vi.spyOn(store, 'renew').mockResolvedValue(false);
      await clock.advance(3_000);
      return { charged: 12 };
    });
    const error = await outcome.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(EffectNotRecordedError);
    expect(error).toMatchObject({ code: 'EFFECT_NOT_RECORDED', result: { charged: 12 } });
    expect((error as Error).message).toContain(
      'cart_add_item took effect, but the session did not move out of state empty',
    );
    expect((await sessions.inspect('ann')).state).toBe('empty');
    expect(records.at(-1)).toMatchObject({ kind: 'lost', tool: 'cart_add_item', state: 'empty' });
  });

  it('that is lost aborts the signal of the call and lets the next one in', async () => {
    const { sessions, store, clock } = aPatchableShop();
    const admission = await sessions.reserve('ann', 'cart_add_item');
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    const next = sessions.run('ann', 'cart_add_item', {}, () => 'next');
    vi.spyOn(store, 'renew').mockResolvedValueOnce(false);
    await clock.advance(3_000);
    expect(admission.call.lost.aborted).toBe(true);
    expect(await next).toMatchObject({ kind: 'done' });
    await expect(admission.call.commit('late')).rejects.toBeInstanceOf(EffectNotRecordedError);
  });

  it('survives a store that is away for less than its time', async () => {
    const { sessions, store, clock, errors } = aPatchableShop();
    const human = deferred<string>();
    const call = sessions.run('ann', 'cart_add_item', {}, () => human.promise);
    await settled();
    vi.spyOn(store, 'renew').mockRejectedValueOnce(new Error('connection reset'));
    await clock.advance(10_000);
    human.resolve('approved');
    expect((await call).kind).toBe('done');
    expect(errors).toHaveLength(1);
  });

  it('is not renewed beyond the longest hold', async () => {
    const { sessions, clock } = aShop({ maxHoldMs: 10_000 });
    const admission = await sessions.reserve('ann', 'cart_add_item');
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    await clock.advance(20_000);
    expect(admission.call.lost.aborted).toBe(true);
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 'next')).kind).toBe('done');
  });

  it('of a task is held until the task ends, also by another process', async () => {
    const { sessions, store, clock } = aShop();
    const admission = await sessions.reserve('ann', 'cart_add_item', { sku: 1 });
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    const token = JSON.parse(JSON.stringify(admission.call.token));
    sessions.close();
    const elsewhere = createGateSessions({
      gate: aCheckoutGate(),
      store,
      now: clock.now,
      timers: clock,
      leaseMs: 3_000,
    });
    const call = await elsewhere.resume(token, { sku: 1 });
    await clock.advance(30_000);
    expect(await call?.commit({ done: true })).toEqual({
      changed: true,
      previousState: 'empty',
      currentState: 'has_items',
    });
    expect(await elsewhere.resume(token)).toBeUndefined();
  });

  it('has a fence that grows with every call, for whoever carries out the effect', async () => {
    const { sessions } = aShop();
    const fences: (number | undefined)[] = [];
    for (const tool of ['cart_add_item', 'cart_checkout', 'cart_pay'])
      await sessions.run('ann', tool, {}, (call) => fences.push(call.fence));
    expect(fences).toEqual([...fences].sort((a, b) => Number(a) - Number(b)));
    expect(new Set(fences).size).toBe(3);
  });
});

describe('a call that was reserved by hand', () => {
  it('ends once: what comes after the first end changes nothing', async () => {
    const { sessions, records } = aShop();
    const admission = await sessions.reserve('ann', 'cart_add_item');
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    const { call } = admission;
    const [one, two] = await Promise.all([call.commit('x'), call.commit('y')]);
    await call.rollback('too late');
    expect(one).toEqual(two);
    expect((await sessions.inspect('ann')).version).toBe(1);
    expect(records.map(({ kind }) => kind)).toEqual(['reserved', 'committed']);
  });

  it('rolled back cannot be committed any more', async () => {
    const { sessions } = aShop();
    const admission = await sessions.reserve('ann', 'cart_add_item');
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    await admission.call.rollback('input_required');
    expect(await admission.call.commit()).toMatchObject({ changed: false });
    expect((await sessions.inspect('ann')).state).toBe('empty');
  });
});

describe('an integration that counts microseconds', () => {
  it('is answered at once where the session is in this process and free', async () => {
    const { sessions } = aShop();
    const begun = sessions.admit('ann', 'cart_add_item');
    expect(begun).toBeInstanceOf(Promise);
    const first = await begun;
    if (first.kind === 'admitted') await first.call.settle('added');
    await sessions.reset('ann', { by: 'ops', reason: 'test' });
    const admission = sessions.admit('ann', 'cart_add_item');
    if (admission instanceof Promise || admission.kind !== 'admitted') throw new Error('not admitted at once');
    expect(admission.call.settle('added')).toEqual({
      changed: true,
      previousState: 'empty',
      currentState: 'has_items',
    });
    expect(sessions.admit('ann', 'search')).toMatchObject({ kind: 'admitted' });
  });

  it('is answered later by a store that answers later, and where it has to wait', async () => {
    const { sessions } = aShop({ store: aStateStore() });
    const admission = sessions.admit('ann', 'cart_add_item');
    expect(admission).toBeInstanceOf(Promise);
    const { sessions: quick } = aShop();
    quick.admit('ann', 'cart_add_item');
    expect(quick.admit('ann', 'cart_add_item')).toBeInstanceOf(Promise);
    expect((await admission).kind).toBe('admitted');
  });

  it('is rejected, never thrown at', async () => {
    const { sessions, store } = aPatchableShop();
    await expect(sessions.admit('', 'cart_add_item')).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    await expect(sessions.admit('', 'search')).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    const admission = await sessions.admit('ann', 'cart_add_item');
    vi.spyOn(store, 'commit').mockImplementation(() => {
      throw new Error('broken');
    });
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    await expect(admission.call.settle('added')).rejects.toBeInstanceOf(EffectNotRecordedError);
    vi.spyOn(store, 'reserve').mockImplementation(() => {
      throw new Error('broken');
    });
    await expect(sessions.admit('ann', 'cart_add_item')).rejects.toThrow('broken');
    vi.restoreAllMocks();
    expect((await sessions.admit('ann', 'cart_add_item')).kind).toBe('admitted');
  });

  it('is rejected where it gave up before it asked', async () => {
    const { sessions } = aShop();
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(sessions.admit('ann', 'cart_add_item', {}, { signal })).rejects.toThrow('gone');
  });

  it('that gives up only while it waits is let through where it need not, and rejected where it must', async () => {
    const { sessions } = aShop();
    const waitSignal = AbortSignal.abort(new Error('gone'));
    const first = await sessions.admit('ann', 'cart_add_item', {}, { waitSignal });
    if (first.kind !== 'admitted') throw new Error('it should be let through');
    await expect(sessions.admit('ann', 'cart_add_item', {}, { waitSignal })).rejects.toThrow('gone');
    await first.call.commit('added');
    // Who gave up stands in nobody's way.
    expect((await sessions.run('ann', 'cart_checkout', {}, () => 'out')).kind).toBe('done');
  });

  it('that gives up while another process holds the session is rejected, and holds nobody up', async () => {
    const { sessions, store } = aShop();
    const initial = () => sessions.model.start(0);
    const request = { id: 'foreign', tool: 'cart_pay', initial, leaseMs: 60_000, onlyIn: undefined };
    const foreign = await store.reserve('ann', request);
    if (foreign.kind !== 'granted') throw new Error('it should be granted');
    const waitSignal = AbortSignal.abort(new Error('gone'));
    await expect(sessions.admit('ann', 'cart_add_item', {}, { waitSignal })).rejects.toThrow('gone');
    await store.release('ann', foreign.fence);
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 1)).kind).toBe('done');
  });
});

describe('a call that is printed', () => {
  const SHOWN = {
    key: 'ann',
    tool: 'go',
    fence: 1,
    decision: { kind: 'allowed', tool: 'go', state: 'x', events: ['GO'] },
  };

  it('shows neither its arguments nor the context of its session nor the store, to JSON and to the console', async () => {
    const machine = setup({}).createMachine({
      context: { iban: 'DE02' },
      initial: 'x',
      states: { x: { on: { GO: 'y' } }, y: {} },
    });
    const memory = memoryGateStore();
    const connection: Record<string, unknown> = { password: 'secret' };
    connection.self = connection;
    const sessions = createGateSessions({
      gate: machineGate(machine).bindTool('go', 'x', 'GO'),
      store: { ...memory, connection } as GateStore,
    });
    const admission = await sessions.reserve('ann', 'go', { card: '4111' });
    expect(JSON.parse(JSON.stringify(admission))).toEqual({ kind: 'admitted', call: SHOWN });
    const printed = inspect(admission, { depth: 10 });
    expect(printed).toContain('fence: 1');
    expect(printed).not.toMatch(/4111|DE02|secret/);
  });
});

describe('a store that fails', () => {
  it('at the commit: it is tried again, and then the error says that the effect happened', async () => {
    const { sessions, store, records } = aPatchableShop();
    const commit = vi.spyOn(store, 'commit').mockRejectedValue(new Error('connection reset'));
    const error = await sessions.run('ann', 'cart_add_item', {}, () => 'added').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'EFFECT_NOT_RECORDED', result: 'added' });
    expect((error as Error).cause).toMatchObject({ message: 'connection reset' });
    expect(commit).toHaveBeenCalledTimes(2);
    expect(records.at(-1)?.kind).toBe('lost');
  });

  it('once at the commit: nothing is lost', async () => {
    const { sessions, store } = aPatchableShop();
    vi.spyOn(store, 'commit').mockRejectedValueOnce(new Error('connection reset'));
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 'added')).kind).toBe('done');
  });

  it('to answer the commit with sense has not committed', async () => {
    const { sessions, store } = aPatchableShop();
    vi.spyOn(store, 'commit').mockReturnValue({} as never);
    await expect(sessions.run('ann', 'cart_add_item', {}, () => 1)).rejects.toBeInstanceOf(EffectNotRecordedError);
  });

  it('at the rollback: what the callback threw comes through, the other goes to onError', async () => {
    const { sessions, store, errors } = aPatchableShop();
    vi.spyOn(store, 'release').mockRejectedValue(new Error('connection reset'));
    await expect(sessions.run('ann', 'cart_add_item', {}, () => Promise.reject(new Error('mine')))).rejects.toThrow(
      'mine',
    );
    expect(errors).toHaveLength(1);
  });

  it('at the reservation: the callback does not run, and the queue goes on', async () => {
    const { sessions, store } = aPatchableShop();
    vi.spyOn(store, 'reserve').mockRejectedValueOnce(new Error('connection reset'));
    const callback = vi.fn();
    await expect(sessions.run('ann', 'cart_add_item', {}, callback)).rejects.toThrow('connection reset');
    expect(callback).not.toHaveBeenCalled();
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 1)).kind).toBe('done');
  });
});

describe('a stored session that is not of this gate', () => {
  it.each([
    ['an unknown state', { state: 'nowhere', updatedAt: 1 }, 'SNAPSHOT_FOREIGN'],
    ['"constructor"', { state: 'constructor', updatedAt: 1 }, 'SNAPSHOT_FOREIGN'],
    ['a machine', { state: 'empty', updatedAt: 1, machine: {} }, 'SNAPSHOT_FOREIGN'],
    ['no state', { updatedAt: 1 }, 'SNAPSHOT_INVALID'],
    ['a number', 5, 'SNAPSHOT_INVALID'],
    ['null', null, 'SNAPSHOT_INVALID'],
  ])('is refused with a clear error: %s', async (_, stored, code) => {
    const { store, ...rest } = aShop();
    const read = { snapshot: stored as never, version: 3 };
    const sessions = createGateSessions({
      gate: aCheckoutGate(),
      store: { ...store, read: async () => read, reserve: async () => ({ kind: 'granted', session: read, fence: 1 }) },
      onError: () => undefined,
    });
    await expect(sessions.visibleTools('ann', TOOLS)).rejects.toMatchObject({ code });
    await expect(sessions.run('ann', 'cart_add_item', {}, () => 1)).rejects.toMatchObject({ code });
    expect(rest.errors).toEqual([]);
  });

  it('does not stay locked by the call that found it so', async () => {
    const { sessions, store } = aShop();
    await store.force('ann', { state: 'old_cart', updatedAt: 1 });
    await expect(sessions.send('ann', 'CLEAR')).rejects.toMatchObject({ code: 'SNAPSHOT_FOREIGN' });
    await sessions.reset('ann', { by: 'ops', reason: 'old definition' });
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 1)).kind).toBe('done');
  });

  it('goes through the migration of the author', async () => {
    const { sessions, store } = aShop({
      migrate: (snapshot) => (snapshot.state === 'old_cart' ? { ...snapshot, state: 'has_items' } : undefined),
    });
    await store.force('ann', { state: 'old_cart', updatedAt: 1 });
    await store.force('bob', { state: 'older_cart', updatedAt: 1 });
    expect((await sessions.inspect('ann')).state).toBe('has_items');
    expect(await sessions.run('ann', 'cart_checkout', {}, () => 1)).toMatchObject({ kind: 'done' });
    await expect(sessions.inspect('bob')).rejects.toMatchObject({ code: 'SNAPSHOT_FOREIGN' });
  });
});

describe('a plain load/save store', () => {
  it('is serialised in this process, and carries the version along', async () => {
    const store = aStateStore();
    const { sessions } = aShop({ store });
    const outcomes = await Promise.all(
      ['cart_add_item', 'cart_checkout', 'cart_pay', 'cart_pay'].map((tool) => sessions.run('ann', tool, {}, () => 1)),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'done', 'refused']);
    expect(JSON.parse(store.saved.get('ann') ?? '')).toMatchObject({ state: 'confirmed', version: 3 });
  });

  it('whose save fails after the effect says so', async () => {
    const store = aStateStore();
    const { sessions } = aShop({ store: { ...store, save: () => Promise.reject(new Error('disk full')) } });
    await expect(sessions.run('ann', 'cart_add_item', {}, () => 'added')).rejects.toMatchObject({
      code: 'EFFECT_NOT_RECORDED',
      result: 'added',
    });
  });

  it('reads what a program of the contract saved', async () => {
    const store = aStateStore();
    await store.save('ann', { state: 'payment', updatedAt: 5 });
    const { sessions } = aShop({ store });
    expect(await sessions.inspect('ann')).toMatchObject({ state: 'payment', updatedAt: 5, version: 1 });
  });
});

describe('a tool whose success can mean different events', () => {
  function aPaymentShop(eventFor: (result: unknown) => 'PAY' | 'PARK' | undefined) {
    const gate = aCheckoutGate().bindTool('cart_pay', 'payment', { event: ['PAY', 'PARK'], eventFor });
    return aShop({ gate });
  }

  it.each([
    ['PAY', 'confirmed'],
    ['PARK', 'awaiting'],
    [undefined, 'payment'],
  ] as const)('moves by the one that its result means: %s', async (event, state) => {
    const { sessions, records } = aPaymentShop(() => event);
    await inState(sessions, 'ann', 'payment');
    expect(await sessions.run('ann', 'cart_pay', {}, () => 'x')).toMatchObject({ transition: { currentState: state } });
    expect(records.at(-1)).toMatchObject({ kind: 'committed', event });
  });

  it('may not choose one that it does not declare', async () => {
    const { sessions } = aPaymentShop(() => 'CANCEL' as never);
    await inState(sessions, 'ann', 'payment');
    await expect(sessions.run('ann', 'cart_pay', {}, () => 'x')).rejects.toThrow('chose CANCEL');
    expect((await sessions.inspect('ann')).state).toBe('payment');
  });

  it('opens the way to both of its targets', async () => {
    const { sessions } = aPaymentShop(() => 'PAY');
    await inState(sessions, 'ann', 'payment');
    const gate = aCheckoutGate()
      .bindTool('cart_pay', 'payment', { event: ['PAY', 'PARK'], eventFor: () => 'PAY' })
      .bindTool('ask_operator', 'awaiting');
    const shop = aShop({ gate, tools: [...TOOLS, 'ask_operator'] });
    expect(await refused(shop.sessions.run('ann', 'ask_operator', {}, () => 1))).toMatchObject({
      wayIn: ['cart_add_item', 'cart_checkout', 'cart_pay'],
    });
    expect((await sessions.decide('ann', 'cart_pay')).kind).toBe('allowed');
  });
});

describe('argument guards', () => {
  function aGuardedShop(guard: (args: unknown) => true | string | undefined) {
    return aShop({
      gate: aCheckoutGate().bindTool('cart_add_item', ['empty', 'has_items'], { event: 'ADD_ITEM', guard }),
    });
  }

  it('let a call pass or refuse it with their reason', async () => {
    const guard = (args: unknown) => ((args as { quantity: number }).quantity <= 9 ? true : 'at most nine of one item');
    const { sessions, records } = aGuardedShop(guard);
    expect(await refused(sessions.run('ann', 'cart_add_item', { quantity: 10 }, () => 1))).toMatchObject({
      reason: 'arguments',
      detail: 'at most nine of one item',
      state: 'empty',
    });
    expect(records.at(-1)).toMatchObject({ kind: 'refused', reason: 'arguments: at most nine of one item' });
    expect((await sessions.run('ann', 'cart_add_item', { quantity: 9 }, () => 1)).kind).toBe('done');
  });

  it('that throw refuse, and the session is free again', async () => {
    const { sessions } = aGuardedShop((args) => (args as { sku: string }).sku.startsWith('x') || undefined);
    expect(await refused(sessions.run('ann', 'cart_add_item', null, () => 1))).toMatchObject({ reason: 'arguments' });
    expect((await sessions.run('ann', 'cart_add_item', { sku: 'x1' }, () => 1)).kind).toBe('done');
  });

  it('guard tools without an event too', async () => {
    const gate = aCheckoutGate().bindTool('cart_view', 'empty', { guard: () => 'not now' });
    const { sessions } = aShop({ gate });
    expect(await refused(sessions.run('ann', 'cart_view', {}, () => 1))).toMatchObject({ detail: 'not now' });
  });
});

describe('from outside a tool call', () => {
  it('an event moves the session, audited with who sent it and why', async () => {
    const { sessions, records } = aShop();
    await inState(sessions, 'ann', 'awaiting');
    expect(await sessions.send('ann', 'APPROVED', { by: 'carol', reason: 'checked the order' })).toEqual({
      changed: true,
      previousState: 'awaiting',
      currentState: 'confirmed',
    });
    expect(records.at(-1)).toMatchObject({
      kind: 'committed',
      tool: 'event:APPROVED',
      event: 'APPROVED',
      by: 'carol',
      reason: 'checked the order',
    });
  });

  it('an event that the state does not take changes nothing', async () => {
    const { sessions } = aShop();
    expect(await sessions.send('ann', 'APPROVED')).toMatchObject({ changed: false, currentState: 'empty' });
  });

  it('an event waits for the call in flight, and is refused with an error when that takes too long', async () => {
    const { sessions, clock } = aShop({ contention: { kind: 'wait', timeoutMs: 1_000 } });
    const adding = deferred<string>();
    const call = sessions.run('ann', 'cart_add_item', {}, () => adding.promise);
    const sent = sessions.send('ann', 'CLEAR').catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await sent).toMatchObject({ code: 'SESSION_BUSY' });
    adding.resolve('added');
    await call;
  });

  it('an operator resets or forces a session whoever holds it, audited; the holder cannot commit any more', async () => {
    const { sessions, records } = aShop();
    await inState(sessions, 'ann', 'payment');
    const paying = deferred<string>();
    const call = sessions.run('ann', 'cart_pay', {}, () => paying.promise).catch((error: unknown) => error);
    await settled();
    expect(await sessions.reset('ann', { by: 'carol', reason: 'fraud' })).toMatchObject({ state: 'empty', version: 2 });
    paying.resolve('paid');
    expect(await call).toBeInstanceOf(EffectNotRecordedError);
    expect((await sessions.inspect('ann')).state).toBe('empty');
    expect(records).toContainEqual(
      expect.objectContaining({ kind: 'forced', state: 'payment', nextState: 'empty', by: 'carol', reason: 'fraud' }),
    );
  });

  it('a session cannot be forced into a state that does not exist', async () => {
    const { sessions } = aShop();
    await expect(inState(sessions, 'ann', 'nowhere')).rejects.toMatchObject({ code: 'SNAPSHOT_FOREIGN' });
  });

  it('a session that ended starts anew, and a commit that comes later does not bring it back', async () => {
    const { sessions, store } = aShop();
    await inState(sessions, 'ann', 'has_items');
    const adding = deferred<string>();
    const call = sessions.run('ann', 'cart_add_item', {}, () => adding.promise).catch((error: unknown) => error);
    await settled();
    await sessions.end('ann');
    adding.resolve('added');
    expect(await call).toBeInstanceOf(EffectNotRecordedError);
    expect(await store.read('ann')).toBeUndefined();
    expect((await sessions.inspect('ann')).state).toBe('empty');
  });
});

describe('listeners', () => {
  it('that another process claims is told only where it could be', async () => {
    let tell: ((change: StoreChange) => void) | undefined;
    const store: GateStore = {
      ...memoryGateStore(),
      subscribe: (listener) => {
        tell = listener;
        return () => undefined;
      },
    };
    const { sessions, errors } = aShop({ store });
    const changes: SessionChange[] = [];
    sessions.onChange((change) => changes.push(change));
    const at = (state: string): FsmSnapshot => ({ state, updatedAt: 1 });

    tell?.({ key: 'ann', previous: at('empty'), current: at('nowhere'), version: 2 });
    tell?.({ key: 'ann', previous: undefined, current: null as never, version: 2 });
    expect(changes).toEqual([]);
    expect(errors).toMatchObject([{ code: 'SNAPSHOT_FOREIGN' }, { code: 'SNAPSHOT_INVALID' }]);
    tell?.({ key: 'ann', previous: undefined, current: at('has_items'), version: 2 });
    tell?.({ key: 'ann', previous: at('of an older release'), current: at('empty'), version: 3 });
    expect(changes).toMatchObject([
      { key: 'ann', previousState: 'empty', currentState: 'has_items', local: false },
      { key: 'ann', previousState: '(unreadable)', currentState: 'empty', visibleChanged: true },
    ]);
  });

  it('hear of every change, of all sessions or of one, and whether the open tools are others than before', async () => {
    const { sessions } = aShop();
    const all: SessionChange[] = [];
    const anns: SessionChange[] = [];
    sessions.onChange((change) => all.push(change));
    const stop = sessions.onChange('ann', (change) => anns.push(change));
    await sessions.run('ann', 'cart_add_item', {}, () => 1);
    await sessions.run('bob', 'cart_add_item', {}, () => 1);
    stop();
    stop();
    await sessions.run('ann', 'cart_checkout', {}, () => 1);
    expect(anns).toEqual([
      { key: 'ann', previousState: 'empty', currentState: 'has_items', version: 1, visibleChanged: true, local: true },
    ]);
    expect(all.map(({ key }) => key)).toEqual(['ann', 'bob', 'ann']);
  });

  it('hear nothing of a self-loop, a refusal or a rollback', async () => {
    const { sessions } = aShop();
    await inState(sessions, 'ann', 'has_items');
    const heard = vi.fn();
    sessions.onChange(heard);
    await sessions.run('ann', 'cart_add_item', {}, () => 1);
    await sessions.run('ann', 'cart_pay', {}, () => 1);
    await sessions.run('ann', 'cart_checkout', {}, () => ({ isError: true }));
    expect(heard).not.toHaveBeenCalled();
  });

  it('are told when the state is another but the open tools are the same', async () => {
    const gate = new StateMachineGate({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: {} } }).bindTool(
      'go',
      ['a', 'b'],
      'GO',
    );
    const { sessions } = aShop({ gate, tools: ['go'] });
    const heard: SessionChange[] = [];
    sessions.onChange((change) => heard.push(change));
    await sessions.run('ann', 'go', {}, () => 1);
    expect(heard).toMatchObject([{ currentState: 'b', visibleChanged: false }]);
  });

  it('have heard before the call is over, and disturb nobody when they throw or reject', async () => {
    const { sessions, errors } = aShop();
    const seen: string[] = [];
    sessions.onChange(() => {
      throw new Error('thrown');
    });
    sessions.onChange(async () => {
      throw new Error('rejected');
    });
    sessions.onChange(({ currentState }) => seen.push(currentState));
    expect((await sessions.run('ann', 'cart_add_item', {}, () => 1)).kind).toBe('done');
    expect(seen).toEqual(['has_items']);
    await settled();
    expect(errors).toHaveLength(2);
  });

  it('hear that a session which ends is at its beginning again, and only if it was not', async () => {
    const { sessions } = aShop();
    const heard: SessionChange[] = [];
    sessions.onChange('ann', (change) => heard.push(change));
    await inState(sessions, 'ann', 'has_items');
    await sessions.end('ann');
    await sessions.end('ann');
    expect(heard.slice(1)).toEqual([
      { key: 'ann', previousState: 'has_items', currentState: 'empty', version: 0, visibleChanged: true, local: true },
    ]);
  });

  it('of a session go with the session', async () => {
    const { sessions } = aShop();
    const heard = vi.fn();
    sessions.onChange('ann', heard);
    await sessions.end('ann');
    await sessions.run('ann', 'cart_add_item', {}, () => 1);
    expect(heard).not.toHaveBeenCalled();
  });
});

describe('at boot', () => {
  it('a gate that cannot work is thrown, with every error and its fix', () => {
    const gate = new StateMachineGate({ initial: 'a', states: { a: {} } });
    // A config that is typed FsmConfig takes any name; so does this test.
    (gate as StateMachineGate).bindTool('pay', ['paymnet'], 'PAYED');
    const build = () => createGateSessions({ gate, tools: ['pya'] });
    expect(build).toThrow(GateError);
    expect(build).toThrow(expect.objectContaining({ code: 'GATE_UNSOUND' }));
    for (const part of ['paymnet', 'PAYED', 'Tool pay is bound but not registered']) expect(build).toThrow(part);
  });

  it.each([
    ['a store that is none', { store: {} as never }],
    ['a lease of no time', { leaseMs: 0 }],
    ['a lease that is no number', { leaseMs: Number.NaN }],
  ])('refuses %s', (_, options) => {
    expect(() => aShop(options)).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  });
});

describe('the default reading of a result', () => {
  it.each([
    [undefined, 'commit'],
    [null, 'commit'],
    ['text', 'commit'],
    [{ isError: false }, 'commit'],
    [{ resultType: 'complete' }, 'commit'],
    [{ isError: true }, 'rollback'],
    [{ resultType: 'input_required' }, 'rollback'],
  ] as const)('%j means %s', (result, outcome) => {
    expect(outcomeOfResult(result)).toBe(outcome);
  });
});

afterEach(() => void vi.restoreAllMocks());

it('waits and leases for longer than a timer can count, instead of not at all', async () => {
  const delays: number[] = [];
  const timers = { setTimeout: (_fire: () => void, ms: number) => delays.push(ms), clearTimeout: () => undefined };
  const contention = { kind: 'wait', timeoutMs: Number.POSITIVE_INFINITY } as const;
  const sessions = createGateSessions({ gate: aCheckoutGate(), contention, leaseMs: 1e12, timers });
  const first = await sessions.reserve('ann', 'cart_add_item');
  const second = sessions.reserve('ann', 'cart_add_item');
  // Node fires a longer one at once: the wait would be over, and leases would be renewed without pause.
  expect(delays).toEqual([2_147_483_647, 2_147_483_647]);
  if (first.kind === 'admitted') await first.call.commit();
  expect((await second).kind).toBe('admitted');
  sessions.close();
});

it('takes no lease that never ends', () => {
  const leaseMs = Number.POSITIVE_INFINITY;
  expect(() => createGateSessions({ gate: aCheckoutGate(), leaseMs })).toThrow('leaseMs');
});

it('a listener that another one unsubscribes during a change is not told of it', async () => {
  const { sessions } = aShop();
  const heard: string[] = [];
  sessions.onChange(() => {
    heard.push('every');
    off();
  });
  const off = sessions.onChange('ann', () => heard.push('own'));
  await sessions.run('ann', 'cart_add_item', {}, () => 1);
  expect(heard).toEqual(['every']);
});

describe('an onError that throws', () => {
  const onError = () => {
    throw new Error('the hook failed');
  };

  beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined));
  afterEach(() => vi.restoreAllMocks());

  it('holds up no session: not where an audit fails, nor a release, nor a renewal', async () => {
    const clock = aClock();
    const memory = memoryGateStore({ now: clock.now });
    const broken = vi.fn(() => {
      throw new Error('connection reset');
    });
    for (const store of [memory, { ...memory, release: broken, renew: broken }]) {
      const { sessions } = aShop({ store, now: clock.now, timers: clock, onDecision: broken, onError });
      for (let call = 0; call < 2; call += 1) {
        const failing = sessions.run('ann', 'cart_add_item', {}, () => raise('the tool failed'));
        await expect(failing).rejects.toThrow('the tool failed');
        // A release that failed leaves the lease to expire.
        await clock.advance(4_000);
      }
      const slow = sessions.run('ann', 'cart_add_item', {}, () => clock.passed(2_000));
      await clock.advance(2_000);
      expect((await slow).kind).toBe('done');
      await sessions.end('ann');
    }
    expect(broken).toHaveBeenCalled();
    expect(clock.pending()).toBe(0);
  });

  it('makes no commit look as if it were none, and listeners are told', async () => {
    const heard: string[] = [];
    const { sessions } = aShop({ onDecision: () => raise('disk full'), onError });
    sessions.onChange(({ currentState }) => heard.push(currentState));
    expect(await sessions.run('ann', 'cart_add_item', {}, () => 1)).toMatchObject({ kind: 'done' });
    await sessions.force('ann', 'payment', { by: 'ops', reason: 'test' });
    await sessions.end('ann');
    expect(heard).toEqual(['has_items', 'payment', 'empty']);
  });

  function raise(what: string): never {
    throw new Error(what);
  }
});
