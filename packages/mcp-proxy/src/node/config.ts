/** The configuration of upstreams: what hosts and editors write, checked with zod and normalised to one shape. */
import { allowedOf, blockedOf, type RawServer, readEntry, typosOf } from './config-schema.js';
import { ConfigError } from './errors.js';
import { expandRecord, expandVariables, fromEnvironment, type VariableLookup } from './expand.js';

/** How a server is reached. */
export type UpstreamEndpoint =
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      /** `auto` tries Streamable HTTP first and the older HTTP+SSE after it. */
      readonly type: 'auto' | 'http' | 'sse';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** When a server is started: at its first use, at the start of the proxy, or at the start and again whenever it dies. */
export type UpstreamLifecycle = 'lazy' | 'eager' | 'keep-alive';

/** One server, normalised. Every duration is in milliseconds. */
export interface UpstreamConfig {
  readonly serverName: string;
  readonly endpoint: UpstreamEndpoint;
  readonly disabled: boolean;
  readonly lifecycle: UpstreamLifecycle;
  /** Stops an unused lazy or eager server; 0 = never. */
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Silence allowed during one call; progress starts it anew. */
  readonly callTimeoutMs: number;
  /** The longest that one call may take, progress or not. */
  readonly maxCallMs: number;
  /** Which tools exist for the agent; absent = all, [] = none. */
  readonly allowedTools?: readonly string[];
  /** Tools that exist for nobody, taken away after `allowedTools`. */
  readonly blockedTools: readonly string[];
  /** Tools that may be sent a second time when the connection breaks under a call. */
  readonly idempotentTools: readonly string[];
  /** Which protocol to speak; `auto` asks the server. */
  readonly protocol: 'auto' | 'legacy' | 'modern';
  /** OAuth client settings for a remote server that does not register clients by itself. */
  readonly oauth: { readonly clientId?: string; readonly clientSecret?: string; readonly scope?: string };
  /** What variables stood for in this entry, by name; taken out of messages like the values of `env` and `headers`. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** What `parseConfig` needs beside the data. */
export interface ParseConfigOptions {
  /** Named in errors; default `configuration`. */
  readonly source?: string;
  /** Where `${VAR}` is looked up; default `process.env`. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
}

/** What is right and what is not: one bad server never takes the others with it. */
export interface ParsedConfig {
  readonly servers: ReadonlyMap<string, UpstreamConfig>;
  /** One error per server that cannot be used. */
  readonly problems: readonly { readonly serverName: string; readonly error: ConfigError }[];
}

const DEFAULT_IDLE_TIMEOUT_MS = 10 * 60_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
const DEFAULT_CALL_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_CALL_MS = 60 * 60_000;

/** The names under which hosts keep their servers, in the order in which they are looked for. */
export const SERVER_KEYS = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'] as const;

/**
 * Reads the common shapes: `{"mcpServers": {name: {command, args, env, cwd} | {url, headers, type}}}`, the same under `servers`,
 * `context_servers` or `mcp_servers`, and the variants `serverUrl`, `httpUrl`, `http_headers`, `transport`, `enabled`, `disabledTools`, `enabled_tools`.
 * Fields that it does not know are left alone: they belong to other hosts. One that is nearly `allowedTools` or the like is an error.
 *
 * @throws {ConfigError} when the whole cannot be read; what is wrong with one server is in `problems`.
 */
export function parseConfig(data: unknown, options: ParseConfigOptions = {}): ParsedConfig {
  const source = options.source ?? 'configuration';
  const entries = findServers(data, source);
  const lookUp = fromEnvironment(options.variables ?? process.env);
  const servers = new Map<string, UpstreamConfig>();
  const problems: { serverName: string; error: ConfigError }[] = [];
  for (const [serverName, raw] of Object.entries(entries)) {
    try {
      servers.set(serverName, parseServer(serverName, raw, source, lookUp));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push({ serverName, error });
    }
  }
  return { servers, problems };
}

function findServers(data: unknown, source: string): Readonly<Record<string, unknown>> {
  if (!isRecord(data)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `${source}: expected an object like {"mcpServers": {…}}, got ${kindOf(data)}.`,
    );
  }
  // One editor nests the same object one level deeper, beside its other settings.
  const nested = Object.hasOwn(data, 'mcp') && !SERVER_KEYS.some((key) => Object.hasOwn(data, key));
  const holder = nested && isRecord(data.mcp) ? data.mcp : data;
  const key = SERVER_KEYS.find((candidate) => Object.hasOwn(holder, candidate));
  if (key === undefined) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `${source}: no "mcpServers" found. Write {"mcpServers": {"name": {"command": "…"}}}.`,
    );
  }
  const servers = holder[key];
  if (!isRecord(servers)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `${source}: "${key}" must be an object of servers by name, got ${kindOf(servers)}.`,
    );
  }
  return servers;
}

function parseServer(serverName: string, value: unknown, source: string, lookUp: VariableLookup): UpstreamConfig {
  const read = readEntry(value);
  if (read.kind === 'wrong') throw invalid(source, serverName, read.what);
  const raw = read.entry;
  const allowedTools = allowedOf(raw);
  const disabled = raw.disabled === true || raw.enabled === false;
  const used = new Map<string, string>();
  const lookUpAndNote: VariableLookup = (name) => {
    const found = lookUp(name);
    if (found) used.set(name, found);
    // A disabled server is never started, so a variable that it lacks is nobody's problem yet.
    return found ?? (disabled ? '' : undefined);
  };
  const endpoint = parseEndpoint(serverName, raw, source, lookUpAndNote);
  const oauth = parseOAuth(serverName, raw, lookUpAndNote);
  return {
    serverName,
    endpoint,
    disabled,
    lifecycle: raw.lifecycle ?? 'lazy',
    idleTimeoutMs: raw.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    connectTimeoutMs: raw.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    callTimeoutMs: raw.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS,
    maxCallMs: raw.maxCallMs ?? DEFAULT_MAX_CALL_MS,
    ...(allowedTools && { allowedTools }),
    blockedTools: blockedOf(raw),
    idempotentTools: raw.idempotentTools ?? [],
    protocol: raw.protocol ?? 'auto',
    oauth,
    ...(used.size > 0 && { variables: Object.fromEntries(used) }),
  };
}

function parseEndpoint(serverName: string, raw: RawServer, source: string, lookUp: VariableLookup): UpstreamEndpoint {
  const url = raw.url ?? raw.httpUrl ?? raw.serverUrl;
  const type = normaliseType(raw, source, serverName);
  const expand = (text: string, field: string): string => expandVariables(text, lookUp, { serverName, field });
  if (type === 'stdio' || (type === undefined && raw.command !== undefined && url === undefined)) {
    if (raw.command === undefined) throw invalid(source, serverName, `type "stdio" needs "command"${typosOf(raw)}`);
    const [command = '', ...leading] = typeof raw.command === 'string' ? [raw.command] : raw.command;
    return {
      type: 'stdio',
      command: expand(command, 'command'),
      args: [...leading, ...(raw.args ?? [])].map((arg, index) => expand(arg, `args.${index}`)),
      env: expandRecord(raw.env ?? {}, lookUp, { serverName, field: 'env' }),
      ...(raw.cwd !== undefined && { cwd: expand(raw.cwd, 'cwd') }),
    };
  }
  if (raw.command !== undefined && url !== undefined && type === undefined) {
    throw invalid(source, serverName, 'has both "command" and "url"; say which with "type": "stdio" or "type": "http"');
  }
  if (url === undefined) {
    throw invalid(source, serverName, `needs "command" (a local server) or "url" (a remote one)${typosOf(raw)}`);
  }
  return {
    type: type ?? (raw.httpUrl !== undefined && raw.url === undefined ? 'http' : 'auto'),
    url: checkUrl(expand(url, 'url'), url, source, serverName),
    headers: expandRecord({ ...raw.http_headers, ...raw.headers }, lookUp, { serverName, field: 'headers' }),
  };
}

function normaliseType(raw: RawServer, source: string, serverName: string): UpstreamEndpoint['type'] | undefined {
  const given = raw.type ?? raw.transport;
  switch (given?.toLowerCase()) {
    case undefined:
    case 'auto':
    case 'remote':
      return undefined;
    case 'stdio':
    case 'local':
      return 'stdio';
    case 'http':
    case 'streamable-http':
    case 'streamable_http':
    case 'streamablehttp':
      return 'http';
    case 'sse':
    case 'http-sse':
      return 'sse';
    default:
      throw invalid(source, serverName, `type "${given}" is not known; use "stdio", "http" or "sse"`);
  }
}

function parseOAuth(serverName: string, raw: RawServer, lookUp: VariableLookup): UpstreamConfig['oauth'] {
  const given = Object.entries(raw.oauth ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return expandRecord(Object.fromEntries(given), lookUp, { serverName, field: 'oauth' });
}

function checkUrl(text: string, written: string, source: string, serverName: string): string {
  // As it is written: what its variables stand for may be a key.
  if (!URL.canParse(text)) throw invalid(source, serverName, `url "${withoutQuery(written)}" is not a URL`);
  const { protocol } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw invalid(source, serverName, `url must start with http:// or https://, got ${protocol}`);
  }
  return text;
}

function invalid(source: string, serverName: string, what: string): ConfigError {
  return new ConfigError(
    'CONFIG_INVALID',
    `${source}: server "${serverName}": ${what}${what.endsWith('?') ? '' : '.'}`,
  );
}

// Queries carry keys more often than not; an error must not repeat them.
function withoutQuery(text: string): string {
  return text.split('?')[0] ?? '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
