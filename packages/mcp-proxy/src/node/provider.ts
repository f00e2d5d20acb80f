/** Connects the servers of a configuration: one live connection a server, shared by whoever asks for it. */
import type { EraResolver } from '@mcp-interlock/mcp-era';
import type { AuthProvider, ClientOptions, FetchLike, OAuthClientProvider } from '@modelcontextprotocol/client';
import type { IMcpServerDetail, IMcpServerProvider } from '../types.js';
import type { UpstreamConfig } from './config.js';
import { type ConnectionOptions, type HeadersOfCaller, UpstreamConnection } from './connection.js';
import { ConfigError, messageOf, UpstreamError } from './errors.js';
import type { FloodLimit } from './flood-gate.js';
import { HostCalls } from './host-calls.js';
import type { HostRequestMethod, LogEntry } from './host-channel.js';
import { type OpenClientOptions, openClient } from './open-client.js';
import { createRedactor, redactData, redactError, secretsOf } from './redact.js';
import type { SetTimer } from './timers.js';

/** What the SDK's transports take: tokens, or a whole OAuth client. */
export type SignIn = AuthProvider | OAuthClientProvider;

/** Everything is optional. */
export interface NodeProviderOptions {
  /** How this process introduces itself to upstreams. */
  readonly clientInfo?: { readonly name: string; readonly version: string };
  /**
   * What upstreams may ask of a call's host, by way of its `HostChannel`. Default none: then upstreams are told that nobody can be
   * asked.
   */
  readonly relay?: readonly HostRequestMethod[];
  /** Headers for the calls of one caller, beside those of the server's own configuration. */
  readonly callerHeaders?: (request: { serverName: string; context: unknown }) => HeadersOfCaller;
  /** Signs in to remote servers; asked once per connection. See `storedOAuthProvider`. */
  readonly authProvider?: (config: UpstreamConfig) => SignIn | undefined | Promise<SignIn | undefined>;
  /** Remembers which server speaks which era. Default: one for the process, in memory. */
  readonly resolver?: EraResolver;
  /** Diagnostics, one line each; without arguments, results and secrets. */
  readonly debugLog?: (line: string) => void;
  /** What local servers write to stderr, with the secrets of their configuration taken out. */
  readonly onStderr?: (serverName: string, text: string) => void;
  /** Log messages of upstreams that no running call's host wanted. */
  readonly onLog?: (serverName: string, entry: LogEntry) => void;
  readonly stdio?: OpenClientOptions['stdio'];
  /** How many messages that answer nothing an upstream may send. Default 20,000 at once and 2,000 a second. */
  readonly flood?: FloodLimit;
  readonly fetch?: FetchLike;
  /** All addresses of a host name, for the check of where a remote server may point to. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly setTimer?: SetTimer;
}

/** A provider whose servers can be replaced and closed. */
export interface NodeProvider extends IMcpServerProvider {
  connect(serverName: string, signal?: AbortSignal): Promise<UpstreamConnection>;
  describe(serverName: string): IMcpServerDetail | undefined;
  /** Takes a new configuration; connections of servers that changed or are gone are closed. Resolves to their names. */
  setServers(servers: ReadonlyMap<string, UpstreamConfig>): Promise<readonly string[]>;
  /** Closes every connection and reaps every process. A later `connect` works again. */
  closeAll(): Promise<void>;
}

interface Opening {
  readonly promise: Promise<UpstreamConnection>;
  readonly abort: AbortController;
  waiters: number;
}

/**
 * A provider for `McpProxyTool` over stdio, Streamable HTTP and the older HTTP+SSE.
 *
 * @example
 * const { servers } = parseConfig({ mcpServers: { memory: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] } } });
 * const provider = createNodeProvider(servers);
 * const proxy = new McpProxyTool(provider, specsOf(servers));
 */
export function createNodeProvider(
  servers: ReadonlyMap<string, UpstreamConfig>,
  options: NodeProviderOptions = {},
): NodeProvider {
  let configs = servers;
  const live = new Map<string, UpstreamConnection>();
  const opening = new Map<string, Opening>();
  const closing = new Set<Promise<void>>();
  /** Ended by themselves, and not quite gone yet. */
  const ending = new Set<UpstreamConnection>();

  const close = (connection: UpstreamConnection): Promise<void> => {
    const done = connection.close().finally(() => closing.delete(done));
    closing.add(done);
    return done;
  };

  const open = (config: UpstreamConfig): Opening => {
    const abort = new AbortController();
    const promise = openConnection(config, options, abort.signal).then(
      async (connection) => {
        if (opening.get(config.serverName)?.abort !== abort) {
          await close(connection);
          throw closed(config.serverName);
        }
        opening.delete(config.serverName);
        live.set(config.serverName, connection);
        connection.onClose(() => {
          if (live.get(config.serverName) === connection) live.delete(config.serverName);
          ending.add(connection);
          void connection.released.then(() => ending.delete(connection));
        });
        return connection;
      },
      (error: unknown) => {
        if (opening.get(config.serverName)?.abort === abort) opening.delete(config.serverName);
        throw error;
      },
    );
    // Whoever waits sees the failure; when nobody waits any more it is nobody's.
    promise.catch(() => undefined);
    const entry = { promise, abort, waiters: 0 };
    opening.set(config.serverName, entry);
    return entry;
  };

  const stop = (serverName: string): Promise<void> => {
    const done = stopServer(serverName).finally(() => closing.delete(done));
    closing.add(done);
    return done;
  };

  const stopServer = async (serverName: string): Promise<void> => {
    const entry = opening.get(serverName);
    opening.delete(serverName);
    entry?.abort.abort();
    const connection = live.get(serverName);
    live.delete(serverName);
    if (connection) await close(connection);
    await entry?.promise.catch(() => undefined);
  };

  return {
    async connect(serverName, signal) {
      const config = configs.get(serverName);
      if (!config) throw unknownServer(serverName, configs);
      if (config.disabled) throw disabled(serverName);
      signal?.throwIfAborted();
      const known = live.get(serverName);
      if (known?.alive) return known;
      return waitFor(opening.get(serverName) ?? open(config), signal, () => void stop(serverName));
    },

    describe(serverName) {
      const config = configs.get(serverName);
      if (!config) return undefined;
      if (config.disabled) return { state: 'disabled', reason: 'disabled in the configuration' };
      const connection = live.get(serverName);
      if (connection?.alive) return { state: 'connected', era: connection.era };
      return { state: opening.has(serverName) ? 'connecting' : 'idle' };
    },

    async setServers(next) {
      const affected = [...configs.keys()].filter((name) => !sameConfig(configs.get(name), next.get(name)));
      configs = next;
      await Promise.all(affected.map(stop));
      return affected;
    },

    async closeAll() {
      await Promise.all([...new Set([...opening.keys(), ...live.keys()])].map(stop));
      await Promise.all([...closing, ...[...ending].map((connection) => connection.close())]);
    },
  };
}

/** Waits with others; whoever stops waiting leaves alone, and the last one takes the attempt along. */
async function waitFor(
  entry: Opening,
  signal: AbortSignal | undefined,
  abandon: () => void,
): Promise<UpstreamConnection> {
  entry.waiters += 1;
  let onAbort: (() => void) | undefined;
  try {
    if (!signal) return await entry.promise;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
    });
    return await Promise.race([entry.promise, aborted]);
  } finally {
    if (onAbort) signal?.removeEventListener('abort', onAbort);
    entry.waiters -= 1;
    if (entry.waiters === 0 && signal?.aborted) abandon();
  }
}

async function openConnection(
  config: UpstreamConfig,
  options: NodeProviderOptions,
  signal: AbortSignal,
): Promise<UpstreamConnection> {
  const { serverName } = config;
  const calls = new HostCalls(serverName);
  const relay = options.relay ?? [];
  const redact = createRedactor(secretsOf(config));
  const debugLog = options.debugLog && ((line: string) => options.debugLog?.(redact(line)));

  const limit = AbortSignal.any([signal, AbortSignal.timeout(config.connectTimeoutMs)]);
  try {
    const authProvider = await options.authProvider?.(config);
    const opened = await openClient(config, {
      ...(options.clientInfo && { clientInfo: options.clientInfo }),
      ...(options.resolver && { resolver: options.resolver }),
      ...(options.fetch && { fetch: options.fetch }),
      ...(options.resolve && { resolve: options.resolve }),
      ...(authProvider && { authProvider }),
      ...(options.flood && { flood: options.flood }),
      stdio: { ...options.stdio, onStderr: (text) => options.onStderr?.(serverName, text) },
      capabilities: relayedCapabilities(relay),
      prepare: (client) => {
        calls.serve(client, relay);
        client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
          calls.elicitationComplete(params.elicitationId),
        );
        client.setNotificationHandler('notifications/message', ({ params }) => {
          const entry = { ...params, data: redactData(params.data, redact) };
          if (!calls.log(entry)) options.onLog?.(serverName, entry);
        });
      },
      onError: (error) => debugLog?.(`${serverName}: ${messageOf(error)}`),
      ...(options.setTimer && { setTimer: options.setTimer }),
      signal: limit,
    });
    const connectionOptions: ConnectionOptions = {
      calls,
      redact,
      ...(options.callerHeaders && { callerHeaders: options.callerHeaders }),
      ...(debugLog && { debugLog }),
      ...(options.setTimer && { setTimer: options.setTimer }),
    };
    return new UpstreamConnection(config, opened, connectionOptions);
  } catch (error) {
    throw connectError(config, redactError(error, redact), { givenUp: signal, limit });
  }
}

function relayedCapabilities(relay: readonly HostRequestMethod[]): NonNullable<ClientOptions['capabilities']> {
  return {
    ...(relay.includes('elicitation/create') && { elicitation: { form: {}, url: {} } }),
    ...(relay.includes('sampling/createMessage') && { sampling: {} }),
    ...(relay.includes('roots/list') && { roots: {} }),
  };
}

function connectError(
  config: UpstreamConfig,
  error: unknown,
  { givenUp, limit }: { readonly givenUp: AbortSignal; readonly limit: AbortSignal },
): unknown {
  const { serverName, connectTimeoutMs } = config;
  if (givenUp.aborted) return closed(serverName);
  if (limit.aborted) {
    return new UpstreamError(
      'UPSTREAM_CONNECT_TIMEOUT',
      serverName,
      `Server "${serverName}" did not answer within ${connectTimeoutMs} ms (connectTimeoutMs).`,
      { cause: error },
    );
  }
  const own = ownError(error);
  if (own) return own;
  return new UpstreamError(
    'UPSTREAM_CONNECT_FAILED',
    serverName,
    `Server "${serverName}" could not be connected: ${rootMessage(error)}`,
    { cause: error },
  );
}

/** Our own word on what happened, which the SDK or the question for the era may have wrapped. */
function ownError(error: unknown): UpstreamError | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth += 1) {
    if (current instanceof UpstreamError) return current;
  }
  return undefined;
}

/** `fetch failed` says nothing; what it was caused by does. What one message repeats of another is said once. */
function rootMessage(error: unknown): string {
  const messages: string[] = [];
  for (let current = error, depth = 0; current instanceof Error && depth < 4; current = current.cause, depth += 1) {
    const { message } = current;
    if (message && !messages.some((said) => said.includes(message))) messages.push(message);
  }
  return messages.join(': ') || messageOf(error);
}

function unknownServer(serverName: string, configs: ReadonlyMap<string, UpstreamConfig>): ConfigError {
  const known = [...configs.keys()].join(', ') || 'none';
  return new ConfigError('CONFIG_UNKNOWN_SERVER', `No server "${serverName}" is configured. Known: ${known}.`);
}

function disabled(serverName: string): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_DISABLED',
    serverName,
    `Server "${serverName}" is disabled in the configuration. Set "disabled": false to use it.`,
  );
}

function closed(serverName: string): UpstreamError {
  return new UpstreamError('UPSTREAM_CLOSED', serverName, `Connecting to "${serverName}" was given up.`);
}

function sameConfig(a: UpstreamConfig | undefined, b: UpstreamConfig | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
