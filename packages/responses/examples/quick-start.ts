import { compact, fit, guardTool, paginate, ToolFailure } from '@mcp-interlock/responses';

const orders = Array.from({ length: 500 }, (_, index) => ({
  id: index + 1,
  customer: `customer-${index % 40}`,
  total: ((index * 37) % 900) / 10,
  paid: index % 3 > 0,
}));

// Whatever it throws becomes an error that the model can act on; the log gets the rest, under the same id.
export const listOrders = guardTool(
  async ({ customer, cursor }: { customer?: string; cursor?: string }) => {
    const found = orders.filter((order) => customer === undefined || order.customer === customer);
    if (found.length === 0) {
      throw new ToolFailure('NOT_FOUND', {
        message: `There are no orders of "${customer}".`,
        suggestion: 'List all orders to see which customers there are.',
      });
    }
    const page = paginate(found, { cursor, pageSize: 200, scope: customer ?? '' });
    // The cheapest notation that loses nothing, no longer than the host lets through, with the way to the rest.
    return fit(compact(page.items), { maxTokens: 500, page });
  },
  { tool: 'list_orders', onError: ({ error, correlationId }) => console.error(correlationId, error) },
);

for (const answer of [await listOrders({}), await listOrders({ customer: 'nobody' })]) {
  for (const block of answer.content) console.log(block.type === 'text' ? block.text : block.type);
}
