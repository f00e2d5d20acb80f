/** A machine made with `setup()` makes state paths, tags and events part of the gate's type. */
import { describe, expectTypeOf, it } from 'vitest';
import { createMachine, setup } from 'xstate';
import { createGateSessions } from '../src/sessions/index.js';
import { verifyGate } from '../src/verify/index.js';
import { machineGate } from '../src/xstate.js';

const machine = setup({
  types: { events: {} as { type: 'GO' } | { type: 'BACK' }, tags: {} as 'slow' | 'fast' },
}).createMachine({
  initial: 'idle',
  states: { idle: {}, work: { initial: 'first', states: { first: {}, second: {} } } },
});

describe('a gate of a typed machine', () => {
  const gate = machineGate(machine);

  it('takes its paths, tags and events', () => {
    gate.bindTool('a', 'work.first', 'GO').bindTool('b', ['idle', { tag: 'slow' }, { can: 'BACK' }], { event: 'BACK' });
    expectTypeOf(gate.getTransitionEvent('a')).toEqualTypeOf<'GO' | 'BACK' | undefined>();
    expectTypeOf(gate.transition).parameter(0).toEqualTypeOf<'GO' | 'BACK'>();
  });

  it('refuses others', () => {
    // @ts-expect-error no such path
    gate.bindTool('x', 'work.third');
    // @ts-expect-error no such tag
    gate.bindTool('x', { tag: 'slw' });
    // @ts-expect-error no such event
    gate.bindTool('x', { can: 'STOP' });
    // @ts-expect-error no such event
    gate.bindTool('x', 'idle', 'STOP');
  });

  it('is a gate for sessions and verification', () => {
    createGateSessions({ gate });
    verifyGate(gate);
    createGateSessions({ gate: machineGate(createMachine({ initial: 'a', states: { a: {} } })) });
  });
});
