/** What the classifier reads of a message: the error in a body, a `DiscoverResult`, who sent it. */
import { MCPProtocolError } from './errors.js';
import type { MCPDiscoverResult } from './types.js';
import { versionDate } from './versions.js';

/** The JSON-RPC error that is the body of a refusal, whatever its id. */
export function errorInBody(body: string): MCPProtocolError | undefined {
  try {
    // A batch of one has been seen.
    const { code, message, data } = [JSON.parse(body)].flat()[0].error;
    const text = typeof message === 'string' ? message : '';
    return Number.isInteger(code) ? new MCPProtocolError(code, text, data) : undefined;
  } catch {
    return undefined; // no JSON, or no error in it
  }
}

/** A result as a `DiscoverResult`; `undefined` when it lists no version that is a date. Its other fields stay as they came. */
export function readDiscover(
  result: unknown,
): (MCPDiscoverResult & { readonly supportedVersions: readonly string[] }) | undefined {
  const supportedVersions = textsOf(Object(result).supportedVersions).filter(versionDate);
  return supportedVersions.length ? { ...(result as MCPDiscoverResult), supportedVersions } : undefined;
}

/** The strings of a list. What else is in it is not looked at: a value from a peer may throw when it is made text of. */
export const textsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((text) => typeof text === 'string') : [];

/** The name and version a modern server gives of itself, in `_meta` under the reserved key; self-reported, not proven. */
export function serverInfoFromDiscover(
  discover: MCPDiscoverResult | undefined,
): { name: string; version?: string } | undefined {
  const { name, version } = Object(discover?._meta?.['io.modelcontextprotocol/serverInfo']);
  return typeof name === 'string' ? { name, ...(typeof version === 'string' && { version }) } : undefined;
}
