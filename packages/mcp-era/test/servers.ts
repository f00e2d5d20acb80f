/** Real servers of both SDK generations, over HTTP and stdio, and an HTTP port at which one may follow another. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer as V1Server } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, isLegacyRequest, McpServer as V2Server } from '@modelcontextprotocol/server';
import { z } from 'zod';

export type HttpServerKind =
  | 'v1-stateful'
  | 'v1-stateless'
  | 'v1-sse' // the older HTTP+SSE transport
  | 'v2-dual' // createMcpHandler, legacy: 'stateless'
  | 'v2-modern' // createMcpHandler, legacy: 'reject'
  | 'hand-wired' // v1 sessions for legacy requests, a v2 handler for modern ones
  | 'claims-modern'; // answers server/discover as a modern server, everything else as v1-stateful

export interface SeenRequest {
  readonly http: string;
  readonly rpc: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

export interface TestServer {
  readonly url: string;
  readonly requests: SeenRequest[];
  /** How often a JSON-RPC method was called. */
  count(rpc: string): number;
  /** Restarts at the same port as another server: its sessions and connections are gone. */
  become(kind: HttpServerKind | Handler): Promise<void>;
  close(): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse, body: unknown) => void | Promise<void>;

export async function startServer(kind: HttpServerKind | Handler): Promise<TestServer> {
  const requests: SeenRequest[] = [];
  let handler = handlerOf(kind);
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const body = text ? JSON.parse(text) : undefined;
    // A connection a request: a restart then breaks none that is idle.
    response.shouldKeepAlive = false;
    requests.push({ http: request.method ?? '', rpc: body?.method, headers: request.headers });
    await handler(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    count: (rpc) => requests.filter((request) => request.rpc === rpc).length,
    become: async (next) => {
      server.closeAllConnections();
      handler = handlerOf(next);
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function handlerOf(kind: HttpServerKind | Handler): Handler {
  if (typeof kind === 'function') return kind;
  switch (kind) {
    case 'v1-stateful':
      return statefulV1();
    case 'v1-stateless':
      return async (request, response, body) => {
        const transport = new StreamableHTTPServerTransport();
        await aV1Server().connect(transport as never);
        await transport.handleRequest(request, response, body);
      };
    case 'v1-sse':
      return sseV1();
    case 'v2-dual':
      return v2Handler('stateless');
    case 'v2-modern':
      return v2Handler('reject');
    case 'hand-wired': {
      const legacy = statefulV1();
      const modern = v2Handler('reject');
      return async (request, response, body) => {
        const isLegacy = await isLegacyRequest(asWebRequest(request, body));
        return (isLegacy ? legacy : modern)(request, response, body);
      };
    }
    case 'claims-modern': {
      const legacy = statefulV1();
      const modern = v2Handler('reject');
      return (request, response, body) =>
        ((body as { method?: string } | undefined)?.method === 'server/discover' ? modern : legacy)(
          request,
          response,
          body,
        );
    }
    default:
      throw new Error(`no such server: ${kind satisfies never}`);
  }
}

function asWebRequest(request: IncomingMessage, body: unknown): Request {
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const withBody = request.method === 'POST' ? { body: JSON.stringify(body) } : {};
  return new Request(`http://127.0.0.1${request.url}`, { method: request.method ?? 'GET', headers, ...withBody });
}

function aV1Server(): V1Server {
  const server = new V1Server({ name: 'v1', version: '1.0.0' });
  server.registerTool('echo', { description: 'Says it again.', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  return server;
}

function aV2Server(): V2Server {
  const server = new V2Server({ name: 'v2', version: '2.0.0' });
  server.registerTool(
    'echo',
    { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) },
    ({ text }) => ({
      content: [{ type: 'text', text }],
    }),
  );
  return server;
}

function statefulV1(): Handler {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return async (request, response, body) => {
    const id = request.headers['mcp-session-id'];
    let transport = typeof id === 'string' ? sessions.get(id) : undefined;
    if (typeof id === 'string' && !transport) {
      const error = { jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null };
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(error));
      return;
    }
    if (!transport) {
      const fresh = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (session) => void sessions.set(session, fresh),
      });
      transport = fresh;
      await aV1Server().connect(transport as never);
    }
    await transport.handleRequest(request, response, body);
  };
}

function sseV1(): Handler {
  const sessions = new Map<string, SSEServerTransport>();
  return async (request, response, body) => {
    if (request.method === 'GET') {
      const transport = new SSEServerTransport('/messages', response);
      sessions.set(transport.sessionId, transport);
      return aV1Server().connect(transport);
    }
    const session = new URL(request.url ?? '', 'http://x').searchParams.get('sessionId');
    const transport = session ? sessions.get(session) : undefined;
    if (transport) return transport.handlePostMessage(request, response, body);
    response.writeHead(404).end();
  };
}

function v2Handler(legacy: 'stateless' | 'reject'): Handler {
  const handler = toNodeHandler(createMcpHandler(aV2Server, { legacy }));
  return (request, response, body) => handler(request as never, response, body);
}

/** Passes a POST on to another server, and its answer back. */
export async function forward(
  to: TestServer,
  request: IncomingMessage,
  response: ServerResponse,
  body: unknown,
): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) headers.delete(name);
  const answer = await fetch(to.url, { method: 'POST', headers, body: JSON.stringify(body) });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
  response.end(await answer.text());
}

/** The command line of a stdio server of either generation. */
export function stdioFixture(name: 'v1-stdio' | 'v2-stdio'): { command: string; args: string[] } {
  return { command: process.execPath, args: [fileURLToPath(new URL(`./fixtures/${name}.mjs`, import.meta.url))] };
}

/** The command line of a published server. */
export function publishedServer(name: string, ...args: string[]): { command: string; args: string[] } {
  const require = createRequire(import.meta.url);
  const path = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  const bin = Object.values(require(path).bin as Record<string, string>)[0] as string;
  return { command: process.execPath, args: [join(dirname(path), bin), ...args] };
}
