/** Opens one connection with the official client: the transport that the configuration names, in the era that mcp-era finds out. */
import { createHash } from 'node:crypto';
import { createEraResolver, type EraResolver, EraUndeterminedError, mcpEraCacheKey } from '@mcp-interlock/mcp-era';
import { connectClient, type EraConnection, type OwnTransportTarget } from '@mcp-interlock/mcp-era/client';
import { createHttpProbe } from '@mcp-interlock/mcp-era/http';
import {
  Client,
  type ClientOptions,
  type FetchLike,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { UpstreamConfig } from './config.js';
import { UpstreamError } from './errors.js';
import { DEFAULT_FLOOD_LIMIT, type FloodLimit } from './flood-gate.js';
import { createGuardedFetch } from './guarded-fetch.js';
import type { SignIn } from './oauth-store.js';
import { observeFetch, observeSignIn } from './observe-credentials.js';
import { failureOf, paced } from './paced.js';
import { createSecrets, type Secrets } from './secrets.js';
import { type StdioTransportOptions, StdioUpstreamTransport } from './stdio-transport.js';
import type { SetTimer } from './timers.js';

/** What opening needs from outside; everything has a default. */
export interface OpenClientOptions {
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** Sets handlers, before anything is sent. */
  readonly prepare?: (client: Client) => void;
  readonly capabilities?: NonNullable<ClientOptions['capabilities']>;
  readonly authProvider?: SignIn;
  /** Learns what the connection is trusted with. Default: those of the entry, for this connection alone. */
  readonly secrets?: Secrets;
  /** Shared by all connections of a process; remembers which server speaks which era. */
  readonly resolver?: EraResolver;
  readonly fetch?: FetchLike;
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly stdio?: Partial<Pick<StdioTransportOptions, 'maxMessageBytes' | 'closeGraceMs' | 'onStderr' | 'spawn'>>;
  /** How many messages that answer nothing are bearable, over any transport. */
  readonly flood?: FloodLimit;
  readonly onError?: (error: unknown) => void;
  readonly setTimer?: SetTimer;
  readonly signal?: AbortSignal;
}

export interface OpenedClient {
  readonly client: Client;
  readonly era: 'legacy' | 'modern';
  /** The transport in use; another one after the connection changed its era. */
  readonly transport: Transport;
  /** Does something with the client, once more in the other era when the server's refusal shows that it speaks that. */
  run<T>(operation: (client: Client) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const CLIENT_INFO = { name: 'interlock-mcp-proxy', version: '0.1.0' };
/** Statuses of a server that only knows the older HTTP+SSE transport (specification, "Backwards compatibility"). */
const OLDER_TRANSPORT_STATUSES = new Set([400, 404, 405]);

const sharedResolver: EraResolver = createEraResolver();

/** Leaves waiting between attempts to the proxy, which knows when a person asks for one: the resolver itself never refuses to ask. */
function patient(resolver: EraResolver): EraResolver {
  return {
    resolve: (request) => resolver.resolve({ ...request, retryNow: true }),
    reportMismatch: (key, used, more) => resolver.reportMismatch(key, used, more),
  };
}

/**
 * Connects, and leaves nothing behind when it cannot.
 *
 * @throws {UpstreamError} with the server's own words (exit code, stderr, status) where there are any.
 */
export async function openClient(config: UpstreamConfig, options: OpenClientOptions = {}): Promise<OpenedClient> {
  const { endpoint } = config;
  switch (endpoint.type) {
    case 'stdio':
      return openStdio(config, endpoint, options);
    case 'http':
    case 'sse':
      return openHttp(config, endpoint.type, endpoint, options);
    case 'auto':
      try {
        return await openHttp(config, 'http', endpoint, options);
      } catch (error) {
        if (!(error instanceof SdkHttpError) || !OLDER_TRANSPORT_STATUSES.has(error.status)) throw error;
        // What it says there counts for less than what it said first.
        return await openHttp(config, 'sse', endpoint, options).catch(() => Promise.reject(error));
      }
    default: {
      const never: never = endpoint;
      throw new Error(`Unknown endpoint ${JSON.stringify(never)}`);
    }
  }
}

type StdioEndpoint = Extract<UpstreamConfig['endpoint'], { type: 'stdio' }>;
type HttpEndpoint = Exclude<UpstreamConfig['endpoint'], { type: 'stdio' }>;

function openStdio(config: UpstreamConfig, endpoint: StdioEndpoint, options: OpenClientOptions): Promise<OpenedClient> {
  const { serverName } = config;
  const { command, args, env, cwd } = endpoint;
  const key = mcpEraCacheKey({ type: 'stdio', command, args: [...args], ...(cwd !== undefined && { cwd }) });
  return connect(config, options, {
    target: { type: 'transport', kind: 'stdio', key, serverName },
    secrets: Object.values(env),
    makeTransport: () =>
      new StdioUpstreamTransport({
        ...options.stdio,
        ...(options.flood && { flood: options.flood }),
        serverName,
        command,
        args,
        env,
        ...(cwd !== undefined && { cwd }),
        redact: (options.secrets ?? createSecrets(config)).redact,
      }),
  });
}

function openHttp(
  config: UpstreamConfig,
  type: 'http' | 'sse',
  endpoint: HttpEndpoint,
  options: OpenClientOptions,
): Promise<OpenedClient> {
  const { serverName } = config;
  const { url, headers } = endpoint;
  const secrets = options.secrets ?? createSecrets(config);
  const authProvider = options.authProvider && observeSignIn(options.authProvider, secrets);
  const guarded = createGuardedFetch({
    serverName,
    url,
    ownHeaders: headers,
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.resolve && { resolve: options.resolve }),
  });
  const fetch = observeFetch(guarded, secrets);
  const shared = { requestInit: { headers: { ...headers } }, fetch, ...(authProvider && { authProvider }) };
  // A gateway may hold servers of both eras under one origin.
  const origin = mcpEraCacheKey({ type: type === 'sse' ? 'http-sse' : 'streamable-http', url });
  const key = `${origin}${new URL(url).pathname}`;
  // With a login, the question goes the way of every request, where the SDK adds the token and refreshes it.
  const probe = authProvider
    ? undefined
    : createHttpProbe({ url, headers, fetch, clientInfo: options.clientInfo ?? CLIENT_INFO });
  return connect(config, options, {
    target: { type: 'transport', kind: 'http', key, serverName, ...(probe && { probe }) },
    secrets: Object.values(headers),
    // The older transport is of the older era by definition.
    ...(type === 'sse' && { pin: 'legacy' as const }),
    makeTransport: () =>
      paced(
        type === 'sse'
          ? new SSEClientTransport(new URL(url), shared)
          : new StreamableHTTPClientTransport(new URL(url), shared),
        { serverName, flood: options.flood ?? DEFAULT_FLOOD_LIMIT },
      ),
  });
}

type UpstreamTransport = StdioUpstreamTransport | StreamableHTTPClientTransport | SSEClientTransport;

interface Opening {
  readonly target: Omit<OwnTransportTarget, 'createTransport'>;
  readonly makeTransport: () => UpstreamTransport;
  readonly secrets: readonly string[];
  readonly pin?: 'legacy';
}

async function connect(config: UpstreamConfig, options: OpenClientOptions, opening: Opening): Promise<OpenedClient> {
  const clientInfo = options.clientInfo ?? CLIENT_INFO;
  const capabilities = options.capabilities ?? {};
  const client = new Client(clientInfo, { capabilities, inputRequired: { autoFulfill: false } });
  options.prepare?.(client);
  let transport: UpstreamTransport | undefined;
  // Whatever the client is busy with, without a transport it cannot go on.
  const onAbort = (): void => void transport?.close().catch(() => undefined);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  const pin = opening.pin ?? (config.protocol === 'auto' ? undefined : config.protocol);
  try {
    const connection = await connectClient(
      {
        ...opening.target,
        createTransport: () => {
          transport = opening.makeTransport();
          return transport;
        },
      },
      {
        client,
        clientInfo,
        capabilities,
        resolver: patient(options.resolver ?? sharedResolver),
        authContext: createHash('sha256').update(JSON.stringify(opening.secrets)).digest('base64url'),
        connectTimeoutMs: config.connectTimeoutMs,
        ...(pin && { pin }),
        ...(options.signal && { signal: options.signal }),
        ...(options.onError && { onError: options.onError }),
        ...(options.setTimer && { setTimer: options.setTimer }),
      },
    );
    return opened(connection, () => transport);
  } catch (error) {
    const failure = transport && failureOf(transport);
    await transport?.close().catch(() => undefined);
    throw failure ?? (wantsLogin(error) ? loginError(config.serverName, error) : error);
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
  }
}

function opened(connection: EraConnection<Client>, current: () => Transport | undefined): OpenedClient {
  return {
    client: connection.client,
    get era() {
      return connection.era.kind;
    },
    get transport() {
      const transport = current();
      if (!transport) throw new Error('The connection has no transport');
      return transport;
    },
    run: (operation) => connection.run(operation),
    close: () => connection.close(),
  };
}

function wantsLogin(error: unknown): boolean {
  if (error instanceof EraUndeterminedError)
    return error.reason.kind === 'sign-in-needed' && error.reason.status === 401;
  if (error instanceof SdkHttpError) return error.status === 401;
  return error instanceof Error && error.name === 'UnauthorizedError';
}

function loginError(serverName: string, cause: unknown): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_LOGIN_REQUIRED',
    serverName,
    `Server "${serverName}" wants you to sign in. Run: mcp-proxy login ${serverName} (or give a token in its "headers").`,
    { cause },
  );
}
