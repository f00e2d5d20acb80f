/** A server over stdio, for clients of both protocol eras. With an older `McpServer` or `Server`, attachGate is called the same way. */
import { StateMachineGate } from '@mcp-interlock/fsm-gate';
import { attachGate } from '@mcp-interlock/fsm-gate/mcp';
import { createGateSessions } from '@mcp-interlock/fsm-gate/sessions';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const gate = new StateMachineGate({
  id: 'checkout',
  initial: 'empty',
  states: {
    empty: { on: { ADD_ITEM: 'has_items' } },
    has_items: { on: { ADD_ITEM: 'has_items', PAY: 'paid' } },
    paid: { type: 'final' },
  },
})
  .bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM')
  .bindTool('cart_pay', 'has_items', 'PAY');

const sessions = createGateSessions({ gate });

serveStdio(({ era }) => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  const sku = z.object({ sku: z.string() });
  server.registerTool('cart_add_item', { description: 'Adds an item.', inputSchema: sku }, async ({ sku: item }) => ({
    content: [{ type: 'text', text: `added ${item}` }],
  }));
  server.registerTool('cart_pay', { description: 'Pays the cart.', inputSchema: z.object({}) }, async () => ({
    content: [{ type: 'text', text: 'paid' }],
  }));
  attachGate(server, sessions, { era });
  return server;
});
