/** What one can connect to, and what of it the era cache is told. */
import { mcpEraCacheKey } from '../key.js';
import type { TransportLike } from '../transport.js';
import type { EraTransportKind, MCPTransportUnion, McpEraProbe } from '../types.js';

/** A transport that the host makes and supervises by itself. */
export interface OwnTransportTarget {
  readonly type: 'transport';
  /** How silence and an ending are read. */
  readonly kind: EraTransportKind;
  /** What the verdict belongs to; `mcpEraCacheKey` makes one. */
  readonly key: string;
  /** Named in errors. Default: the key. */
  readonly serverName?: string | undefined;
  /**
   * Makes a fresh, unstarted transport. Called once, and again only where the one before has ended (a server that exits on
   * the question) or has been closed (to connect in the other era): there are never two at a time.
   */
  createTransport(): TransportLike | Promise<TransportLike>;
  /** Default: asks over the transport itself, which becomes the connection. */
  readonly probe?: McpEraProbe | undefined;
}

export type EraTarget = MCPTransportUnion | OwnTransportTarget;

/** The key, the kind and the name of a target. */
export function describeTarget(
  target: EraTarget,
  key?: string,
): { readonly key: string; readonly kind: EraTransportKind; readonly serverName: string } {
  switch (target.type) {
    case 'transport':
      return { key: key ?? target.key, kind: target.kind, serverName: target.serverName ?? target.key };
    case 'stdio':
      return { key: key ?? mcpEraCacheKey(target), kind: 'stdio', serverName: target.command };
    case 'http-sse':
    case 'streamable_http':
    case 'streamable-http': {
      const own = mcpEraCacheKey(target);
      const { origin, pathname } = new URL(target.url);
      return { key: key ?? own, kind: 'http', serverName: origin + pathname };
    }
    default:
      throw new TypeError(
        `target.type is ${JSON.stringify((target satisfies never as { type?: unknown }).type)}: ` +
          'use stdio, streamable-http, http-sse or transport',
      );
  }
}

/**
 * Whose view of the server this is: a digest of the credentials a target carries, so that a private `DiscoverResult` is
 * not handed to somebody else. `undefined` where it carries none.
 */
export async function authContextOf(target: EraTarget, fetch?: object): Promise<string | undefined> {
  const secrets =
    target.type === 'transport' ? {} : target.type === 'stdio' ? (target.env ?? {}) : (target.headers ?? {});
  const lines = Object.entries(secrets).map(([name, value]) => `${name.toLowerCase()}:${value}`);
  // What a fetch of the host's own adds is not to be seen: each such function is a context of its own.
  if (fetch) lines.push(`fetch:${contextOfFetch(fetch)}`);
  if (lines.length === 0) return undefined;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(lines.sort().join('\n')));
  return [...new Uint8Array(digest.slice(0, 16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const contexts = new WeakMap<object, string>();

function contextOfFetch(fetch: object): string {
  const context = contexts.get(fetch) ?? crypto.randomUUID();
  contexts.set(fetch, context);
  return context;
}
