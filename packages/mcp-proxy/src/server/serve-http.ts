/** The gateway over Streamable HTTP: one endpoint, sessions for hosts of the older era, none for those of the newer. */
import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { realTimer, type SetTimer } from '../node/timers.js';
import type { Gateway } from './gateway.js';
import { admit, checkHostnames, type HttpSecurityOptions, isPlainHost } from './http-security.js';

export interface HttpHandlerOptions extends HttpSecurityOptions {
  /** Sessions of hosts that went away without a word end after this, in milliseconds. Default 30 minutes. */
  readonly sessionIdleMs?: number;
  /** Sessions at once. Default 256. */
  readonly maxSessions?: number;
  readonly onError?: (error: unknown) => void;
  readonly setTimer?: SetTimer;
}

export interface GatewayHttpHandler {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly sessions: number;
  close(): Promise<void>;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** Whose session it is; another principal gets the same answer as for one that does not exist. */
  readonly principal: string;
  cancelIdle: () => void;
  open: number;
}

const DEFAULT_SESSION_IDLE_MS = 30 * 60_000;
const DEFAULT_MAX_SESSIONS = 256;

/**
 * A web-standard handler. Put it behind any HTTP server, or use `serveHttp`.
 *
 * @throws {TypeError} when `allowedHostnames` holds what is no host name.
 */
export function createHttpHandler(gateway: Gateway, options: HttpHandlerOptions = {}): GatewayHttpHandler {
  checkHostnames(options.allowedHostnames);
  const sessions = new Map<string, Session>();
  const setTimer = options.setTimer ?? realTimer;
  const modern = createMcpHandler((context) => gateway.createServer(context), {
    legacy: 'reject',
    onerror: (error) => options.onError?.(error),
  });
  const stopListening = gateway.onToolsChanged(() => {
    modern.notify.toolsChanged();
    for (const { server } of sessions.values()) server.sendToolListChanged().catch((error) => options.onError?.(error));
  });

  const end = async (sessionId: string): Promise<void> => {
    const session = sessions.get(sessionId);
    if (!session) return;
    sessions.delete(sessionId);
    session.cancelIdle();
    await session.server.close().catch((error) => options.onError?.(error));
  };

  const used = async (sessionId: string, session: Session, work: () => Promise<Response>): Promise<Response> => {
    session.cancelIdle();
    session.open += 1;
    const rest = (): void => {
      session.open -= 1;
      if (session.open > 0 || !sessions.has(sessionId)) return;
      session.cancelIdle = setTimer(() => void end(sessionId), options.sessionIdleMs ?? DEFAULT_SESSION_IDLE_MS);
    };
    try {
      return whenDone(await work(), rest);
    } catch (error) {
      rest();
      throw error;
    }
  };

  const startSession = async (request: Request, authInfo: AuthInfo | undefined): Promise<Response> => {
    if (sessions.size >= (options.maxSessions ?? DEFAULT_MAX_SESSIONS)) return plain(503, 'Too many sessions');
    const server = gateway.createServer({ era: 'legacy', ...(authInfo && { authInfo }) });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (sessionId) => {
        sessions.set(sessionId, {
          transport,
          server,
          principal: principalOf(authInfo),
          cancelIdle: () => undefined,
          open: 0,
        });
      },
      onsessionclosed: (sessionId) => end(sessionId),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request, authInfo && { authInfo });
    const { sessionId } = transport;
    const session = sessionId === undefined ? undefined : sessions.get(sessionId);
    // No session came of it: a request that was no `initialize`.
    if (!session || sessionId === undefined) {
      await server.close();
      return response;
    }
    return used(sessionId, session, async () => response);
  };

  const serveLegacy = async (request: Request, authInfo: AuthInfo | undefined): Promise<Response> => {
    const sessionId = request.headers.get('mcp-session-id');
    if (sessionId === null) {
      return request.method === 'POST' ? startSession(request, authInfo) : plain(405, 'Method not allowed: no session');
    }
    const session = sessions.get(sessionId);
    if (!session || session.principal !== principalOf(authInfo)) return plain(404, 'Session not found');
    return used(sessionId, session, () => session.transport.handleRequest(request, authInfo && { authInfo }));
  };

  return {
    async fetch(request) {
      const admission = admit(request, options);
      if (admission.kind === 'refused') return admission.response;
      const { authInfo } = admission;
      if (await isLegacyRequest(request)) return serveLegacy(request, authInfo);
      return modern.fetch(request, authInfo && { authInfo });
    },
    get sessions() {
      return sessions.size;
    },
    async close() {
      stopListening();
      await Promise.all([...sessions.keys()].map(end));
      await modern.close();
    },
  };
}

export interface ServeHttpOptions extends HttpHandlerOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default `127.0.0.1`. Another address needs a `token`. */
  readonly hostname?: string;
}

export interface ServedHttp {
  /** Where hosts connect. */
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/**
 * Listens on `/mcp`.
 *
 * @throws {TypeError} when asked to listen beyond this machine without a token, or `allowedHostnames` holds what is no host name.
 */
export async function serveHttp(gateway: Gateway, options: ServeHttpOptions = {}): Promise<ServedHttp> {
  const hostname = options.hostname ?? '127.0.0.1';
  if (!LOOPBACK.has(hostname) && !options.token) {
    throw new TypeError(`Listening on ${hostname} lets others call your tools; give a token, or listen on 127.0.0.1.`);
  }
  const handler = createHttpHandler(gateway, options);
  const serve = toNodeHandler(
    {
      fetch: (request) =>
        new URL(request.url).pathname === '/mcp' ? handler.fetch(request) : Promise.resolve(plain(404, 'Not found')),
    },
    { onerror: (error) => options.onError?.(error) },
  );
  const server = createServer((request, response) => {
    if (!isPlainHost(request.headers.host)) return void response.writeHead(403).end();
    // The adapter's type leaves no room for Node's `undefined` in optional fields; the object is the one it is made for.
    void serve(request as Parameters<typeof serve>[0], response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, hostname, resolve);
  });
  return {
    url: urlOf(server, hostname),
    close: async () => {
      await handler.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** Calls back when a body has been read to its end, or thrown away. */
function whenDone(response: Response, done: () => void): Response {
  if (!response.body) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  let finished = false;
  const finish = (): void => {
    if (!finished) done();
    finished = true;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: ended, value } = await reader.read();
        if (!ended) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      finish();
    },
    async cancel(reason) {
      finish();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

function plain(status: number, message: string): Response {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32000, message } };
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}

function principalOf(authInfo: AuthInfo | undefined): string {
  return authInfo?.token ?? '';
}

function urlOf(server: HttpServer, hostname: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}/mcp`;
}
