/** A whole XState machine as a gate: guards look at the context and at the arguments of a call. */
import { createGateSessions } from '@mcp-interlock/fsm-gate/sessions';
import { machineGate } from '@mcp-interlock/fsm-gate/xstate';
import { assign, setup } from 'xstate';

const machine = setup({
  types: {
    context: {} as { total: number },
    events: {} as { type: 'ADD'; args: { price: number } } | { type: 'PAY'; args: { amount: number } },
  },
  guards: {
    enough: ({ context, event }) => event.type === 'PAY' && event.args.amount >= context.total,
  },
}).createMachine({
  id: 'shop',
  context: { total: 0 },
  initial: 'shopping',
  states: {
    shopping: {
      on: {
        ADD: { actions: assign({ total: ({ context, event }) => context.total + event.args.price }) },
        PAY: { target: 'paid', guard: 'enough' },
      },
    },
    paid: { type: 'final' },
  },
});

const gate = machineGate(machine).bindTool('add', 'shopping', 'ADD').bindTool('pay', { can: 'PAY' }, 'PAY');
const sessions = createGateSessions({ gate });

await sessions.run('session-1', 'add', { price: 12 }, () => 'added');
const short = await sessions.run('session-1', 'pay', { amount: 10 }, () => 'paid');
console.log(short.kind);
const paid = await sessions.run('session-1', 'pay', { amount: 12 }, () => 'paid');
console.log(paid.kind, (await sessions.inspect('session-1')).state);
