/** A flat transition against XState's actor. */
import { compare } from '@mcp-interlock/test-kit/bench';
import { createActor, createMachine, transition } from 'xstate';
import { StateMachineGate } from '../src/index.js';

const STATES = {
  empty: { on: { ADD: 'full' } },
  full: { on: { CHECKOUT: 'payment', CLEAR: 'empty' } },
  payment: { on: { CANCEL: 'full' } },
} as const;
const EVENTS = ['ADD', 'CHECKOUT', 'CANCEL', 'CLEAR'] as const;
const OPERATIONS = 4_000;

export async function benchTransitions(): Promise<void> {
  const machine = createMachine({ initial: 'empty', states: STATES });
  const actor = createActor(machine).start();
  const gate = new StateMachineGate({ initial: 'empty', states: STATES });
  const awaited = new StateMachineGate({ initial: 'empty', states: STATES });
  let pure = actor.getSnapshot();
  await compare({
    title: 'a transition of a flat machine',
    baseline: 'xstate actor.send',
    operations: OPERATIONS,
    cases: {
      'xstate actor.send': () => {
        for (let at = 0; at < OPERATIONS; at += 1) actor.send({ type: EVENTS[at % 4]! });
      },
      'xstate pure transition': () => {
        for (let at = 0; at < OPERATIONS; at += 1) [pure] = transition(machine, pure, { type: EVENTS[at % 4]! });
      },
      'gate.transitionNow': () => {
        for (let at = 0; at < OPERATIONS; at += 1) gate.transitionNow(EVENTS[at % 4]!);
      },
      'await gate.transition': async () => {
        for (let at = 0; at < OPERATIONS; at += 1) await awaited.transition(EVENTS[at % 4]!);
      },
    },
    targets: { 'gate.transitionNow': { kind: 'speed', min: 20 }, 'await gate.transition': { kind: 'speed', min: 20 } },
  });
  actor.stop();
}
