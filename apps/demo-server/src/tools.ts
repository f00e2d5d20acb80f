/** The shop's tools, on one session's server. The gate is attached elsewhere; nothing here knows of states. */

import { guardTool, structured, success, toolError, toonSuccess } from '@mcp-interlock/responses';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import type { PaymentStatus } from './gate.js';
import type { PaymentOrder, Payments } from './payments.js';
import type { Cart, CartStore } from './shop/carts.js';
import { CATALOGUE, CATEGORY_NAMES, productBySku } from './shop/catalogue.js';

/** Whose call it is and what it may touch. */
export interface ToolContext {
  readonly sessionKey: string;
  readonly principal: string;
  readonly carts: CartStore;
  readonly payments: Payments;
  /** Payments above this wait for an operator, in whole euros. */
  readonly approvalLimit: number;
  /** Told when a parked payment turns out to be settled, so that the session can move on. */
  readonly onSettled: (runId: string, outcome: 'paid' | 'rejected') => Promise<void>;
  /** Gets what a handler threw, with the id that the model was given. */
  readonly onError: (correlationId: string, error: unknown) => void;
}

const sku = z.string().min(1).max(64).describe('SKU from catalogue_list, for example desk-lamp');

/** Registers every tool of the shop. */
export function registerShopTools(server: McpServer, context: ToolContext): void {
  const { sessionKey, carts, payments } = context;
  const guard = <Args extends unknown[], Result>(handler: (...args: Args) => Promise<Result>) =>
    guardTool(handler, { onError: ({ error, correlationId }) => context.onError(correlationId, error) });

  server.registerTool(
    'catalogue_list',
    {
      description: 'Lists what the shop sells, as TOON rows (the cheapest form) or as JSON.',
      inputSchema: {
        category: z.string().max(64).optional().describe(CATEGORY_NAMES.join(', ')),
        format: z.enum(['toon', 'json']).default('toon'),
      },
      annotations: { readOnlyHint: true },
    },
    guard(async ({ category, format }) => {
      const goods = category === undefined ? CATALOGUE : CATALOGUE.filter((product) => product.category === category);
      if (goods.length === 0) {
        return toolError('NOT_FOUND', {
          message: `There is no category "${category}".`,
          suggestion: `Use one of: ${CATEGORY_NAMES.join(', ')}; or leave category out.`,
        });
      }
      return format === 'toon' ? toonSuccess(goods, { delimiter: '\t' }) : success(JSON.stringify(goods));
    }),
  );

  server.registerTool(
    'cart_view',
    { description: 'Shows the cart and its total.', inputSchema: {}, annotations: { readOnlyHint: true } },
    guard(async () => structured(viewOf(await carts.read(sessionKey)))),
  );

  server.registerTool(
    'cart_add_item',
    {
      description: 'Puts pieces of a product into the cart.',
      inputSchema: { sku, quantity: z.number().int().min(1).max(99).default(1) },
    },
    guard(async ({ sku, quantity }) => {
      if (!productBySku(sku)) {
        return toolError('NOT_FOUND', {
          message: `There is no product "${sku}".`,
          suggestion: 'Call catalogue_list for the valid SKUs, then retry.',
          availableActions: ['catalogue_list'],
        });
      }
      return structured(viewOf(await carts.add(sessionKey, sku, quantity)));
    }),
  );

  server.registerTool(
    'cart_clear',
    { description: 'Empties the cart.', inputSchema: {} },
    guard(async () => {
      await carts.clear(sessionKey);
      return success('The cart is empty.');
    }),
  );

  server.registerTool(
    'cart_checkout',
    { description: 'Closes the cart and goes on to payment.', inputSchema: {} },
    guard(async () => structured(viewOf(await carts.read(sessionKey)))),
  );

  server.registerTool(
    'cart_cancel_payment',
    { description: 'Goes back from payment to the cart.', inputSchema: {} },
    guard(async () => success('Back at the cart.')),
  );

  server.registerTool(
    'cart_pay',
    {
      description: `Pays the cart. More than ${context.approvalLimit} euros wait for a person to approve.`,
      inputSchema: {},
    },
    guard(async () => {
      const cart = viewOf(await carts.read(sessionKey));
      const order: PaymentOrder = {
        sessionKey,
        principal: context.principal,
        amount: cart.total,
        items: cart.items.map((item) => `${item.quantity} × ${item.name}`),
      };
      if (order.amount <= context.approvalLimit) {
        return structured({ status: 'paid' satisfies PaymentStatus, ...payments.pay(order, crypto.randomUUID()) });
      }
      const runId = await payments.park(order);
      return structured({
        status: 'waiting_for_approval' satisfies PaymentStatus,
        runId,
        amount: order.amount,
        next: 'A person must approve this payment. Ask payment_result with this runId later; do not pay again.',
      });
    }),
  );

  server.registerTool(
    'payment_result',
    {
      description: 'Tells how a payment that waited for approval went.',
      inputSchema: { runId: z.string().min(1).max(128).describe('runId from cart_pay') },
      annotations: { readOnlyHint: true },
    },
    guard(async ({ runId }) => {
      const progress = await payments.progress(runId, context.principal);
      switch (progress.kind) {
        case 'waiting':
          return structured({ status: 'waiting_for_approval' satisfies PaymentStatus, runId });
        case 'settled':
          // The operator's process may have died between the decision and the session's move.
          if (progress.outcome.sessionKey === sessionKey) await context.onSettled(runId, progress.outcome.kind);
          return structured({ status: progress.outcome.kind, ...progress.outcome.answer });
        case 'unknown':
          return toolError('NOT_FOUND', {
            message: 'No payment waits under this runId, or it has expired.',
            suggestion: 'Use the runId exactly as cart_pay gave it; call cart_view to see where you are.',
            availableActions: ['cart_view'],
          });
        default:
          return progress satisfies never;
      }
    }),
  );

  server.registerTool(
    'order_start_over',
    { description: 'Begins a new order after a confirmed one.', inputSchema: {} },
    guard(async () => {
      await carts.clear(sessionKey);
      return success('Ready for a new order.');
    }),
  );
}

/** Names of the tools that `registerShopTools` registers, for the gate to check its bindings against. */
export const SHOP_TOOLS: readonly string[] = [
  'catalogue_list',
  'cart_view',
  'cart_add_item',
  'cart_clear',
  'cart_checkout',
  'cart_cancel_payment',
  'cart_pay',
  'payment_result',
  'order_start_over',
];

function viewOf(cart: Cart) {
  const items = Object.entries(cart).flatMap(([sku, quantity]) => {
    const product = productBySku(sku);
    return product ? [{ sku, name: product.name, quantity, price: product.price }] : [];
  });
  return { items, total: items.reduce((sum, item) => sum + item.price * item.quantity, 0) };
}
