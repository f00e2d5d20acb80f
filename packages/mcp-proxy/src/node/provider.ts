/** Connects the servers of a configuration: one live connection a server, shared by whoever asks for it. */
import type { IMcpServerDetail, IMcpServerProvider } from '../types.js';
import type { UpstreamConfig } from './config.js';
import type { UpstreamConnection } from './connection.js';
import { ConfigError, UpstreamError } from './errors.js';
import { givenUpError, type NodeProviderOptions, openConnection } from './open-connection.js';
import { createSecrets, type Secrets } from './secrets.js';

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
  /** Of a server, not of a connection: what an earlier one was trusted with, the server still knows. */
  const secrets = new Map<string, Secrets>();
  /** Ended by themselves, and not quite gone yet. */
  const ending = new Set<UpstreamConnection>();

  const close = (connection: UpstreamConnection): Promise<void> => {
    const done = connection.close().finally(() => closing.delete(done));
    closing.add(done);
    return done;
  };

  const secretsOf = (config: UpstreamConfig): Secrets => {
    const known = secrets.get(config.serverName) ?? createSecrets(config);
    secrets.set(config.serverName, known);
    return known;
  };

  const open = (config: UpstreamConfig): Opening => {
    const abort = new AbortController();
    const attempt = { secrets: secretsOf(config), signal: abort.signal };
    const promise = openConnection(config, options, attempt).then(
      async (connection) => {
        if (opening.get(config.serverName)?.abort !== abort) {
          await close(connection);
          throw givenUpError(config.serverName);
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
      const entry = opening.get(serverName) ?? open(config);
      return waitFor(entry, signal, () => {
        // By now it may have succeeded, or another one have been begun: those are for others.
        if (opening.get(serverName) === entry) void stop(serverName);
      });
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
      for (const serverName of affected) secrets.delete(serverName);
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

function sameConfig(a: UpstreamConfig | undefined, b: UpstreamConfig | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
