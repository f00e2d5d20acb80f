/** A whole proxy from a configuration in one call: provider, stores on disk, eager servers, reload. */
import { join } from 'node:path';
import { createEraResolver } from '@mcp-interlock/mcp-era';
import { createFileEraCache } from '@mcp-interlock/mcp-era/node';
import type { ProxyEvent } from '../events.js';
import type { IMcpProxyToolOptions } from '../options.js';
import { McpProxyTool } from '../proxy-tool.js';
import type { IMcpServerProvider, IMcpServerSpec } from '../types.js';
import { type ParsedConfig, parseConfig, type UpstreamConfig } from './config.js';
import { readConfigFiles, watchConfigFiles } from './config-file.js';
import { ConfigError, messageOf } from './errors.js';
import { Lifecycle } from './lifecycle.js';
import { storedOAuthProvider } from './oauth-store.js';
import type { NodeProviderOptions } from './open-connection.js';
import { createNodeProvider, type NodeProvider } from './provider.js';
import { specsOf } from './specs.js';
import { defaultStateFolder } from './state-files.js';
import { createMetadataStore, createPinStore, createSpill } from './stores.js';

export interface OpenProxyOptions {
  /** A file, several (later ones win by name), or the object itself. */
  readonly config: string | readonly string[] | object;
  /** Where pins, tool lists, tokens and long answers are kept. Default: see `defaultStateFolder`. */
  readonly stateFolder?: string;
  /** Reads the files again when they change. Default `'off'`. */
  readonly reload?: 'off' | 'watch';
  /** `'lazy'` starts nothing before its first use, whatever the configuration says. Default: as configured. */
  readonly start?: 'configured' | 'lazy';
  /** Options of the proxy; pins, metadata and spill files are on unless set here. */
  readonly proxy?: IMcpProxyToolOptions;
  readonly provider?: NodeProviderOptions;
  /** What is wrong in the configuration, first and after each reload, or why it was not reloaded. Default: `debugLog` of the proxy. */
  readonly onProblem?: (problem: ConfigError) => void;
  /** Called after the files were read again and their servers are in place. */
  readonly onReload?: () => void;
  /** Where `${VAR}` is looked up; default `process.env`. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
}

export interface OpenedProxy {
  readonly proxy: McpProxyTool;
  readonly provider: NodeProvider;
  readonly configs: () => ReadonlyMap<string, UpstreamConfig>;
  /** Reads the files again. Only servers whose entry changed are touched. */
  reload(): Promise<void>;
  /** Resolves when the eager servers have started, or failed to. */
  readonly started: Promise<void>;
  /** Closes everything; no process of ours is left. */
  close(): Promise<void>;
}

/**
 * @throws {ConfigError} when the configuration as a whole cannot be read. A single server that is wrong is reported and left out.
 * @example
 * const { proxy, close } = await openProxy({ config: 'mcp.json' });
 * console.log(await proxy.asTool().execute({ search: 'read a file' }));
 * await close();
 */
export async function openProxy(options: OpenProxyOptions): Promise<OpenedProxy> {
  const folder = options.stateFolder ?? defaultStateFolder();
  const debugLog = options.proxy?.debugLog;
  const onProblem = options.onProblem ?? ((problem: ConfigError): void => debugLog?.(problem.message));
  const files = filesOf(options.config);
  const read = async (): Promise<ParsedConfig> => {
    const more = options.variables && { variables: options.variables };
    const parsed = files ? await readConfigFiles(files, more) : parseConfig(options.config, { ...more });
    for (const { error } of parsed.problems) onProblem(error);
    return parsed;
  };
  let { servers, problems } = await read();
  const configOf = (serverName: string): UpstreamConfig | undefined => servers.get(serverName);
  const provider = createNodeProvider(servers, {
    resolver: createEraResolver({ cache: createFileEraCache({ path: join(folder, 'eras.json') }) }),
    authProvider: (config) => storedOAuthProvider(config, folder),
    ...(debugLog && { debugLog }),
    ...options.provider,
  });
  const lifecycle = new Lifecycle({ configOf });
  const proxy = new McpProxyTool(
    naming(provider, () => problems),
    allSpecs({ servers, problems }),
    {
      pins: createPinStore(folder, configOf),
      metadata: createMetadataStore(folder, configOf, (error) => debugLog?.(messageOf(error)), options.provider?.relay),
      ...options.proxy,
      output: { spill: createSpill(folder), ...options.proxy?.output },
      onEvent: (event: ProxyEvent) => {
        lifecycle.onEvent(event);
        options.proxy?.onEvent?.(event);
      },
    },
  );
  const startEarly = (configs: Iterable<UpstreamConfig>): Promise<void> =>
    options.start === 'lazy' ? Promise.resolve() : lifecycle.start(proxy, configs);
  const started = startEarly(servers.values());

  // One after the other: two changes in quick succession must end in the later one.
  let last: Promise<void> = Promise.resolve();
  const reload = (): Promise<void> => {
    last = last
      .catch(() => undefined)
      .then(async () => {
        const before = servers;
        const parsed = await read();
        const wrongBefore = problems.map(({ serverName }) => serverName);
        ({ servers, problems } = parsed);
        const changed = await provider.setServers(servers);
        await Promise.all([...changed, ...wrongBefore].map((name) => proxy.reset(name)));
        await proxy.setSpecs(allSpecs(parsed));
        const fresh = [...servers.values()].filter(
          (config) => !before.has(config.serverName) || changed.includes(config.serverName),
        );
        options.onReload?.();
        await startEarly(fresh);
      });
    return last;
  };
  const watcher =
    files && options.reload === 'watch'
      ? watchConfigFiles(files, {
          // A file that cannot be read leaves everything as it is.
          onChange: () => void reload().catch((error) => onProblem(notReloaded(error))),
          onError: (error) => debugLog?.(messageOf(error)),
        })
      : undefined;

  return {
    proxy,
    provider,
    configs: () => servers,
    reload,
    started,
    close: async () => {
      watcher?.close();
      lifecycle.stop();
      await last.catch(() => undefined);
      await proxy.closeAll();
      await provider.closeAll();
    },
  };
}

/** Whoever saved a file with a slip in it must learn that what runs is still the one before. */
function notReloaded(cause: unknown): ConfigError {
  const code = cause instanceof ConfigError ? cause.code : 'CONFIG_UNREADABLE';
  return new ConfigError(code, `The configuration was not reloaded: ${messageOf(cause)}`, { cause });
}

/** Servers whose entry is wrong are there too: whoever asks for one must learn why it cannot be had. */
function allSpecs({ servers, problems }: ParsedConfig): IMcpServerSpec[] {
  return [...specsOf(servers), ...problems.map(({ serverName }) => ({ serverName, resourceIds: [] }))];
}

/** The provider, which also tells what is wrong with an entry. */
function naming(provider: NodeProvider, problems: () => ParsedConfig['problems']): IMcpServerProvider {
  const problemOf = (name: string): ConfigError | undefined =>
    problems().find(({ serverName }) => serverName === name)?.error;
  return {
    connect: (serverName, signal) => {
      const problem = problemOf(serverName);
      return problem ? Promise.reject(problem) : provider.connect(serverName, signal);
    },
    describe: (serverName) => {
      const problem = problemOf(serverName);
      return problem ? { reason: problem.message } : provider.describe(serverName);
    },
  };
}

function filesOf(config: OpenProxyOptions['config']): readonly string[] | undefined {
  if (typeof config === 'string') return [config];
  if (!Array.isArray(config)) return undefined;
  const paths: readonly unknown[] = config;
  return paths.filter((path): path is string => typeof path === 'string');
}
