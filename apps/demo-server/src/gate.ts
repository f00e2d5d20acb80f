/** The checkout as a machine: which tools exist in which state, and what a success does to the state. */
import { machineGate } from '@mcp-interlock/fsm-gate/xstate';
import { assign, setup } from 'xstate';

/** What `cart_pay` answers as `structuredContent.status`; a payment over the limit waits for an operator. */
export type PaymentStatus = 'paid' | 'waiting_for_approval';

/** What `cart_pay` answers, as far as the machine cares. */
interface PaymentAnswer {
  readonly structuredContent?: { readonly status?: PaymentStatus; readonly runId?: string };
}

type CheckoutEvent =
  | { readonly type: 'ADD_ITEM' | 'CLEAR' | 'CHECKOUT' | 'PAY' | 'CANCEL' | 'START_OVER' }
  | { readonly type: 'PARK'; readonly result?: PaymentAnswer }
  | { readonly type: 'APPROVED' | 'REJECTED'; readonly args?: { readonly runId: string } };

const checkout = setup({
  types: { context: {} as { readonly awaitedRunId: string | null }, events: {} as CheckoutEvent },
  actions: {
    awaitRun: assign({
      awaitedRunId: ({ event }) => (event.type === 'PARK' ? (event.result?.structuredContent?.runId ?? null) : null),
    }),
    awaitNothing: assign({ awaitedRunId: null }),
  },
  guards: {
    // A decision on an earlier payment of the session is told again by `payment_result`; it must not settle this one.
    isAwaited: ({ context, event }) => 'args' in event && event.args?.runId === context.awaitedRunId,
  },
}).createMachine({
  id: 'checkout',
  initial: 'empty',
  context: { awaitedRunId: null },
  states: {
    empty: { on: { ADD_ITEM: 'has_items' } },
    has_items: { on: { ADD_ITEM: 'has_items', CLEAR: 'empty', CHECKOUT: 'payment' } },
    payment: {
      on: {
        PAY: 'confirmed',
        PARK: { target: 'awaiting_approval', actions: 'awaitRun' },
        CANCEL: 'has_items',
      },
    },
    // Left by an operator's decision on the very payment that is waited for, not by a tool.
    awaiting_approval: {
      exit: 'awaitNothing',
      on: {
        APPROVED: { target: 'confirmed', guard: 'isAwaited' },
        REJECTED: { target: 'payment', guard: 'isAwaited' },
      },
    },
    confirmed: { on: { START_OVER: 'empty' } },
  },
});

/** Tools that are not bound here (`catalogue_list`, `cart_view`, `payment_result`, `mcp`) are open in every state. */
export function checkoutGate() {
  return machineGate(checkout)
    .bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM')
    .bindTool('cart_clear', ['has_items'], 'CLEAR')
    .bindTool('cart_checkout', ['has_items'], 'CHECKOUT')
    .bindTool('cart_pay', ['payment'], { event: ['PAY', 'PARK'], eventFor: paymentEvent })
    .bindTool('cart_cancel_payment', ['payment'], 'CANCEL')
    .bindTool('order_start_over', ['confirmed'], 'START_OVER');
}

function paymentEvent(result: unknown): 'PAY' | 'PARK' {
  // Only cart_pay is bound with this chooser, and it answers so.
  const { structuredContent } = result as PaymentAnswer;
  return structuredContent?.status === 'waiting_for_approval' ? 'PARK' : 'PAY';
}
