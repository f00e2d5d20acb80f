/** The MCP sessions of the HTTP edge: one transport and one server each, ended by DELETE, by silence or by shutdown. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';

export interface HttpSessionsOptions {
  /** Makes the server of a new session. */
  readonly createServer: (sessionId: string) => McpServer;
  /** The session is over; what was kept for it can go. */
  readonly onEnd: (sessionId: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
  /** A session without a request for this long ends, in milliseconds. An open stream alone does not keep it. */
  readonly idleMs: number;
  /** Most sessions at once; the one that was silent longest makes room. Default 1,000. */
  readonly maxSessions?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  lastRequestAt: number;
}

/** Routes requests to sessions by `Mcp-Session-Id`, as the Streamable HTTP transport of the 2025 revisions says. */
export class HttpSessions {
  readonly #options: HttpSessionsOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #now: () => number;

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Answers one HTTP request of the MCP endpoint. */
  async handle(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) {
      if (request.method === 'POST') return this.#open(request);
      const message = 'This endpoint needs an Mcp-Session-Id: POST an initialize request first.';
      return jsonRpcError(request.method === 'GET' || request.method === 'DELETE' ? 405 : 400, message);
    }
    const session = this.#sessions.get(id);
    if (!session) return jsonRpcError(404, 'This session is unknown or has ended: initialize anew.');
    return this.#pass(session, request);
  }

  /** Ends every session that has been silent for `idleMs`. */
  async endIdle(): Promise<void> {
    const silentSince = this.#now() - this.#options.idleMs;
    const idle = [...this.#sessions.values()].filter((s) => s.lastRequestAt <= silentSince);
    await Promise.all(idle.map((session) => session.server.close()));
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.server.close()));
  }

  /** A request without a session id may only be `initialize`; the transport refuses everything else. */
  async #open(request: Request): Promise<Response> {
    const sessionId = crypto.randomUUID();
    const server = this.#options.createServer(sessionId);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => sessionId,
      onsessioninitialized: () => this.#register(sessionId, session),
      // DELETE: the transport closes after this; the server's onclose does the rest.
      onsessionclosed: () => void server.close().catch(this.#options.onError),
    });
    const session: Session = { transport, server, lastRequestAt: this.#now() };
    await server.connect(transport);
    const response = await this.#pass(session, request);
    if (!this.#sessions.has(sessionId)) await server.close();
    return response;
  }

  #register(sessionId: string, session: Session): void {
    const { maxSessions = 1000, onEnd, onError } = this.#options;
    this.#sessions.set(sessionId, session);
    const closed = session.server.server.onclose;
    session.server.server.onclose = () => {
      closed?.();
      if (this.#sessions.delete(sessionId)) onEnd(sessionId).catch(onError);
    };
    if (this.#sessions.size <= maxSessions) return;
    const [oldest] = [...this.#sessions.values()].sort((a, b) => a.lastRequestAt - b.lastRequestAt);
    oldest?.server.close().catch(onError);
  }

  #pass(session: Session, request: Request): Promise<Response> {
    session.lastRequestAt = this.#now();
    return session.transport.handleRequest(request);
  }
}

function jsonRpcError(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }, { status });
}
