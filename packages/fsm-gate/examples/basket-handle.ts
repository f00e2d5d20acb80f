/** State across calls in the way of the 2026-07-28 protocol: a handle that the server hands out and the model passes back. */
import { StateMachineGate } from '@mcp-interlock/fsm-gate';
import { attachGate, createStateHandles, stateKeyOfArgument } from '@mcp-interlock/fsm-gate/mcp';
import { createGateSessions } from '@mcp-interlock/fsm-gate/sessions';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const gate = new StateMachineGate({
  initial: 'empty',
  states: { empty: { on: { ADD: 'full' } }, full: { on: { PAY: 'paid' } }, paid: { type: 'final' } },
})
  .bindTool('basket_add', 'empty', 'ADD')
  .bindTool('basket_pay', 'full', 'PAY');
const sessions = createGateSessions({ gate });

const baskets = createStateHandles({ key: process.env.HANDLE_KEY ?? crypto.randomUUID(), purpose: 'basket' });
const ofBasket = z.object({ basket_id: z.string().describe('What basket_create returned.') });
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

export default createMcpHandler(({ era }) => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' });
  server.registerTool(
    'basket_create',
    { description: 'Begins a basket.', inputSchema: z.object({}) },
    async (_args, ctx) => text(await baskets.mint({ principal: ctx.http?.authInfo?.extra?.sub as string | undefined })),
  );
  server.registerTool('basket_add', { description: 'Fills it.', inputSchema: ofBasket }, async () => text('added'));
  server.registerTool('basket_pay', { description: 'Pays it.', inputSchema: ofBasket }, async () => text('paid'));
  attachGate(server, sessions, { era, stateKey: stateKeyOfArgument('basket_id', baskets) });
  return server;
});
