/** Opens one connection with the official client: the transport that the configuration names, in the era that the server speaks. */
import {
  Client,
  type ClientOptions,
  type FetchLike,
  type OAuthClientProvider,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import type { UpstreamConfig } from './config.js';
import { UpstreamError } from './errors.js';
import { createGuardedFetch } from './guarded-fetch.js';
import { createRedactor } from './redact.js';
import { type StdioTransportOptions, StdioUpstreamTransport } from './stdio-transport.js';

/** What opening needs from outside; everything has a default. */
export interface OpenClientOptions {
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /** Capabilities to declare and handlers to set, before anything is sent. */
  readonly prepare?: (client: Client) => void;
  readonly capabilities?: NonNullable<ClientOptions['capabilities']>;
  readonly authProvider?: OAuthClientProvider;
  readonly fetch?: FetchLike;
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly stdio?: Partial<
    Pick<StdioTransportOptions, 'maxMessageBytes' | 'flood' | 'closeGraceMs' | 'onStderr' | 'spawn'>
  >;
  readonly signal?: AbortSignal;
}

export interface OpenedClient {
  readonly client: Client;
  readonly transport: Transport;
  readonly era: 'legacy' | 'modern';
}

const CLIENT_INFO = { name: 'interlock-mcp-proxy', version: '0.1.0' };
/** A server that does not know `server/discover` may stay silent; it need not cost the whole connect timeout. */
const STDIO_PROBE_TIMEOUT_MS = 5_000;
/** Statuses of a server that only knows the older HTTP+SSE transport (specification, "Backwards compatibility"). */
const OLDER_TRANSPORT_STATUSES = new Set([400, 404, 405]);

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
        return await openHttp(config, 'sse', endpoint, options);
      }
    default: {
      const never: never = endpoint;
      throw new Error(`Unknown endpoint ${JSON.stringify(never)}`);
    }
  }
}

async function openStdio(
  config: UpstreamConfig,
  endpoint: Extract<UpstreamConfig['endpoint'], { type: 'stdio' }>,
  options: OpenClientOptions,
): Promise<OpenedClient> {
  const makeTransport = (): StdioUpstreamTransport =>
    new StdioUpstreamTransport({
      ...options.stdio,
      serverName: config.serverName,
      command: endpoint.command,
      args: endpoint.args,
      env: endpoint.env,
      ...(endpoint.cwd !== undefined && { cwd: endpoint.cwd }),
      redact: createRedactor(Object.values(endpoint.env)),
    });
  const first = makeTransport();
  try {
    return await connect(first, config, options, config.protocol);
  } catch (error) {
    // Some older servers leave at the first message that is no `initialize`; a fresh process gets just that.
    const leftAtProbe =
      config.protocol === 'auto' && first.failure?.code === 'UPSTREAM_EXITED' && first.pid !== undefined;
    if (!leftAtProbe || options.signal?.aborted) throw first.failure ?? error;
    const second = makeTransport();
    try {
      return await connect(second, config, options, 'legacy');
    } catch (secondError) {
      throw second.failure ?? secondError;
    }
  }
}

async function openHttp(
  config: UpstreamConfig,
  type: 'http' | 'sse',
  endpoint: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  options: OpenClientOptions,
): Promise<OpenedClient> {
  const url = new URL(endpoint.url);
  const shared = {
    requestInit: { headers: { ...endpoint.headers } },
    fetch: createGuardedFetch({
      serverName: config.serverName,
      url: endpoint.url,
      ownHeaders: endpoint.headers,
      ...(options.fetch && { fetch: options.fetch }),
      ...(options.resolve && { resolve: options.resolve }),
    }),
    ...(options.authProvider && { authProvider: options.authProvider }),
  };
  // The older transport is of the older era by definition.
  return type === 'sse'
    ? connect(new SSEClientTransport(url, shared), config, options, 'legacy')
    : connect(new StreamableHTTPClientTransport(url, shared), config, options, config.protocol);
}

async function connect(
  transport: Transport,
  config: UpstreamConfig,
  options: OpenClientOptions,
  protocol: UpstreamConfig['protocol'],
): Promise<OpenedClient> {
  const client = new Client(options.clientInfo ?? CLIENT_INFO, {
    capabilities: options.capabilities ?? {},
    inputRequired: { autoFulfill: false },
    versionNegotiation: {
      mode: protocol === 'modern' ? { pin: '2026-07-28' } : protocol,
      ...(config.endpoint.type === 'stdio' && { probe: { timeoutMs: STDIO_PROBE_TIMEOUT_MS } }),
    },
  });
  options.prepare?.(client);
  // Whatever the client is busy with, without a transport it cannot go on.
  const onAbort = (): void => void transport.close().catch(() => undefined);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    await client.connect(transport, {
      timeout: config.connectTimeoutMs,
      ...(options.signal && { signal: options.signal }),
    });
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw loginNeeded(error) ? loginError(config.serverName, error) : error;
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
  }
  return { client, transport, era: client.getProtocolEra() ?? 'legacy' };
}

function loginNeeded(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === 'UnauthorizedError' || (error instanceof SdkHttpError && error.status === 401))
  );
}

function loginError(serverName: string, cause: unknown): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_LOGIN_REQUIRED',
    serverName,
    `Server "${serverName}" wants you to sign in. Run: mcp-proxy login ${serverName} (or give a token in its "headers").`,
    { cause },
  );
}
