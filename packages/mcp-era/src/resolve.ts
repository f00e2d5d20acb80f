/** The plain resolver: one peer, one cache, at most two questions, no clock. */
import { classifyEraAnswer } from './classify.js';
import { EraUndeterminedError } from './errors.js';
import type {
  EraTransportKind,
  MCPDiscoverResult,
  MCPEraCache,
  McpEra,
  McpEraProbe,
  McpEraProbeAnswer,
} from './types.js';
import type { EraVerdict } from './verdict.js';
import { LEGACY_VERSIONS, type McpModernVersion, MODERN_VERSIONS } from './versions.js';

export interface McpEraResolution {
  readonly era: McpEra;
  /** What a modern peer said of itself, where it is known. */
  readonly discover?: MCPDiscoverResult;
  /** Questions asked: 0 when the cache had the answer, 2 at most. */
  readonly probes: number;
  readonly fromCache: boolean;
}

export interface McpEraResolutionInput {
  readonly probe: McpEraProbe;
  readonly cache: MCPEraCache;
  readonly key: string;
  /** `false` for HTTP+SSE, which is legacy without being asked. */
  readonly probeSupported: boolean;
  /** Named in errors. */
  readonly serverName: string;
}

/** A transport's kind, from the key that `mcpEraCacheKey` made. */
export const transportOfKey = (key: string): EraTransportKind => (key.startsWith('stdio:') ? 'stdio' : 'http');

/** The era of an HTTP+SSE server. */
export const SSE_ERA: McpEra = { kind: 'legacy', version: '2024-11-05' };

/** What a legacy handshake offers when nothing is known of the peer's versions. */
export const LEGACY_ERA: McpEra = { kind: 'legacy', version: LEGACY_VERSIONS[0] };

/** The era alone, without what else a verdict or record carries. */
export const toEra = ({ kind, version }: McpEra): McpEra => ({ kind, version }) as McpEra;

/**
 * Which era a peer speaks: from the cache, or by asking `server/discover` at most twice.
 *
 * Silence reads as legacy on every transport, and is remembered on stdio only. `createEraResolver` is the one to use
 * where many connections share verdicts: it adds age, single flight and healing, and takes silence over HTTP for the
 * outage that it is.
 *
 * @throws {EraUndeterminedError} when the answer says nothing of the era, or no version is common; nothing is cached
 */
export async function resolveMcpEra(input: McpEraResolutionInput): Promise<McpEraResolution> {
  const { cache, key, probe, probeSupported, serverName } = input;
  const cached = await cache.get(key);
  if (cached) return { era: toEra(cached), probes: 0, fromCache: true };
  if (!probeSupported) {
    await cache.set(key, SSE_ERA);
    return { era: SSE_ERA, probes: 0, fromCache: false };
  }
  const { verdict, discover, probes, error } = await askEra(probe, transportOfKey(key), serverName);
  const { rule } = verdict.evidence;
  // Silence over HTTP may be an outage, and an exit a crash: neither is remembered.
  if (rule === 'silence on HTTP') return { era: LEGACY_ERA, probes, fromCache: false };
  if (verdict.kind === 'undetermined') throw error;
  const era = toEra(verdict);
  if (rule !== 'an exit') await cache.set(key, era);
  return { era, ...(discover && { discover }), probes, fromCache: false };
}

/** What came of asking. `error` is there when the verdict is undetermined. */
export interface AskedEra {
  readonly verdict: Exclude<EraVerdict, { kind: 'retry' }>;
  readonly discover: MCPDiscoverResult | undefined;
  readonly error: EraUndeterminedError | undefined;
  readonly probes: number;
}

/** Asks, and asks once more where a modern server offers another version. What a probe throws is an answer too. */
export async function askEra(
  probe: McpEraProbe,
  transport: EraTransportKind,
  serverName: string,
  now: () => number = Date.now,
): Promise<AskedEra> {
  let requested: McpModernVersion = MODERN_VERSIONS[0];
  for (let probes = 1; ; probes++) {
    let answer: McpEraProbeAnswer;
    try {
      answer = await probe(requested);
    } catch (error) {
      answer = { kind: 'error', error };
    }
    const verdict = classifyEraAnswer(answer, { transport, requested, retried: probes > 1, now: now() });
    if (verdict.kind === 'retry') {
      requested = verdict.version;
      continue;
    }
    // Only a modern verdict has the one, and only an error the other.
    const { discover } = verdict as { readonly discover?: MCPDiscoverResult };
    const { error: cause } = answer as { readonly error?: unknown };
    const error = verdict.kind === 'undetermined' ? new EraUndeterminedError(serverName, verdict, cause) : undefined;
    return { verdict, probes, discover, error };
  }
}
