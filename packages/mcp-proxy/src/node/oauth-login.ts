/** Signs in to a remote server: the SDK's OAuth flow with a browser, and a listener on this machine for its way back. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { auth, extractWWWAuthenticateParams, type FetchLike } from '@modelcontextprotocol/client';
import type { UpstreamConfig } from './config.js';
import { UpstreamError } from './errors.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { FileOAuthProvider } from './oauth-store.js';
import { observeFetch, observeSignIn } from './observe-credentials.js';
import { redactError } from './redact.js';
import { createSecrets, type Secrets } from './secrets.js';

export interface LoginOptions {
  /** Where the tokens are kept; see `defaultStateFolder`. */
  readonly folder: string;
  /** Shows the address to the person, in a browser or as text. */
  readonly openUrl: (url: URL) => void | Promise<void>;
  /** Port of the listener on 127.0.0.1; 0 = any. Some authorization servers only know fixed ones. Default 0. */
  readonly port?: number;
  readonly fetch?: FetchLike;
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly signal?: AbortSignal;
}

/**
 * Resolves when the tokens are stored.
 *
 * @throws {UpstreamError} when the server is local, the person refused, or the answer of the browser does not belong to this login.
 */
export async function login(config: UpstreamConfig, options: LoginOptions): Promise<void> {
  const secrets = createSecrets(config);
  try {
    await signIn(config, options, secrets);
  } catch (error) {
    // Both servers know every secret of this login, and may have put them into what they answered.
    throw redactError(error, secrets.redact);
  }
}

async function signIn(config: UpstreamConfig, options: LoginOptions, secrets: Secrets): Promise<void> {
  const { endpoint, serverName } = config;
  if (endpoint.type === 'stdio') throw failed(serverName, 'is a local command; there is nothing to sign in to');
  const callback = await listenForCallback(options.port ?? 0);
  try {
    const state = randomBytes(32).toString('base64url');
    const interaction = { redirectUrl: callback.url, state, open: options.openUrl };
    const store = new FileOAuthProvider(config, options.folder, interaction);
    const provider = observeSignIn(store, secrets);
    // A registration holds the port of the login before; a new one is made.
    await provider.invalidateCredentials('all');
    const guarded = createGuardedFetch({
      serverName,
      url: endpoint.url,
      ...(options.fetch && { fetch: options.fetch }),
      ...(options.resolve && { resolve: options.resolve }),
    });
    const fetchFn = observeFetch(guarded, secrets);
    const challenge = await challengeOf(endpoint.url, fetchFn);
    const flow = {
      serverUrl: endpoint.url,
      fetchFn,
      ...challenge,
      ...(config.oauth.scope && { scope: config.oauth.scope }),
    };
    if ((await auth(provider, flow)) === 'AUTHORIZED') return;
    const answer = await callback.answer(options.signal);
    if (!sameText(answer.get('state') ?? '', state))
      throw failed(serverName, 'got an answer that belongs to another login');
    const authorizationCode = answer.get('code');
    secrets.learn('code', authorizationCode ?? '');
    if (!authorizationCode)
      throw failed(serverName, `was refused by the sign-in page (${answer.get('error') ?? 'no code'})`);
    const iss = answer.get('iss');
    await auth(provider, { ...flow, authorizationCode, ...(iss !== null && { iss }) });
  } finally {
    await callback.close();
  }
}

/** What the server says about signing in, when it is asked without credentials. */
async function challengeOf(url: string, fetchFn: FetchLike): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const response = await fetchFn(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await response.body?.cancel();
  if (response.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

interface Callback {
  readonly url: string;
  answer(signal: AbortSignal | undefined): Promise<URLSearchParams>;
  close(): Promise<void>;
}

async function listenForCallback(port: number): Promise<Callback> {
  let deliver: (params: URLSearchParams) => void = () => undefined;
  const delivered = new Promise<URLSearchParams>((resolve) => {
    deliver = resolve;
  });
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || url.pathname !== '/callback') {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
    response.end('You can close this page and go back to the terminal.\n');
    deliver(url.searchParams);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${portOf(server)}/callback`,
    answer: (signal) =>
      signal
        ? Promise.race([
            delivered,
            new Promise<never>((_resolve, reject) => {
              if (signal.aborted) reject(signal.reason);
              signal.addEventListener('abort', () => reject(signal.reason), { once: true });
            }),
          ])
        : delivered,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function failed(serverName: string, what: string): UpstreamError {
  return new UpstreamError('UPSTREAM_LOGIN_REQUIRED', serverName, `Signing in to "${serverName}" failed: it ${what}.`);
}
