/** From a message on the wire to a probe's answer, with the slips of real servers put right. */
import { MCPProtocolError } from './errors.js';
import type { MCPDiscoverResult, McpEraProbeAnswer } from './types.js';
import { versionDate } from './versions.js';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What a JSON-RPC message (or the first fitting one of a batch) answers to the request `id`; `undefined` when it answers
 * something else. Without `id`, any response counts.
 *
 * Put right: an error with a null id or none is an answer, for the server could not read ours; `resultType` and `_meta`
 * beside `result` move into it.
 */
export function answerFromMessage(message: unknown, id?: string | number): McpEraProbeAnswer | undefined {
  for (const part of Array.isArray(message) ? message : [message]) {
    if (!isObject(part)) continue;
    const { error, result, resultType, _meta } = part;
    const ours = id === undefined || part.id === id;
    if (isObject(error) && (ours || part.id == null) && Number.isInteger(error.code)) {
      const text = typeof error.message === 'string' ? error.message : '';
      return { kind: 'error', error: new MCPProtocolError(error.code as number, text, error.data) };
    }
    if (ours && 'result' in part) {
      return { kind: 'result', result: isObject(result) ? { resultType, _meta, ...result } : result };
    }
  }
  return undefined;
}

/** The JSON-RPC error that is the body of a refusal, whatever its id. */
export function errorInBody(body: string): MCPProtocolError | undefined {
  try {
    const answer = answerFromMessage(JSON.parse(body));
    return answer?.kind === 'error' ? (answer.error as MCPProtocolError) : undefined;
  } catch {
    return undefined; // no JSON: no JSON-RPC
  }
}

/** A result as a `DiscoverResult`, known fields put right. `undefined` when it lists no version that is a date. */
export function readDiscover(
  result: unknown,
): (MCPDiscoverResult & { readonly supportedVersions: readonly string[] }) | undefined {
  const {
    supportedVersions: listed,
    capabilities,
    ttlMs,
    cacheScope,
  } = (isObject(result) ? result : {}) as MCPDiscoverResult;
  const supportedVersions = Array.isArray(listed) ? listed.filter(versionDate) : [];
  if (!supportedVersions.length) return undefined;
  return {
    ...(result as MCPDiscoverResult),
    supportedVersions,
    capabilities: isObject(capabilities) ? capabilities : {},
    ttlMs: (ttlMs as number) > 0 ? Math.trunc(Number(ttlMs)) : 0,
    cacheScope: cacheScope === 'public' ? cacheScope : 'private',
  };
}

/** The name and version a modern server gives of itself, in `_meta` under the reserved key; self-reported, not proven. */
export function serverInfoFromDiscover(
  discover: MCPDiscoverResult | undefined,
): { name: string; version?: string } | undefined {
  const info = discover?._meta?.['io.modelcontextprotocol/serverInfo'];
  if (!isObject(info) || typeof info.name !== 'string') return undefined;
  return { name: info.name, ...(typeof info.version === 'string' && { version: info.version }) };
}
