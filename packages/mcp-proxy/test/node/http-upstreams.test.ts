import { createEraResolver } from '@mcp-interlock/mcp-era';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { McpProxyTool } from '../../src/index.js';
import { createNodeProvider, type NodeProvider, type NodeProviderOptions, specsOf } from '../../src/node/index.js';
import {
  forward,
  type HttpUpstream,
  legacyHttpUpstream,
  listen,
  modernHttpUpstream,
  sseUpstream,
} from '../fixtures/http-upstreams.js';
import { configOf, textOf } from '../fixtures/scripted.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function started<T extends { close(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  closers.push(() => server.close());
  return server;
}

function providerOf(entries: Record<string, Record<string, unknown>>, options: NodeProviderOptions = {}): NodeProvider {
  const provider = createNodeProvider(configOf(entries), { resolver: createEraResolver(), ...options });
  closers.push(() => provider.closeAll());
  return provider;
}

const KINDS: [string, () => Promise<HttpUpstream>, 'legacy' | 'modern'][] = [
  ['the 1.x SDK over Streamable HTTP', legacyHttpUpstream, 'legacy'],
  ['the 2.x SDK over Streamable HTTP', modernHttpUpstream, 'modern'],
  ['the 1.x SDK over the older HTTP+SSE', sseUpstream, 'legacy'],
];

describe.each(KINDS)('a server on %s', (_name, start, era) => {
  it('is found with its url alone: listed, called, with progress', async () => {
    const upstream = await started(start());
    const connection = await providerOf({ up: { url: upstream.url } }).connect('up');
    expect(connection.era).toBe(era);
    expect((await connection.listTools()).map(({ name }) => name)).toContain('echo');
    expect(textOf(await connection.callTool('echo', { message: 'hi' }))).toBe('Echo: hi');
    const progress: unknown[] = [];
    await connection.callTool('progress', {}, undefined, { onProgress: (step) => progress.push(step) });
    expect(progress).toEqual([{ progress: 1, total: 2 }]);
  });

  it('gets the headers of its own configuration on every request, and no others', async () => {
    const upstream = await started(start());
    const other = await started(legacyHttpUpstream());
    const provider = providerOf({
      up: { url: upstream.url, headers: { Authorization: 'Bearer of-up', 'X-Team': 'blue' } },
      other: { url: other.url, headers: { Authorization: 'Bearer of-other' } },
    });
    const [connection] = await Promise.all([provider.connect('up'), provider.connect('other')]);
    await connection.callTool('echo', { message: 'hi' });
    expect(new Set(upstream.headers.map((headers) => headers.authorization))).toEqual(new Set(['Bearer of-up']));
    expect(new Set(upstream.headers.map((headers) => headers['x-team']))).toEqual(new Set(['blue']));
    expect(new Set(other.headers.map((headers) => headers.authorization))).toEqual(new Set(['Bearer of-other']));
  });
});

describe('headers of a caller', () => {
  it('travel with that call only', async () => {
    const upstream = await started(modernHttpUpstream());
    const provider = providerOf(
      { up: { url: upstream.url, headers: { 'X-Team': 'blue' } } },
      { callerHeaders: ({ context }) => (typeof context === 'string' ? { 'X-Caller': context } : {}) },
    );
    const connection = await provider.connect('up');
    upstream.headers.length = 0;
    await connection.callTool('echo', { message: 'a' }, undefined, { context: 'ada' });
    await connection.callTool('echo', { message: 'b' });
    const calls = upstream.headers.filter((headers) => headers['mcp-method'] === 'tools/call');
    expect(calls.map((headers) => headers['x-caller'])).toEqual(['ada', undefined]);
    expect(calls.map((headers) => headers['x-team'])).toEqual(['blue', 'blue']);
  });
});

describe('arguments that a tool wants in headers', () => {
  it('are there, and the result is passed on unchecked as ever', async () => {
    const upstream = await started(modernHttpUpstream());
    const connection = await providerOf({ up: { url: upstream.url } }).connect('up');
    await connection.listTools();
    expect(textOf(await connection.callTool('routed', { region: 'eu-west' }))).toBe('eu-west');
    expect(upstream.headers.at(-1)).toMatchObject({ 'mcp-param-region': 'eu-west' });
  });
});

describe('a server over HTTP', () => {
  it('that forgot the session is connected anew, and the call is made once', async () => {
    const upstream = await started(legacyHttpUpstream());
    const entries = { up: { url: upstream.url } };
    const proxy = new McpProxyTool(providerOf(entries), specsOf(configOf(entries)));
    expect(textOf(await proxy.run({ tool: 'echo', server: 'up', args: { message: 'one' } }))).toBe('Echo: one');
    upstream.forgetSessions();
    expect(textOf(await proxy.run({ tool: 'echo', server: 'up', args: { message: 'two' } }))).toBe('Echo: two');
    await proxy.closeAll();
  });

  it('that is not there is named with the reason', async () => {
    const { origin, close } = await listen(() => undefined);
    await close();
    await expect(providerOf({ up: { url: `${origin}/mcp` } }).connect('up')).rejects.toMatchObject({
      code: 'UPSTREAM_CONNECT_FAILED',
      // Once, without what the question for the era and `fetch` wrap around it.
      message: expect.stringMatching(/^(?!.*fetch failed.*fetch failed).*ECONNREFUSED/),
    });
  });

  it('that comes up later is reached at the next attempt, without a wait of ours', async () => {
    let up = false;
    const upstream = await started(modernHttpUpstream());
    const server = await started(
      listen(async (request, response) => {
        if (up) await forward(request, response, upstream.url);
        else response.writeHead(503).end();
      }),
    );
    const provider = providerOf({ up: { url: `${server.origin}/mcp` } });
    await expect(provider.connect('up')).rejects.toMatchObject({ code: 'UPSTREAM_CONNECT_FAILED' });
    up = true;
    expect((await provider.connect('up')).era).toBe('modern');
  });

  it('that wants a login says how to sign in', async () => {
    const server = await started(listen((_request, response) => void response.writeHead(401).end()));
    await expect(providerOf({ up: { url: `${server.origin}/mcp` } }).connect('up')).rejects.toMatchObject({
      code: 'UPSTREAM_LOGIN_REQUIRED',
      message: expect.stringContaining('mcp-proxy login up'),
    });
  });

  it('that is no MCP server is an error and no crash', async () => {
    const server = await started(
      listen(
        (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
      ),
    );
    await expect(providerOf({ up: { url: `${server.origin}/` } }).connect('up')).rejects.toMatchObject({
      code: 'UPSTREAM_CONNECT_FAILED',
    });
  });

  it('that says its tools changed has them read again', async () => {
    const upstream = await started(modernHttpUpstream());
    const entries = { up: { url: upstream.url } };
    const proxy = new McpProxyTool(providerOf(entries), specsOf(configOf(entries)));
    await proxy.run({ connect: 'up' });
    const changed = new Promise((resolve) => void proxy.onToolsChanged(resolve));
    // The listen stream is opened beside the connect; it is there when the upstream has seen its request.
    await vi.waitFor(
      () => expect(upstream.headers.some((headers) => headers['mcp-method'] === 'subscriptions/listen')).toBe(true),
      { timeout: 30_000 },
    );
    upstream.changeTools();
    await changed;
    await vi.waitFor(async () => expect(textOf(await proxy.run({ server: 'up' }))).toContain('grown-1'), {
      timeout: 30_000,
    });
    await proxy.closeAll();
  });

  it.each(['notifications', 'answers'] as const)('that floods the connection with %s is cut off', async (what) => {
    const upstream = await started(sseUpstream());
    const provider = providerOf({ up: { url: upstream.url } }, { flood: { burst: 50, perSecond: 1 } });
    const connection = await provider.connect('up');
    const reason = new Promise((resolve) => void connection.onClose(resolve));
    upstream.flood?.(what);
    expect(await reason).toMatchObject({ code: 'UPSTREAM_FLOOD' });
  });

  it('whose answer never ends is cut off', async () => {
    const server = await started(
      listen((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const pump = (): void => {
          if (!response.destroyed) response.write(' '.repeat(64 * 1024), pump);
        };
        pump();
      }),
    );
    await expect(providerOf({ up: { url: `${server.origin}/mcp`, protocol: 'legacy' } }).connect('up')).rejects.toThrow(
      /more than \d+ bytes/,
    );
  });
});

describe('a redirect', () => {
  it('within the origin is followed', async () => {
    const upstream = await started(modernHttpUpstream());
    const server = await started(
      listen(async (request, response) => {
        if (request.url === '/old') response.writeHead(308, { location: '/mcp' }).end();
        else await forward(request, response, upstream.url);
      }),
    );
    const connection = await providerOf({ up: { url: `${server.origin}/old` } }).connect('up');
    expect(textOf(await connection.callTool('echo', { message: 'hi' }))).toBe('Echo: hi');
  });

  it('to another origin is not followed, so that no header of the configuration goes there', async () => {
    const target = await started(legacyHttpUpstream());
    const server = await started(
      listen((_request, response) => void response.writeHead(307, { location: target.url }).end()),
    );
    const provider = providerOf({
      up: { url: `${server.origin}/mcp`, headers: { Authorization: 'Bearer secret-token' } },
    });
    await expect(provider.connect('up')).rejects.toMatchObject({ code: 'UPSTREAM_CONNECT_FAILED' });
    expect(target.headers).toEqual([]);
  });
});
