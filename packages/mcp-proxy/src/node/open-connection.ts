/** Opens one connection for the proxy: what the upstream may ask of hosts, where its logs go, and what is told when it cannot be had. */
import type { EraResolver } from '@mcp-interlock/mcp-era';
import type { ClientOptions, FetchLike } from '@modelcontextprotocol/client';
import type { UpstreamConfig } from './config.js';
import { type ConnectionOptions, type HeadersOfCaller, UpstreamConnection } from './connection.js';
import { messageOf, UpstreamError } from './errors.js';
import type { FloodLimit } from './flood-gate.js';
import { HostCalls } from './host-calls.js';
import type { HostRequestMethod, LogEntry } from './host-channel.js';
import type { SignIn } from './oauth-store.js';
import { type OpenClientOptions, openClient } from './open-client.js';
import { redactData, redactError } from './redact.js';
import type { Secrets } from './secrets.js';
import { realTimer, type SetTimer } from './timers.js';

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

/** What one attempt needs beside the provider's options. */
export interface Attempt {
  readonly secrets: Secrets;
  /** Aborted when nobody waits for the connection any more. */
  readonly signal: AbortSignal;
}

/**
 * @throws {UpstreamError} that names the server and what it said, without what it was trusted with.
 */
export async function openConnection(
  config: UpstreamConfig,
  options: NodeProviderOptions,
  { secrets, signal }: Attempt,
): Promise<UpstreamConnection> {
  const { serverName } = config;
  const calls = new HostCalls(serverName, secrets);
  const relay = options.relay ?? [];
  const { redact } = secrets;
  const debugLog = options.debugLog && ((line: string) => options.debugLog?.(redact(line)));

  // Not AbortSignal.timeout within AbortSignal.any: Node 20 collects the former as garbage before it fires.
  const stop = new AbortController();
  const giveUp = (): void => stop.abort();
  const cancelTimer = (options.setTimer ?? realTimer)(giveUp, config.connectTimeoutMs);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  const limit = stop.signal;
  try {
    const authProvider = await options.authProvider?.(config);
    const opened = await openClient(config, {
      ...(options.clientInfo && { clientInfo: options.clientInfo }),
      ...(options.resolver && { resolver: options.resolver }),
      ...(options.fetch && { fetch: options.fetch }),
      ...(options.resolve && { resolve: options.resolve }),
      ...(authProvider && { authProvider }),
      secrets,
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
      secrets,
      ...(options.callerHeaders && { callerHeaders: options.callerHeaders }),
      ...(debugLog && { debugLog }),
      ...(options.setTimer && { setTimer: options.setTimer }),
    };
    return new UpstreamConnection(config, opened, connectionOptions);
  } catch (error) {
    throw connectError(config, redactError(error, redact), { givenUp: signal, limit });
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', giveUp);
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
  if (givenUp.aborted) return givenUpError(serverName);
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

export function givenUpError(serverName: string): UpstreamError {
  return new UpstreamError('UPSTREAM_CLOSED', serverName, `Connecting to "${serverName}" was given up.`);
}
