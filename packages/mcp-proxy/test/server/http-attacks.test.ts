import { connect } from 'node:net';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { McpProxyTool } from '../../src/index.js';
import { createNodeProvider, specsOf } from '../../src/node/index.js';
import {
  createGateway,
  createHttpHandler,
  type Gateway,
  type HttpHandlerOptions,
  serveHttp,
} from '../../src/server/index.js';
import { configOf, scripted } from '../fixtures/scripted.js';

const closers: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function aGateway(): Gateway {
  const configs = configOf({ up: scripted() });
  const provider = createNodeProvider(configs, { relay: ['elicitation/create'] });
  const proxy = new McpProxyTool(provider, specsOf(configs));
  const gateway = createGateway({ proxy });
  closers.push(async () => {
    gateway.close();
    await proxy.closeAll();
    await provider.closeAll();
  });
  return gateway;
}

const META = 'io.modelcontextprotocol';
const bodies = {
  legacy: {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'h', version: '1' } },
  },
  modern: {
    method: 'tools/list',
    params: { _meta: { [`${META}/protocolVersion`]: '2026-07-28', [`${META}/clientCapabilities`]: {} } },
  },
};
const headersOf = (era: 'legacy' | 'modern'): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  ...(era === 'modern' && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }),
});

/** The status of a request as it is written on the wire: no library corrects its headers. */
async function statusOf(url: string, head: string, body: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
}

describe.each(['legacy', 'modern'] as const)('a page that had its name resolved to this machine, %s era', (era) => {
  async function askAs(lines: readonly string[], options: HttpHandlerOptions = {}, version = '1.1'): Promise<number> {
    const { url, close } = await serveHttp(aGateway(), options);
    closers.push(close);
    const { port } = new URL(url);
    const headers = Object.entries(headersOf(era)).map(([name, value]) => `${name}: ${value}`);
    const head = [`POST /mcp HTTP/${version}`, ...lines.map((line) => line.replace('PORT', port)), ...headers];
    return statusOf(url, head.join('\r\n'), JSON.stringify({ jsonrpc: '2.0', id: 1, ...bodies[era] }));
  }

  it.each([
    ['Host: 127.0.0.1:PORT'],
    ['Host: 127.0.0.1'],
    ['Host: localhost:PORT'],
    ['Host: LocalHost:1'],
    ['Host: [::1]:PORT'],
    ['Host: [0:0:0:0:0:0:0:1]'],
    ['Host: localhost', 'Origin: http://LOCALHOST:5173'],
    ['Host: localhost', 'X-Forwarded-Host: evil.example', 'Forwarded: host=evil.example'],
  ])('is not this: %j', async (...lines) => {
    expect(await askAs(lines)).toBe(200);
  });

  it.each([
    ['Host: evil.example'],
    ['Host: evil.example:PORT', 'X-Forwarded-Host: localhost', 'Forwarded: host=localhost'],
    ['Host: localhost.'],
    ['Host: localhost.evil.example'],
    ['Host: evil.example#localhost'],
    ['Host: localhost@evil.example'],
    ['Host: evil.example/localhost'],
    ['Host: 0.0.0.0:PORT'],
    ['Host: 127.0.0.2'],
    ['Host: [::ffff:127.0.0.1]'],
    ['Host: '],
    ['Host: localhost', 'Origin: null'],
    ['Host: localhost', 'Origin: https://evil.example'],
    ['Host: localhost', 'Origin: http://localhost.evil.example'],
    ['Host: localhost', 'Origin: http://localhost@evil.example'],
    ['Host: localhost', 'Origin: file://'],
    ['Host: localhost', 'Origin: chrome-extension://abcdef'],
  ])('is refused: %j', async (...lines) => {
    expect(await askAs(lines)).toBe(403);
  });

  it('is refused when it says no host at all', async () => {
    expect(await askAs(['X-No: host'])).toBe(400);
    expect(await askAs(['X-No: host'], {}, '1.0')).toBe(403);
  });

  it('is refused with a token, too', async () => {
    const token = 'let-me-in';
    expect(await askAs(['Host: evil.example', `Authorization: Bearer ${token}`], { token })).toBe(403);
    expect(await askAs(['Host: localhost', `Authorization: Bearer ${token}`], { token })).toBe(200);
  });

  it.each(['proxy.example:8080', 'https://proxy.example', '*', '[::1]:80', ''])(
    'is told when an allowed name could match nothing: "%s"',
    async (name) => {
      const gateway = createGateway({
        proxy: new McpProxyTool({ connect: () => Promise.reject(new Error('unused')) }, []),
      });
      await expect(serveHttp(gateway, { allowedHostnames: [name] })).rejects.toThrow(`"${name}" is no host name`);
      gateway.close();
    },
  );

  it('is told from the names that the operator allows, however those are written', async () => {
    const options = { allowedHostnames: ['Proxy.Example'] };
    expect(await askAs(['Host: proxy.example:443', 'Origin: https://PROXY.example'], options)).toBe(200);
    expect(await askAs(['Host: localhost'], options)).toBe(403);
  });
});

describe('a session over HTTP', () => {
  const requestOf = (method: string, headers: Record<string, string>, message?: object): Request =>
    new Request('http://localhost/mcp', {
      method,
      headers: { host: 'localhost', ...headersOf('legacy'), ...headers },
      ...(message && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) }),
    });

  it('is nobody’s without the token, whoever knows its id: not to use, not to listen to, not to end', async () => {
    const handler = createHttpHandler(aGateway(), { token: 'let-me-in' });
    closers.push(() => handler.close());
    const authorization = 'Bearer let-me-in';
    const started = await handler.fetch(requestOf('POST', { authorization }, bodies.legacy));
    await started.text();
    const own = { 'mcp-session-id': started.headers.get('mcp-session-id') ?? '' };
    const list = { method: 'tools/list' };
    for (const foreign of [{}, { authorization: 'Bearer guess' }]) {
      for (const [method, message] of [['POST', list], ['GET'], ['DELETE']] as const) {
        expect((await handler.fetch(requestOf(method, { ...own, ...foreign }, message))).status).toBe(401);
      }
    }
    expect(handler.sessions).toBe(1);
    const answer = await handler.fetch(requestOf('POST', { ...own, authorization }, list));
    expect(await answer.text()).toContain('"mcp"');
    expect((await handler.fetch(requestOf('DELETE', { ...own, authorization }))).status).toBe(200);
    expect(handler.sessions).toBe(0);
  });

  it('is not started anew by somebody else, and guessing an id starts none', async () => {
    const handler = createHttpHandler(aGateway());
    closers.push(() => handler.close());
    const started = await handler.fetch(requestOf('POST', {}, bodies.legacy));
    await started.text();
    const own = { 'mcp-session-id': started.headers.get('mcp-session-id') ?? '' };
    expect((await handler.fetch(requestOf('POST', own, bodies.legacy))).status).toBe(400);
    for (const guess of ['', 'x', '__proto__', 'constructor', `${own['mcp-session-id']}0`]) {
      expect((await handler.fetch(requestOf('POST', { 'mcp-session-id': guess }, bodies.legacy))).status).toBe(404);
      expect((await handler.fetch(requestOf('DELETE', { 'mcp-session-id': guess }))).status).toBe(404);
    }
    expect(handler.sessions).toBe(1);
  });

  it('has no meaning for a modern request, which is served as the one that it is', async () => {
    const handler = createHttpHandler(aGateway());
    closers.push(() => handler.close());
    const started = await handler.fetch(requestOf('POST', {}, bodies.legacy));
    await started.text();
    const headers = { ...headersOf('modern'), 'mcp-session-id': started.headers.get('mcp-session-id') ?? '' };
    const answer = await handler.fetch(requestOf('POST', headers, bodies.modern));
    expect([answer.status, answer.headers.get('mcp-session-id')]).toEqual([200, null]);
  });
});

describe('a handle of input_required, where a program tells its users apart', () => {
  it('is refused to another user, and is not used up by the attempt', async () => {
    const gateway = aGateway();
    const handler = createMcpHandler((context) => gateway.createServer(context), { legacy: 'reject' });
    closers.push(() => handler.close());
    const callAs = async (user: string, more: object = {}): Promise<string> => {
      const name = 'mcp';
      const _meta = { ...bodies.modern.params._meta, [`${META}/clientCapabilities`]: { elicitation: { form: {} } } };
      const params = { name, arguments: { tool: 'ask', server: 'up', args: {} }, _meta, ...more };
      const response = await handler.fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: { ...headersOf('modern'), 'mcp-method': 'tools/call', 'mcp-name': name },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        }),
        { authInfo: { token: `of-${user}`, clientId: user, scopes: [] } },
      );
      return response.text();
    };
    const asked = await callAs('ada');
    const requestState = /"requestState":"([^"]+)"/.exec(asked)?.[1];
    const key = /"(input\d+)"/.exec(asked)?.[1] ?? '';
    expect(requestState).toMatch(/^[\w-]{40,}$/);
    const answers = { requestState, inputResponses: { [key]: { action: 'accept', content: { name: 'Eve' } } } };
    expect(await callAs('eve', answers)).toContain('Invalid or expired requestState');
    expect(gateway.pendingCalls).toBe(1);
    expect(await callAs('ada', answers)).toContain('Eve');
    expect(await callAs('ada', answers)).toContain('Invalid or expired requestState');
  });
});
