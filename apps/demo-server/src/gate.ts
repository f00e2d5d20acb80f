/** The checkout as a machine: which tools exist in which state, and what a success does to the state. */
import { StateMachineGate } from '@mcp-interlock/fsm-gate';

/** What `cart_pay` answers as `structuredContent.status`; a payment over the limit waits for an operator. */
export type PaymentStatus = 'paid' | 'waiting_for_approval';

/** Tools that are not bound here (`catalogue_list`, `cart_view`, `payment_result`, `mcp`) are open in every state. */
export function checkoutGate() {
  return new StateMachineGate({
    id: 'checkout',
    initial: 'empty',
    states: {
      empty: { on: { ADD_ITEM: 'has_items' } },
      has_items: { on: { ADD_ITEM: 'has_items', CLEAR: 'empty', CHECKOUT: 'payment' } },
      payment: { on: { PAY: 'confirmed', PARK: 'awaiting_approval', CANCEL: 'has_items' } },
      // Left by an operator's decision, not by a tool.
      awaiting_approval: { on: { APPROVED: 'confirmed', REJECTED: 'payment' } },
      confirmed: { on: { START_OVER: 'empty' } },
    },
  })
    .bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM')
    .bindTool('cart_clear', ['has_items'], 'CLEAR')
    .bindTool('cart_checkout', ['has_items'], 'CHECKOUT')
    .bindTool('cart_pay', ['payment'], { event: ['PAY', 'PARK'], eventFor: paymentEvent })
    .bindTool('cart_cancel_payment', ['payment'], 'CANCEL')
    .bindTool('order_start_over', ['confirmed'], 'START_OVER');
}

function paymentEvent(result: unknown): 'PAY' | 'PARK' {
  const { structuredContent } = result as { structuredContent?: { status?: PaymentStatus } };
  return structuredContent?.status === 'waiting_for_approval' ? 'PARK' : 'PAY';
}
