import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type IMcpProxyToolOptions, McpProxyTool } from '../../src/index.js';
import { createNodeProvider, specsOf } from '../../src/node/index.js';
import {
  approveByAsking,
  changesSomething,
  createGateway,
  createHttpHandler,
  type GatewayOptions,
  type HttpHandlerOptions,
  serveHttp,
} from '../../src/server/index.js';
import { configOf, scripted, textOf } from '../fixtures/scripted.js';

const closers: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function aGateway(
  options: Partial<GatewayOptions> & {
    proxyOptions?: IMcpProxyToolOptions;
    entries?: Record<string, Record<string, unknown>>;
  } = {},
) {
  const configs = configOf(options.entries ?? { up: scripted() });
  const provider = createNodeProvider(configs, { relay: ['elicitation/create'] });
  const proxy = new McpProxyTool(provider, specsOf(configs), options.proxyOptions);
  const gateway = createGateway({ proxy, ...options });
  closers.push(async () => {
    gateway.close();
    await proxy.closeAll();
    await provider.closeAll();
  });
  return gateway;
}

async function serve(gateway: ReturnType<typeof createGateway>, options: HttpHandlerOptions = {}): Promise<string> {
  const served = await serveHttp(gateway, options);
  closers.push(() => served.close());
  return served.url;
}

async function aHost(
  url: string,
  options: { era?: 'legacy' | 'modern'; token?: string; answer?: object; capabilities?: object } = {},
) {
  const capabilities = options.capabilities ?? { elicitation: {} };
  const client = new Client(
    { name: 'host', version: '1' },
    { capabilities, versionNegotiation: { mode: options.era === 'legacy' ? 'legacy' : 'auto' } },
  );
  const asked: string[] = [];
  if ('elicitation' in capabilities) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return (options.answer ?? { action: 'accept', content: {} }) as never;
    });
  }
  const headers = options.token === undefined ? {} : { Authorization: `Bearer ${options.token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  closers.push(() => client.close());
  const call = (args: Record<string, unknown>, name = 'mcp') => client.callTool({ name, arguments: args });
  return { client, asked, call };
}

const initialize = (headers: Record<string, string> = {}): Request =>
  new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      host: '127.0.0.1',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'h', version: '1' } },
    }),
  });

describe('the gateway over HTTP', () => {
  it('serves both eras at one address', async () => {
    const url = await serve(aGateway());
    for (const era of ['legacy', 'modern'] as const) {
      const { client, call } = await aHost(url, { era });
      expect(client.getProtocolEra()).toBe(era);
      expect((await client.listTools()).tools).toMatchObject([{ name: 'mcp' }]);
      expect(textOf(await call({ tool: 'echo', args: { message: era } }))).toBe(`Echo: ${era}`);
    }
  });

  it('refuses names other than this machine’s, whatever DNS says', async () => {
    const handler = createHttpHandler(aGateway());
    expect((await handler.fetch(initialize({ host: 'evil.example' }))).status).toBe(403);
    expect((await handler.fetch(initialize({ origin: 'https://evil.example' }))).status).toBe(403);
    expect((await handler.fetch(initialize({ origin: 'http://localhost:5173' }))).status).toBe(200);
    await handler.close();
  });

  it('with a token wants the token', async () => {
    const url = await serve(aGateway(), { token: 'let-me-in' });
    await expect(aHost(url, { token: 'guess' })).rejects.toThrow();
    await expect(aHost(url)).rejects.toThrow();
    expect(
      textOf(await (await aHost(url, { token: 'let-me-in' })).call({ tool: 'echo', args: { message: 'a' } })),
    ).toBe('Echo: a');
  });

  it('does not listen beyond this machine without a token', async () => {
    await expect(serveHttp(aGateway(), { hostname: '0.0.0.0' })).rejects.toThrow('give a token');
  });

  it('ends sessions that nobody uses, and has a bound for them', async () => {
    const timers: (() => void)[] = [];
    const handler = createHttpHandler(aGateway(), {
      maxSessions: 1,
      setTimer: (callback) => {
        timers.push(callback);
        return () => undefined;
      },
    });
    const response = await handler.fetch(initialize());
    await response.text();
    expect(handler.sessions).toBe(1);
    expect((await handler.fetch(initialize())).status).toBe(503);
    timers.at(-1)?.();
    await vi.waitFor(() => expect(handler.sessions).toBe(0), { timeout: 30_000 });
    expect((await handler.fetch(initialize())).status).toBe(200);
    await handler.close();
  });

  it('answers to an unknown session and to one of another principal alike', async () => {
    const handler = createHttpHandler(aGateway(), { token: 'secret' });
    const response = await handler.fetch(initialize({ authorization: 'Bearer secret' }));
    await response.text();
    const sessionId = response.headers.get('mcp-session-id') ?? '';
    const list = (headers: Record<string, string>): Request =>
      new Request('http://127.0.0.1/mcp', {
        method: 'POST',
        headers: {
          host: '127.0.0.1',
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }),
      });
    expect((await handler.fetch(list({ authorization: 'Bearer secret', 'mcp-session-id': sessionId }))).status).toBe(
      200,
    );
    expect((await handler.fetch(list({ authorization: 'Bearer secret', 'mcp-session-id': 'other' }))).status).toBe(404);
    expect((await handler.fetch(list({ 'mcp-session-id': sessionId }))).status).toBe(401);
    await handler.close();
  });

  it('passes nothing of the host’s own Authorization to upstreams', async () => {
    const url = await serve(aGateway(), { token: 'let-me-in' });
    const { call } = await aHost(url, { token: 'let-me-in' });
    await call({ tool: 'echo', args: { message: 'a' } });
    expect(textOf(await call({ tool: 'seen', server: 'up' }))).not.toContain('let-me-in');
    expect(textOf(await call({ tool: 'env', server: 'up' }))).not.toContain('let-me-in');
  });
});

describe('a handle of input_required', () => {
  it('that was tampered with, replayed or used for other arguments is refused alike', async () => {
    const url = await serve(aGateway());
    const { client } = await aHost(url);
    const ask = (params: object) =>
      client.request(
        {
          method: 'tools/call',
          params: { name: 'mcp', arguments: { tool: 'ask', server: 'up', args: {} }, ...params },
        },
        { allowInputRequired: true },
      );
    const first = (await ask({})) as unknown as { inputRequests: object; requestState: string };
    const inputResponses = Object.fromEntries(
      Object.keys(first.inputRequests).map((key) => [key, { action: 'accept', content: { name: 'Ada' } }]),
    );
    const refused = { code: -32602, message: expect.stringContaining('Invalid or expired requestState') };
    await expect(ask({ requestState: `${first.requestState}x`, inputResponses })).rejects.toMatchObject(refused);
    await expect(
      ask({ requestState: first.requestState, inputResponses, arguments: { tool: 'echo', server: 'up' } }),
    ).rejects.toMatchObject(refused);
    expect(textOf(await ask({ requestState: first.requestState, inputResponses }))).toContain('Ada');
    await expect(ask({ requestState: first.requestState, inputResponses })).rejects.toMatchObject(refused);
  });
});

describe('direct tools', () => {
  const directTools = ['up/echo', 'up/no-such-tool', 'dead/tool'] as const;

  it('are listed beside mcp under names that every host takes, and called the same way', async () => {
    const entries = { up: scripted(), dead: { command: 'no-such-command' } };
    const { client, call } = await aHost(await serve(aGateway({ directTools, entries })));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['mcp', 'up__echo']);
    expect(tools[1]).toMatchObject({ description: 'The tool echo', inputSchema: { type: 'object' } });
    expect(textOf(await call({ message: 'hi' }, 'up__echo'))).toBe('Echo: hi');
    await expect(call({}, 'up__secret')).rejects.toThrow('Unknown tool');
  });

  it('go past no allow-list and no approval', async () => {
    const gateway = aGateway({
      directTools: ['up/echo', 'up/seen'],
      entries: { up: scripted('good', { allowedTools: ['echo'] }) },
      proxyOptions: { approve: approveByAsking() },
    });
    const { client, call, asked } = await aHost(await serve(gateway), { answer: { action: 'decline' } });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['mcp', 'up__echo']);
    expect(textOf(await call({ message: 'hi' }, 'up__echo'))).toContain('did not approve');
    expect(asked).toHaveLength(1);
    expect(textOf(await call({}, 'up__seen'))).not.toContain('initialize');
  });

  it('tell the host when their list changed', async () => {
    const gateway = aGateway({ directTools: ['up/grown-1'] });
    const { client, call } = await aHost(await serve(gateway), { era: 'legacy' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['mcp']);
    // As hosts do: the list is read when the gateway says so, and at no other time.
    let names: string[] = [];
    client.setNotificationHandler('notifications/tools/list_changed', async () => {
      names = (await client.listTools()).tools.map(({ name }) => name);
    });
    await call({ tool: 'grow', server: 'up' });
    await vi.waitFor(() => expect(names).toEqual(['mcp', 'up__grown-1']), { timeout: 30_000 });
  });
});

describe.each(['legacy', 'modern'] as const)('approval by asking, at a %s host', (era) => {
  it('shows server, tool and arguments, and lets the call go when the person accepts', async () => {
    const gateway = aGateway({ proxyOptions: { approve: approveByAsking() } });
    const { asked, call } = await aHost(await serve(gateway), { era });
    expect(textOf(await call({ tool: 'echo', server: 'up', args: { message: 'hi\u202e' } }))).toContain('Echo: hi');
    expect(asked).toEqual([expect.stringMatching(/Allow "echo" of server "up"[\s\S]*"message": "hi"/)]);
  });

  it.each([{ action: 'decline' }, { action: 'cancel' }])('refuses on %j', async (answer) => {
    const gateway = aGateway({ proxyOptions: { approve: approveByAsking() } });
    const { call } = await aHost(await serve(gateway), { era, answer });
    expect(textOf(await call({ tool: 'echo', server: 'up', args: { message: 'hi' } }))).toContain('did not approve');
  });

  it('refuses where nobody can be asked', async () => {
    const gateway = aGateway({ proxyOptions: { approve: approveByAsking() } });
    const { call } = await aHost(await serve(gateway), { era, capabilities: {} });
    const answer = textOf(await call({ tool: 'echo', server: 'up', args: { message: 'hi' } }));
    expect(answer).toContain('cannot ask');
    expect(answer).not.toContain('Echo');
  });

  it('can leave reading tools alone', async () => {
    const gateway = aGateway({ proxyOptions: { approve: approveByAsking({ needsApproval: changesSomething }) } });
    const { asked, call } = await aHost(await serve(gateway), { era });
    await call({ tool: 'crash-once-readonly', server: 'up' });
    expect(asked).toEqual([]);
    await call({ tool: 'echo', server: 'up', args: { message: 'hi' } });
    expect(asked).toHaveLength(1);
  });
});
