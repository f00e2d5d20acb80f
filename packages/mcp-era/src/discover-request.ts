/** The question itself: a `server/discover` request, complete with its `_meta`. */
import type { McpModernVersion } from './versions.js';

/** Who asks; sent to the server. */
export interface EraAsker {
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  /** The client capabilities that the connection will declare. Default none. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
}

/** Who asks, where nobody says. */
export const DEFAULT_CLIENT_INFO: { readonly name: string; readonly version: string } = {
  name: 'interlock-mcp-era',
  version: '0.1.0',
};

export interface DiscoverRequest {
  readonly jsonrpc: '2.0';
  readonly id: string;
  readonly method: 'server/discover';
  readonly params: { readonly _meta: Readonly<Record<string, unknown>> };
}

/** @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover */
export function discoverRequest(version: McpModernVersion, id: string, asker: EraAsker = {}): DiscoverRequest {
  const { clientInfo = DEFAULT_CLIENT_INFO, capabilities = {} } = asker;
  return {
    jsonrpc: '2.0',
    id,
    method: 'server/discover',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': clientInfo,
        'io.modelcontextprotocol/clientCapabilities': capabilities,
      },
    },
  };
}
