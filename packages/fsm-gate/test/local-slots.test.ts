/**
 * A session that lies in this process is leased and committed without the store's methods. What that does is what the store
 * does: the same calls over a wrapped store, which is never passed by, have to come out the same.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '../src/audit/index.js';
import { StateMachineGate } from '../src/index.js';
import {
  createGateSessions,
  type GateCall,
  type GateSessions,
  type GateStore,
  memoryGateStore,
  type SessionChange,
} from '../src/sessions/index.js';
import { aClock } from './helpers.js';

const LEASE_MS = 1_000;
const KEYS = ['ann', 'bob', 'cyd'] as const;
const TOOLS = ['go', 'stay', 'back', 'choose', 'guarded', 'finish', 'look', 'free'] as const;

function aGate() {
  return new StateMachineGate({
    initial: 'a',
    states: {
      a: { on: { GO: 'b', STAY: 'a' } },
      b: { on: { BACK: 'a', STAY: 'b', END: 'done' } },
      done: { type: 'final' },
    },
  })
    .bindTool('go', 'a', 'GO')
    .bindTool('stay', ['a', 'b'], 'STAY')
    .bindTool('back', 'b', 'BACK')
    .bindTool('choose', ['a', 'b'], {
      event: ['GO', 'BACK'],
      // An undeclared one and an exception are mistakes of the author, met at the commit.
      eventFor: (result) => {
        if (result === 'throw') throw new Error('chooser');
        return result === 'none' ? undefined : (result as 'GO');
      },
    })
    .bindTool('guarded', ['a', 'b'], {
      event: 'STAY',
      guard: (args) => (args as { ok: boolean }).ok || 'not so',
    })
    .bindTool('finish', 'b', 'END')
    .bindTool('look', 'b');
}

type Operation =
  | { do: 'admit'; at: number; key: string; tool: string; ok: boolean }
  | { do: 'settle'; call: number; result: string }
  | { do: 'rollback'; call: number }
  | { do: 'pass'; ms: number }
  | { do: 'send'; at: number; key: string; event: string }
  | { do: 'force'; at: number; key: string; state: string }
  | { do: 'foreign'; key: string }
  | { do: 'commit again'; key: string }
  | { do: 'end'; at: number; key: string }
  | { do: 'inspect'; at: number; key: string };

const key = fc.constantFrom(...KEYS);
const at = fc.nat(1);
const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('admit' as const),
        at,
        key,
        tool: fc.constantFrom(...TOOLS),
        ok: fc.boolean(),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('settle' as const),
        call: fc.nat(2),
        result: fc.constantFrom('GO', 'BACK', 'none', 'END', 'throw'),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('rollback' as const), call: fc.nat(2) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 400, 600, 1_000) }) },
    fc.record({ do: fc.constant('send' as const), at, key, event: fc.constantFrom('GO', 'BACK', 'NOPE') }),
    fc.record({ do: fc.constant('force' as const), at, key, state: fc.constantFrom('a', 'b', 'done', 'nowhere') }),
    fc.record({ do: fc.constant('foreign' as const), key }),
    fc.record({ do: fc.constant('commit again' as const), key }),
    fc.record({ do: fc.constant('end' as const), at, key }),
    fc.record({ do: fc.constant('inspect' as const), at, key }),
  ),
  { maxLength: 60 },
);

/** Two sets of sessions on one store, as they are made; nothing renews a lease, so that leases run out. */
function aWorld(wrap: (store: GateStore) => GateStore) {
  let time = 5_000;
  const now = () => time;
  // One session too few, so that the least recently used one goes.
  const store = wrap(memoryGateStore({ now, maxSessions: 2 }));
  const records: Omit<AuditRecord, 'fence'>[] = [];
  const changes: SessionChange[] = [];
  const errors: string[] = [];
  const all = [0, 1].map(() => {
    const sessions = createGateSessions({
      ...{ gate: aGate(), store, now, leaseMs: LEASE_MS, contention: { kind: 'refuse' } },
      timers: { setTimeout: () => 0, clearTimeout: () => undefined },
      onDecision: ({ fence: _, ...record }) => records.push(record),
      onError: (error) => errors.push(String(error)),
    });
    sessions.onChange((change) => changes.push(change));
    return sessions;
  });
  const calls: GateCall[] = [];
  const fences: number[] = [];

  async function run(operation: Operation): Promise<unknown> {
    const sessions = all['at' in operation ? operation.at : 0] as GateSessions;
    switch (operation.do) {
      case 'admit': {
        const admission = await sessions.admit(operation.key, operation.tool, { ok: operation.ok });
        if (admission.kind === 'refused') return admission;
        const { call } = admission;
        calls.push(call);
        if (call.fence !== undefined) fences.push(call.fence);
        const { tool, decision } = call;
        return { key: call.key, tool, decision, leased: call.fence !== undefined, lost: call.lost.aborted };
      }
      case 'settle':
        return calls.at(-1 - operation.call)?.settle(operation.result);
      case 'rollback':
        return calls.at(-1 - operation.call)?.rollback('so it is');
      case 'pass':
        time += operation.ms;
        return undefined;
      case 'send':
        return sessions.send(operation.key, operation.event);
      case 'force':
        return sessions.force(operation.key, operation.state, { by: 'ops', reason: 'test' });
      case 'foreign':
        return store.force(operation.key, { state: 'of another gate', updatedAt: 0 });
      case 'commit again':
        return store.commit(operation.key, fences.at(-1) ?? 0, { state: 'a', updatedAt: 1 });
      case 'end':
        return sessions.end(operation.key);
      case 'inspect':
        return sessions.inspect(operation.key);
    }
  }
  return { run: (operation: Operation) => run(operation).catch(String), records, changes, errors, fences };
}

describe('sessions in this process', () => {
  it('do what they do over a wrapped store: answers, records, changes and errors', async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (plan) => {
        const passedBy = aWorld((store) => store);
        const asked = aWorld((store) => ({ ...store }));
        for (const operation of plan) expect(await passedBy.run(operation)).toEqual(await asked.run(operation));
        expect(passedBy.records).toEqual(asked.records);
        expect(passedBy.changes).toEqual(asked.changes);
        expect(passedBy.errors).toEqual(asked.errors);
        for (const { fences } of [passedBy, asked])
          expect(fences).toEqual(fences.toSorted((one, other) => one - other));
      }),
      { numRuns: 1_000 },
    );
  });

  it('take turns as ever: a refusal holds nobody up, a call that is in flight does', async () => {
    const clock = aClock();
    const store = memoryGateStore({ now: clock.now });
    const sessions = createGateSessions({ gate: aGate(), store, now: clock.now, timers: clock });
    await sessions.run('ann', 'stay', {}, () => 1);
    expect(sessions.admit('ann', 'back')).toMatchObject({ kind: 'refused', decision: { reason: 'closed' } });
    expect(sessions.admit('ann', 'guarded', { ok: false })).toMatchObject({ decision: { reason: 'arguments' } });
    const first = sessions.admit('ann', 'stay');
    if (!('kind' in first) || first.kind !== 'admitted') throw new Error('not admitted at once');
    const second = sessions.admit('ann', 'go');
    expect(second).toBeInstanceOf(Promise);
    await clock.advance(20_000);
    // It waited for ten seconds, and the lease of the first was renewed meanwhile.
    expect(await second).toMatchObject({ decision: { reason: 'busy', holder: 'stay' } });
    const third = sessions.admit('ann', 'go');
    first.call.settle();
    expect(await third).toMatchObject({ kind: 'admitted' });
    await sessions.reset('ann', { by: 'ops', reason: 'test' });
    await sessions.end('ann');
  });

  it('set no timer once nothing is in flight, and keep nothing of a call that has ended', async () => {
    const clock = aClock();
    const store = memoryGateStore({ now: clock.now });
    const sessions = createGateSessions({ gate: aGate(), store, now: clock.now, timers: clock });
    for (let time = 0; time < 2; time += 1) await sessions.run('ann', 'stay', {}, () => 1);
    await clock.advance(60_000);
    expect(clock.pending()).toBe(0);
  });

  it('are leased without the methods of the store, which cannot be patched for that reason', async () => {
    const store = memoryGateStore();
    const sessions = createGateSessions({ gate: aGate(), store });
    await sessions.run('ann', 'stay', {}, () => 1);
    expect(sessions.admit('ann', 'go')).not.toBeInstanceOf(Promise);
    expect(() => Object.assign(store, { commit: () => undefined })).toThrow(TypeError);
  });

  it('are asked of the store where its clock is another one', async () => {
    const store = memoryGateStore({ now: () => 1 });
    const sessions = createGateSessions({ gate: aGate(), store });
    await sessions.run('ann', 'stay', {}, () => 1);
    expect(sessions.admit('ann', 'go')).toBeInstanceOf(Promise);
  });

  it('are checked again after somebody wrote to the store: a snapshot of another gate is refused', async () => {
    const store = memoryGateStore();
    const sessions = createGateSessions({ gate: aGate(), store });
    for (let time = 0; time < 2; time += 1) await sessions.run('ann', 'stay', {}, () => 1);
    await store.force('ann', { state: 'of another gate', updatedAt: 0 });
    await expect(async () => sessions.admit('ann', 'stay')).rejects.toMatchObject({ code: 'SNAPSHOT_FOREIGN' });
  });

  it('do not outlive their deletion: a call that is in flight then has lost its lease', async () => {
    const store = memoryGateStore();
    const sessions = createGateSessions({ gate: aGate(), store });
    await sessions.run('ann', 'stay', {}, () => 1);
    const admission = await sessions.admit('ann', 'go');
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    await store.delete('ann');
    await expect(admission.call.commit('GO')).rejects.toMatchObject({ code: 'EFFECT_NOT_RECORDED' });
    expect(await store.read('ann')).toBeUndefined();
  });

  it('that are ended and begun anew are not those of before, whatever call still has the old one', async () => {
    const sessions = createGateSessions({ gate: aGate() });
    for (let time = 0; time < 2; time += 1) await sessions.run('ann', 'stay', {}, () => 1);
    const admission = await sessions.admit('ann', 'go');
    if (admission.kind !== 'admitted' || !admission.call.token) throw new Error('not admitted');
    await (await sessions.resume(admission.call.token))?.commit();
    await sessions.end('ann');
    await expect(admission.call.commit()).rejects.toMatchObject({ code: 'EFFECT_NOT_RECORDED' });
  });

  it('that made room for others are lost to their calls, though the clock should go back', async () => {
    let time = 0;
    const now = () => time;
    const timers = { setTimeout: () => 0, clearTimeout: () => undefined };
    const store = memoryGateStore({ now, maxSessions: 1 });
    const sessions = createGateSessions({ gate: aGate(), store, now, timers, leaseMs: 100 });
    await sessions.run('ann', 'stay', {}, () => 1);
    const admission = await sessions.admit('ann', 'go');
    if (admission.kind !== 'admitted') throw new Error('not admitted');
    time = 200;
    await sessions.run('bob', 'stay', {}, () => 1);
    time = 50;
    await expect(admission.call.commit()).rejects.toMatchObject({ code: 'EFFECT_NOT_RECORDED' });
  });

  it('are not taken by who came later: a call that refuses to wait finds that of one that waits', async () => {
    const sessions = createGateSessions({
      gate: aGate(),
      contention: (tool) => (tool === 'go' ? { kind: 'refuse' } : { kind: 'wait', timeoutMs: 1_000 }),
    });
    const first = sessions.reserve('ann', 'stay');
    expect(await sessions.reserve('ann', 'go')).toMatchObject({ kind: 'refused', decision: { reason: 'busy' } });
    expect(await first).toMatchObject({ kind: 'admitted' });
  });
});
