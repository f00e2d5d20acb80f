/** Everything the command tells of one server: its era and why, and what it says of itself in that era. */
import { answerFromMessage } from '../answer.js';
import { DEFAULT_CLIENT_INFO } from '../discover-request.js';
import { EraUndeterminedError, MCPProtocolError } from '../errors.js';
import { ServerExitedError } from '../exit-error.js';
import { createHttpPost, createHttpProbe, type EraFetch, type HttpProbeOptions } from '../http-probe.js';
import { isObject } from '../is-object.js';
import { mcpEraCacheKey } from '../key.js';
import { serverInfoFromDiscover } from '../message.js';
import type { EraResolution, EraResolver } from '../resolver.js';
import { StdioTransport } from '../stdio-transport.js';
import { setTimer } from '../timer.js';
import { askTransport, exitOf, PROBE_ID_PREFIX, probeTransport } from '../transport.js';
import type { MCPTransportUnion, McpEra, McpEraProbe, McpEraProbeAnswer } from '../types.js';
import type { EraEvidence, UndeterminedReason } from '../verdict.js';
import { LEGACY_VERSIONS } from '../versions.js';
import { disclose, withoutSecrets } from './secrets.js';

/** A server's answer, as it is printed. */
export interface EraReport {
  readonly name: string;
  /** The address or the command line, without what looks like a secret. */
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
  /** Why a legacy server's handshake failed; its era then rests on the question alone. */
  readonly handshakeError?: string | undefined;
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
  const { target, secrets } = disclose(transport);
  const report = { name, target, versions: [], capabilities: [], fromCache: false };
  let latencyMs = 0;
  try {
    const { resolution, details } = await look(transport, options, () => {
      latencyMs = now() - started;
    });
    const { era, fromCache, evidence } = resolution;
    return withoutSecrets({ ...report, era: era.kind, ...details, latencyMs, fromCache, evidence }, secrets);
  } catch (error) {
    const undetermined = error instanceof EraUndeterminedError ? error : undefined;
    const { evidence, reason } = undetermined ?? {};
    const message = messageOf(error);
    latencyMs ||= now() - started;
    return withoutSecrets({ ...report, era: 'undetermined', latencyMs, evidence, reason, error: message }, secrets);
  }
}

type Details = Pick<EraReport, 'versions' | 'server' | 'capabilities' | 'handshakeError'>;
type Look = Promise<{ readonly resolution: EraResolution; readonly details: Details }>;

function look(transport: MCPTransportUnion, options: InspectOptions, decided: () => void): Look {
  return transport.type === 'stdio' ? lookStdio(transport, options, decided) : lookHttp(transport, options, decided);
}

type HttpTarget = Exclude<MCPTransportUnion, { type: 'stdio' }>;

async function lookHttp(
  target: HttpTarget,
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
  if (session) await endSession(http, session, signal);
  return { resolution, details: legacyDetails(answer) };
}

/** One that cannot be ended expires by itself. */
async function endSession(
  {
    url,
    headers,
    timeoutMs = 10_000,
    fetch = globalThis.fetch,
  }: Omit<HttpProbeOptions, 'headers'> & { headers?: HttpTarget['headers'] | undefined },
  session: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Not AbortSignal.timeout within AbortSignal.any: Node 20 collects the former as garbage before it fires.
  const stop = new AbortController();
  const giveUp = (): void => stop.abort();
  if (signal?.aborted) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  const cancelTimer = setTimer(giveUp, timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'DELETE',
      headers: { ...headers, 'mcp-session-id': session },
      // Another address must not be sent these headers.
      redirect: 'manual',
      signal: stop.signal,
    });
    await response.body?.cancel();
  } catch {
    // Whether it could be ended says nothing of the era.
  } finally {
    cancelTimer();
    signal?.removeEventListener('abort', giveUp);
  }
}

async function lookStdio(
  target: Extract<MCPTransportUnion, { type: 'stdio' }>,
  { resolver, timeoutMs, signal, name }: InspectOptions,
  decided: () => void,
): Look {
  let transport: StdioTransport | undefined;
  let late: McpEraProbeAnswer | undefined;
  const start = async (): Promise<StdioTransport> => {
    transport ??= new StdioTransport(target);
    transport.onmessage = (message) => {
      if (isObject(message) && String(message.id).startsWith(PROBE_ID_PREFIX)) late = answerFromMessage(message);
    };
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
    const request = { key: mcpEraCacheKey(target), serverName: name, signal };
    let resolution = await resolver.resolve({ ...request, probe });
    decided();
    if (resolution.era.kind === 'modern') return { resolution, details: modernDetails(resolution) };
    const process = await start();
    // A first start may fetch a package: the handshake is given more time than the question.
    const answer = await askTransport(process, initializeRequest(), { timeoutMs: (timeoutMs ?? 3000) * 10, signal });
    if (answer.kind === 'error' && answer.error instanceof ServerExitedError) {
      const { error } = (await exitOf(process, answer)) as { error: Error };
      throw error;
    }
    // It was slow to start: what it said to the question, and not its silence, is the answer.
    const heard = resolution.evidence.rule === 'silence on stdio' && late;
    if (heard) {
      await resolver.reportMismatch(request.key, 'legacy');
      resolution = await resolver.resolve({ ...request, probe: async () => heard });
      decided();
      if (resolution.era.kind === 'modern') return { resolution, details: modernDetails(resolution) };
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
  const handshakeError =
    answer.kind === 'timeout' ? 'no answer' : answer.kind === 'error' ? messageOf(answer.error) : undefined;
  return {
    handshakeError,
    versions: typeof protocolVersion === 'string' ? [protocolVersion] : [],
    server: serverInfoFromDiscover({ _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } }),
    capabilities: isObject(capabilities) ? Object.keys(capabilities) : [],
  };
}

function messageOf(error: unknown): string {
  if (error instanceof MCPProtocolError) return `JSON-RPC error ${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
