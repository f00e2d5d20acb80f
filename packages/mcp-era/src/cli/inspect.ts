/** Everything the command tells of one server: its era and why, and what it says of itself in that era. */
import { DEFAULT_CLIENT_INFO } from '../discover-request.js';
import { EraUndeterminedError } from '../errors.js';
import { ServerExitedError } from '../exit-error.js';
import { createHttpPost, createHttpProbe, type EraFetch } from '../http-probe.js';
import { isObject } from '../is-object.js';
import { mcpEraCacheKey } from '../key.js';
import { serverInfoFromDiscover } from '../message.js';
import type { EraResolution, EraResolver } from '../resolver.js';
import { StdioTransport } from '../stdio-transport.js';
import { askTransport, exitOf, probeTransport } from '../transport.js';
import type { MCPTransportUnion, McpEra, McpEraProbe, McpEraProbeAnswer } from '../types.js';
import type { EraEvidence, UndeterminedReason } from '../verdict.js';
import { LEGACY_VERSIONS } from '../versions.js';

/** A server's answer, as it is printed. */
export interface EraReport {
  readonly name: string;
  /** The address without its query, or the command line without what looks like a secret. */
  readonly target: string;
  readonly era: McpEra['kind'] | 'undetermined';
  /** What it listed, or the version it agreed to. */
  readonly versions: readonly string[];
  readonly server?: { readonly name: string; readonly version?: string } | undefined;
  readonly capabilities: readonly string[];
  /** From the question to the verdict. */
  readonly latencyMs: number;
  readonly fromCache: boolean;
  readonly evidence?: EraEvidence | undefined;
  readonly reason?: UndeterminedReason | undefined;
  readonly error?: string | undefined;
}

export interface InspectOptions {
  readonly name: string;
  readonly resolver: EraResolver;
  readonly timeoutMs: number | undefined;
  readonly now: () => number;
  readonly fetch?: EraFetch | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Never throws: what went wrong is part of the report. */
export async function inspect(transport: MCPTransportUnion, options: InspectOptions): Promise<EraReport> {
  const { name, now } = options;
  const started = now();
  const report = { name, target: describe(transport), versions: [], capabilities: [], fromCache: false };
  let latencyMs = 0;
  try {
    const { resolution, details } = await look(transport, options, () => {
      latencyMs = now() - started;
    });
    return {
      ...report,
      era: resolution.era.kind,
      ...details,
      latencyMs,
      fromCache: resolution.fromCache,
      evidence: resolution.evidence,
    };
  } catch (error) {
    const undetermined = error instanceof EraUndeterminedError ? error : undefined;
    return {
      ...report,
      era: 'undetermined',
      latencyMs: latencyMs || now() - started,
      evidence: undetermined?.evidence,
      reason: undetermined?.reason,
      error: error instanceof Error ? error.message : String(error),
    };
  }
}

type Details = Pick<EraReport, 'versions' | 'server' | 'capabilities'>;
type Look = Promise<{ readonly resolution: EraResolution; readonly details: Details }>;

function look(transport: MCPTransportUnion, options: InspectOptions, decided: () => void): Look {
  return transport.type === 'stdio' ? lookStdio(transport, options, decided) : lookHttp(transport, options, decided);
}

async function lookHttp(
  target: Exclude<MCPTransportUnion, { type: 'stdio' }>,
  { resolver, timeoutMs, fetch, signal, name }: InspectOptions,
  decided: () => void,
): Look {
  const http = { url: target.url, headers: target.headers, timeoutMs, fetch };
  const key = mcpEraCacheKey(target);
  const probeSupported = target.type !== 'http-sse';
  const resolution = await resolver.resolve({
    key,
    probe: createHttpProbe(http),
    probeSupported,
    serverName: name,
    signal,
  });
  decided();
  if (resolution.era.kind === 'modern') return { resolution, details: modernDetails(resolution) };
  if (!probeSupported) return { resolution, details: { versions: [resolution.era.version], capabilities: [] } };
  const { answer, headers } = await createHttpPost(http)(initializeRequest(), {}, signal);
  const session = headers['mcp-session-id'];
  if (session) {
    // A session that is not ended expires by itself.
    const bye = {
      method: 'DELETE',
      headers: { ...target.headers, 'mcp-session-id': session },
      ...(signal && { signal }),
    };
    await (fetch ?? globalThis.fetch)(target.url, bye).catch(() => {});
  }
  return { resolution, details: legacyDetails(answer) };
}

async function lookStdio(
  target: Extract<MCPTransportUnion, { type: 'stdio' }>,
  { resolver, timeoutMs, signal, name }: InspectOptions,
  decided: () => void,
): Look {
  let transport: StdioTransport | undefined;
  const start = async (): Promise<StdioTransport> => {
    transport ??= new StdioTransport(target);
    if (transport.pid === undefined) await transport.start();
    return transport;
  };
  const probe: McpEraProbe = async (version, options = {}) => {
    const process = await start();
    const answer = await probeTransport(process, version, { timeoutMs, signal: options.signal });
    if (answer.kind !== 'error' || !(answer.error instanceof ServerExitedError)) return answer;
    transport = undefined;
    return exitOf(process, answer);
  };
  try {
    const resolution = await resolver.resolve({ key: mcpEraCacheKey(target), probe, serverName: name, signal });
    decided();
    if (resolution.era.kind === 'modern') return { resolution, details: modernDetails(resolution) };
    const process = await start();
    // A first start may fetch a package: the handshake is given more time than the question.
    const answer = await askTransport(process, initializeRequest(), { timeoutMs: (timeoutMs ?? 3000) * 10, signal });
    if (answer.kind === 'error' && answer.error instanceof ServerExitedError) {
      const { error } = (await exitOf(process, answer)) as { error: Error };
      throw error;
    }
    return { resolution, details: legacyDetails(answer) };
  } finally {
    await transport?.close();
  }
}

function initializeRequest(): { readonly id: string } & Record<string, unknown> {
  return {
    jsonrpc: '2.0',
    id: 'interlock-initialize',
    method: 'initialize',
    params: {
      protocolVersion: LEGACY_VERSIONS[0],
      capabilities: {},
      clientInfo: DEFAULT_CLIENT_INFO,
    },
  };
}

function modernDetails({ era, discover }: EraResolution): Details {
  return {
    versions: discover?.supportedVersions ?? [era.version],
    server: serverInfoFromDiscover(discover),
    capabilities: Object.keys(discover?.capabilities ?? {}),
  };
}

function legacyDetails(answer: McpEraProbeAnswer): Details {
  const result = answer.kind === 'result' && isObject(answer.result) ? answer.result : {};
  const { protocolVersion, serverInfo, capabilities } = result;
  return {
    versions: typeof protocolVersion === 'string' ? [protocolVersion] : [],
    server: serverInfoFromDiscover({ _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } }),
    capabilities: isObject(capabilities) ? Object.keys(capabilities) : [],
  };
}

const SECRET_FLAG = /key|token|secret|passw|auth|credential/i;

/** What may be shown of a target. */
function describe(transport: MCPTransportUnion): string {
  if (transport.type !== 'stdio') {
    if (!URL.canParse(transport.url)) return 'no URL';
    const { origin, pathname } = new URL(transport.url);
    return origin + pathname;
  }
  let hide = false;
  const args = (transport.args ?? []).map((arg) => {
    const [flag = '', value] = arg.split(/=(.*)/s);
    const shown = hide ? '***' : value !== undefined && SECRET_FLAG.test(flag) ? `${flag}=***` : arg;
    hide = arg.startsWith('-') && value === undefined && SECRET_FLAG.test(arg);
    return shown;
  });
  return [transport.command, ...args].join(' ');
}
