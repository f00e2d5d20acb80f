import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, createRequestStateCodec, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { attachGate } from '../../src/mcp.js';
import { type Answer, type Call, type Running, text } from './harness.js';
import { openShop } from './shop.js';
import { V1_KINDS } from './v1.js';
import { V2_KINDS } from './v2.js';

const REQUESTS = inputRequired({
  inputRequests: {
    approve: inputRequired.elicit({
      message: 'Add it?',
      requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
    }),
  },
}) as unknown as Answer;

let running: Running | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

/** Asks first, answers when it is called again with the client's input. */
function asksFirst({ context }: Call): Answer {
  const request = context.mcpReq as { inputResponses?: Record<string, unknown> };
  return request.inputResponses === undefined ? REQUESTS : text('added');
}

describe.each(V2_KINDS.filter(({ era }) => era === 'modern'))('a question in between, $name', (kind) => {
  test('frees the session, and the retry reserves it again', async () => {
    const shop = openShop();
    running = await kind.start(shop.spec());
    const client = await running.connect();
    shop.on('cart_add_item', asksFirst);
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false, text: 'added' });
    expect(shop.decisions.map(({ kind: what }) => what)).toEqual(['reserved', 'rolled_back', 'reserved', 'committed']);
    expect(shop.decisions[1]).toMatchObject({ reason: 'input_required' });
    expect(shop.moves()).toEqual(['empty → has_items']);
  });
});

describe.each(V2_KINDS.filter(({ era, stateOf }) => era === 'legacy' && stateOf === 'connection'))(
  'a question in between, $name',
  (kind) => {
    test('is asked inside the call, which keeps the session all the while', async () => {
      const shop = openShop();
      running = await kind.start(shop.spec());
      const client = await running.connect();
      shop.on('cart_add_item', asksFirst);
      expect(await client.call('cart_add_item')).toMatchObject({ isError: false, text: 'added' });
      expect(shop.decisions.map(({ kind: what }) => what)).toEqual(['reserved', 'committed']);
    });
  },
);

test('a signed request state is verified once a round, not twice', async () => {
  const shop = openShop();
  const codec = createRequestStateCodec({ key: new Uint8Array(32).fill(7), ttlSeconds: 60 });
  let verified = 0;
  const handler = createMcpHandler(({ era }) => {
    const server = new McpServer(
      { name: 'shop', version: '1.0.0' },
      {
        requestState: {
          verify: (state, ctx) => {
            verified += 1;
            return codec.verify(state, ctx);
          },
        },
      },
    );
    for (const name of ['cart_add_item', 'cart_checkout', 'cart_pay', 'cart_reset']) {
      server.registerTool(name, { description: name, inputSchema: z.looseObject({}) }, async (_args, ctx) => {
        if (ctx.mcpReq.requestState() !== undefined) return { content: [{ type: 'text', text: 'added' }] };
        return inputRequired({ ...(REQUESTS as object), requestState: await codec.mint({ step: 1 }, ctx) });
      });
    }
    attachGate(server, shop.sessions, { era, principal: () => 'ada' });
    return server;
  });
  const client = new Client(
    { name: 'host', version: '1.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { ok: true } }));
  const authInfo = { token: 't', clientId: 'host', scopes: [] };
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://shop.test/mcp'), {
      fetch: (url, init) => handler.fetch(new Request(url, init), { authInfo }),
    }),
  );
  expect(await client.callTool({ name: 'cart_add_item' })).toMatchObject({ content: [{ text: 'added' }] });
  expect(verified).toBe(1);
  expect(shop.moves()).toEqual(['empty → has_items']);
  await client.close();
});

describe.each(V1_KINDS)('a question in between, $name', (kind) => {
  test('is asked inside the call, which keeps the session all the while', async () => {
    const shop = openShop();
    running = await kind.start(shop.spec());
    const client = await running.connect();
    shop.on('cart_add_item', async ({ context }) => {
      const ask = context.sendRequest as (request: unknown, schema: unknown) => Promise<{ action: string }>;
      const requestedSchema = { type: 'object', properties: {} };
      const params = { mode: 'form', message: 'Add it?', requestedSchema };
      const { action } = await ask({ method: 'elicitation/create', params }, z.looseObject({ action: z.string() }));
      return text(action);
    });
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false, text: 'accept' });
    expect(shop.decisions.map(({ kind: what }) => what)).toEqual(['reserved', 'committed']);
  });
});
