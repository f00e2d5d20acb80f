/** The HTTP edge: the MCP endpoint, the operator's pages, and who may reach them. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type ServerType, serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { z } from 'zod';
import type { Demo } from './demo.js';
import { HttpSessions } from './http-sessions.js';
import type { DemoOptions } from './options.js';
import { homePage, operatorPage } from './pages.js';

export interface RunningServer {
  /** For example http://127.0.0.1:4747 */
  readonly url: string;
  /** Opens the operator's page; a secret, for the terminal of whoever started the server. */
  readonly operatorToken: string;
  close(): Promise<void>;
}

const COOKIE = 'interlock_operator';
const SWEEP_EVERY_MS = 60_000;
const MAX_BODY_BYTES = 64 * 1024;

/** No page of this server runs scripts, or may be put into a frame where a click means something else. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

const decisionBody = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('approve') }),
  z.object({ decision: z.literal('reject'), reason: z.string().max(500).default('rejected by the operator') }),
]);

/** Starts listening and resolves once the port is open. */
export async function startHttp(demo: Demo, options: DemoOptions, log: (line: string) => void): Promise<RunningServer> {
  const operatorToken = randomBytes(24).toString('base64url');
  const sessions = new HttpSessions({
    createServer: (sessionId) => demo.createServer(sessionId),
    onEnd: (sessionId) => demo.endSession(sessionId),
    onError: (error) => log(`session: ${(error as Error).message}`),
    idleMs: options.sessionIdleMs,
  });
  const app = createApp({ demo, sessions, operatorToken, host: options.host, log });

  const server = await new Promise<ServerType>((resolve, reject) => {
    const listening = serve({ fetch: app.fetch, hostname: options.host, port: options.port }, () => resolve(listening));
    listening.once('error', reject);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const sweep = setInterval(() => sessions.endIdle().catch((error) => log(`sweep: ${error.message}`)), SWEEP_EVERY_MS);
  sweep.unref();

  return {
    url: `http://${reachable(options.host)}:${port}`,
    operatorToken,
    async close() {
      clearInterval(sweep);
      await sessions.closeAll();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Where this machine reaches what listens on `host`: "every interface" is no place to go to. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

interface AppParts {
  readonly demo: Demo;
  readonly sessions: HttpSessions;
  readonly operatorToken: string;
  readonly host: string;
  readonly log: (line: string) => void;
}

function createApp({ demo, sessions, operatorToken, host, log }: AppParts): Hono {
  const app = new Hono();

  // A page of another site must not reach a server on loopback (DNS rebinding, cross-site requests).
  app.use(async (c, next) => {
    const requestHost = hostnameOf(`http://${c.req.header('host') ?? ''}`);
    if (!isOwnHost(requestHost, host)) return c.text('This Host is not served here.', 403);
    const origin = c.req.header('origin');
    if (origin !== undefined && !isOwnHost(hostnameOf(origin), host)) return c.text('This Origin is not allowed.', 403);
    return next();
  });

  app.all('/mcp', (c) => sessions.handle(c.req.raw));

  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value);
  });
  app.get('/', (c) => c.html(homePage(new URL(c.req.url).origin, demo.storageDescription)));

  const tooLarge = (c: Context) => c.json({ error: `A decision has at most ${MAX_BODY_BYTES} bytes.` }, 413);
  app.use('/operator/*', operatorOnly(operatorToken), bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }));
  app.get('/operator', async (c) => {
    const { payments, unreadable } = await demo.payments.waiting();
    for (const { runId, error } of unreadable) log(`payment ${runId}: ${messageOf(error)}`);
    return c.html(operatorPage(payments, unreadable.length));
  });
  app.get('/operator/payments/:runId', async (c) => {
    const payment = await demo.payments.peek(c.req.param('runId'));
    return payment ? c.json(payment) : c.json({ error: 'No payment waits under this id.' }, 404);
  });
  app.post('/operator/payments/:runId', async (c) => {
    const parsed = decisionBody.safeParse(await bodyOf(c));
    if (!parsed.success) {
      return c.json({ error: 'Send {"decision": "approve"} or {"decision": "reject", "reason": "…"}.' }, 400);
    }
    const { decision, ...rest } = parsed.data;
    const result = await demo.decide(
      c.req.param('runId'),
      decision === 'approve' ? { kind: 'approve' } : { kind: 'reject', reason: 'reason' in rest ? rest.reason : '' },
      'operator',
    );
    if (c.req.header('accept')?.includes('text/html')) return c.redirect('/operator', 303);
    switch (result.kind) {
      case 'decided':
        return c.json({ status: result.outcome.kind, ...result.outcome.answer });
      case 'already_decided':
        return c.json(
          { error: 'This payment was decided before; a run is resumed once.', status: result.outcome.kind },
          409,
        );
      case 'being_decided':
        return c.json({ error: 'Somebody is deciding this payment right now.' }, 409);
      case 'unknown':
        return c.json({ error: 'No payment waits under this id.' }, 404);
      default:
        return result satisfies never;
    }
  });
  app.onError((error, c) => {
    // The message may name paths; the caller learns only that it failed.
    log(`http: ${error.message}`);
    return c.json({ error: 'The server failed to answer; see its log.' }, 500);
  });
  return app;
}

/** Lets in who has the token: as a bearer header, as the cookie, or once in the query, which sets the cookie. */
function operatorOnly(token: string) {
  return async (c: Context, next: () => Promise<void>) => {
    const query = c.req.query('token');
    if (query !== undefined && isSame(query, token)) {
      setCookie(c, COOKIE, token, { httpOnly: true, sameSite: 'Strict', path: '/operator' });
      return c.redirect('/operator', 303);
    }
    const bearer = c.req.header('authorization')?.replace(/^Bearer /i, '');
    // A cookie goes along with what a page on any other port of this host sends, so a decision must come from our own page.
    if (bearer === undefined && c.req.method !== 'GET' && !isOwnPage(c)) {
      return c.text('A decision by cookie must be made on the page of this server.', 403);
    }
    const given = bearer ?? getCookie(c, COOKIE);
    if (given === undefined || !isSame(given, token)) {
      return c.text('Only the operator may come here: open the link that the server printed when it started.', 401);
    }
    return next();
  };
}

/** Browsers send the Origin with every POST; one that is missing or of another port is not from our page. */
function isOwnPage(c: Context): boolean {
  const origin = c.req.header('origin');
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === c.req.header('host');
}

/** Compares digests, so that neither content nor length of the token shows in the time taken. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

async function bodyOf(c: Context): Promise<unknown> {
  try {
    return c.req.header('content-type')?.includes('json') ? await c.req.json() : await c.req.parseBody();
  } catch {
    return undefined; // Not readable as either: the caller is told what to send.
  }
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isOwnHost(hostname: string | undefined, configured: string): boolean {
  return (
    hostname !== undefined && ['localhost', '127.0.0.1', '[::1]', configured, `[${configured}]`].includes(hostname)
  );
}
