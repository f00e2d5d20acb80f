/** One gate, many sessions: a checkout that cannot be paid before it has been checked out. */
import { refusalText, StateMachineGate } from '@mcp-interlock/fsm-gate';
import { createGateSessions } from '@mcp-interlock/fsm-gate/sessions';

const gate = new StateMachineGate({
  id: 'checkout',
  initial: 'empty',
  states: {
    empty: { on: { ADD_ITEM: 'has_items' } },
    has_items: { on: { ADD_ITEM: 'has_items', CHECKOUT: 'payment' } },
    payment: { on: { PAY: 'paid' } },
    paid: { type: 'final' },
  },
})
  .bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM')
  .bindTool('cart_checkout', 'has_items', 'CHECKOUT')
  .bindTool('cart_pay', 'payment', 'PAY');

const tools = ['cart_add_item', 'cart_checkout', 'cart_pay', 'search'];
const sessions = createGateSessions({ gate, tools });

const early = await sessions.run('session-1', 'cart_pay', {}, () => 'paid');
console.log(early.kind === 'refused' ? refusalText(early.decision) : early.result);

await sessions.run('session-1', 'cart_add_item', { sku: 'tea' }, () => 'added');
console.log(await sessions.visibleTools('session-1', tools));
