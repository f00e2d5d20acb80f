/** The interlock under random load: several processes, calls that fail, stall or die with their process. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuditRecord } from '../src/audit/index.js';
import { createGateSessions, type GateSessions, memoryGateStore } from '../src/sessions/index.js';
import { aCheckoutGate, aClock } from './helpers.js';

interface Call {
  readonly process: number;
  readonly tool: 'cart_add_item' | 'cart_checkout' | 'cart_pay' | 'cart_view';
  /** When it is made, and for how long its callback runs, in milliseconds. */
  readonly at: number;
  readonly takes: number;
  readonly ends: 'well' | 'with isError' | 'with an exception' | 'never';
}

const PROCESSES = 3;
const LEASE_MS = 1_000;

const calls: fc.Arbitrary<Call[]> = fc.array(
  fc.record({
    process: fc.nat(PROCESSES - 1),
    tool: fc.constantFrom('cart_add_item', 'cart_checkout', 'cart_pay', 'cart_view'),
    at: fc.nat(3_000),
    takes: fc.constantFrom(0, 10, 400, 2_500),
    ends: fc.oneof(
      { weight: 6, arbitrary: fc.constant('well' as const) },
      fc.constantFrom('with isError' as const, 'with an exception' as const, 'never' as const),
    ),
  }),
  { minLength: 1, maxLength: 14 },
);

describe('the interlock', () => {
  it('lets one call at a time move a session, whatever fails, stalls or dies', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async (plan) => {
        const clock = aClock();
        const store = memoryGateStore({ now: clock.now });
        const records: AuditRecord[] = [];
        const processes = Array.from({ length: PROCESSES }, () =>
          createGateSessions({
            gate: aCheckoutGate(),
            store,
            now: clock.now,
            timers: clock,
            leaseMs: LEASE_MS,
            contention: { kind: 'wait', timeoutMs: 60_000, pollMs: 50 },
            onDecision: (record) => records.push(record),
            onError: () => undefined,
          }),
        );
        const dead = new Set<number>();
        /** The moving calls whose callbacks run in a living process. */
        const running = new Set<Call>();
        const ended: Promise<unknown>[] = [];

        for (const call of plan.toSorted((one, other) => one.at - other.at)) {
          clock.setTimeout(() => {
            if (dead.has(call.process)) return;
            const sessions = processes[call.process] as GateSessions;
            const outcome = sessions.run('shared', call.tool, {}, async () => {
              // It waited while its process died: nothing of it runs.
              if (dead.has(call.process)) await new Promise(() => undefined);
              if (call.tool !== 'cart_view') {
                expect(running.size).toBe(0);
                running.add(call);
              }
              if (call.ends === 'never') {
                // Its process dies with it: nobody renews, and none of its calls runs any longer.
                dead.add(call.process);
                sessions.close();
                for (const other of running) if (other.process === call.process) running.delete(other);
                await new Promise(() => undefined);
              }
              await clock.passed(call.takes);
              running.delete(call);
              if (call.ends === 'with an exception') throw new Error('failed');
              return { isError: call.ends === 'with isError' };
            });
            if (call.ends !== 'never') ended.push(outcome.catch((error: unknown) => error));
          }, call.at);
        }
        await clock.advance(200_000);
        // Calls of processes that died in the middle never end.
        const assertions = await Promise.all(ended.map((end) => Promise.race([end, Promise.resolve()])));
        for (const end of assertions) if (end instanceof Error && end.name === 'AssertionError') throw end;

        const moves = records.filter(({ kind }) => kind === 'committed').sort((a, b) => a.version - b.version);
        expect(moves.map((move) => move.version)).toEqual(moves.map((_, at) => at + 1));
        for (const [at, move] of moves.entries()) {
          expect(move.state).toBe(moves[at - 1]?.nextState ?? 'empty');
          expect(move.fence).toBeGreaterThan(moves[at - 1]?.fence ?? 0);
        }
        const stored = await store.read('shared');
        expect(stored?.snapshot.state ?? 'empty').toBe(moves.at(-1)?.nextState ?? 'empty');
        // Nobody is left holding the session.
        const probe = {
          id: 'probe',
          tool: 'probe',
          initial: () => ({ state: 'empty', updatedAt: 0 }),
          leaseMs: 1,
          onlyIn: undefined,
        };
        expect((await store.reserve('shared', probe)).kind).toBe('granted');
      }),
      { numRuns: 150 },
    );
  });
});
