import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import { createRunStore, memoryRunBackend, type RunStore } from '@mcp-interlock/run-store';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Quote, transferServer } from '../../examples/mcp-request-state.js';

let url: URL;
let http: Server;
let sent: string[];
let now: number;
let quotes: RunStore<Quote>;
const clients: Client[] = [];

beforeEach(async () => {
  sent = [];
  now = 1_700_000_000_000;
  quotes = createRunStore<Quote>({ backend: memoryRunBackend({ now: () => now }), ttlSeconds: 600 });
  const handler = createMcpHandler(
    () =>
      transferServer({
        quotes,
        quotePrice: (amountCents) => amountCents / 100,
        async transfer(to, amountCents, priceCents) {
          sent.push(`${to} ${amountCents} for ${priceCents}`);
          return 'sent';
        },
      }),
    { legacy: 'reject' },
  );
  http = await new Promise<Server>((resolve) => {
    const server = serve(
      { fetch: (request) => handler.fetch(request, { authInfo: callerOf(request) }), port: 0, hostname: '127.0.0.1' },
      () =>
        // Plain HTTP was asked for, so it is node:http's server.
        resolve(server as Server),
    );
  });
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  url = new URL(`http://127.0.0.1:${address.port}/mcp`);
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});

const transfer = { to: 'bob', amountCents: 5_000 };

describe('a multi-round-trip call whose state stays on the server', () => {
  test('is confirmed by the official client and carried out at the quoted price', async () => {
    const client = await aClient('ann', true);
    const result = await client.callTool({ name: 'transfer', arguments: transfer });
    expect(result.content).toEqual([{ type: 'text', text: 'sent' }]);
    expect(sent).toEqual(['bob 5000 for 50']);
  });

  test('is not carried out when the caller declines', async () => {
    const client = await aClient('ann', false);
    await client.callTool({ name: 'transfer', arguments: transfer });
    expect(sent).toEqual([]);
  });

  test('gives the client a handle that says nothing', async () => {
    const { requestState } = await firstRound('ann');
    expect(requestState).toMatch(/^[\w-]{22,}$/);
    expect(atob(requestState.replaceAll('-', ''))).not.toContain('50');
  });

  test('is good once: a replay of the confirmed round is refused', async () => {
    const { requestState } = await firstRound('ann');
    expect(await secondRound('ann', requestState)).toMatchObject({ result: { content: [{ text: 'sent' }] } });
    expect(await secondRound('ann', requestState)).toMatchObject({ error: { code: -32602 } });
    expect(sent).toHaveLength(1);
  });

  test('is good once, also when both replays come at the same time', async () => {
    const { requestState } = await firstRound('ann');
    const answers = await Promise.all([1, 2, 3].map(() => secondRound('ann', requestState)));
    expect(answers.filter((answer) => isRefusal(answer))).toHaveLength(2);
    expect(sent).toHaveLength(1);
  });

  test('is refused to another principal, for other arguments, when made up or expired, alike', async () => {
    const { requestState } = await firstRound('ann');
    const refusals = [
      await secondRound('eve', requestState),
      await secondRound('ann', requestState, { ...transfer, amountCents: 9_999_999 }),
      await secondRound('ann', requestState, { ...transfer, to: 'eve' }),
      // Another last digit, whichever it was.
      await secondRound('ann', requestState.slice(0, -1) + (requestState.endsWith('0') ? '1' : '0')),
      await secondRound('ann', '../../etc'),
    ];
    for (const refusal of refusals) expect(refusal).toSatisfy(isRefusal);
    // None of them burnt it.
    expect(await secondRound('ann', requestState)).toMatchObject({ result: { content: [{ text: 'sent' }] } });

    const late = await firstRound('ann');
    now += 600_001;
    expect(await secondRound('ann', late.requestState)).toMatchObject({ error: { code: -32602 } });
    expect(sent).toHaveLength(1);
  });
});

/** An error of the protocol, or of the tool where it shows only there; in the same words. */
function isRefusal(answer: Record<string, unknown>): boolean {
  const text = JSON.stringify(answer);
  return (
    text.includes('Invalid or expired requestState') && (text.includes('-32602') || text.includes('"isError":true'))
  );
}

/** The bearer token stands for what an authorization server would have said. */
function callerOf(request: Request) {
  const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
  return { token, clientId: token, scopes: [] };
}

async function aClient(principal: string, confirm: boolean): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  client.setRequestHandler('elicitation/create', async () =>
    confirm ? { action: 'accept', content: { confirm } } : { action: 'decline' },
  );
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${principal}` } } }),
  );
  clients.push(client);
  return client;
}

async function firstRound(principal: string): Promise<{ requestState: string }> {
  const answer = await call(principal, { name: 'transfer', arguments: transfer });
  expect(answer).toMatchObject({ result: { resultType: 'input_required' } });
  // Checked by the line above to be an input-required result.
  return (answer as { result: { requestState: string } }).result;
}

function secondRound(principal: string, requestState: string, args: Record<string, unknown> = transfer) {
  const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } };
  return call(principal, { name: 'transfer', arguments: args, inputResponses, requestState });
}

/** The bare protocol, for what a client of the SDK would not send. */
async function call(principal: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${principal}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'transfer',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } }),
  });
  return Object(await response.json());
}
