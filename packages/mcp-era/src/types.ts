/** The shapes that the parts of this package hand to each other. */
import type { McpLegacyVersion, McpModernVersion } from './versions.js';

/** A value, or the promise of one: caches may answer either way. */
export type MaybePromise<T> = T | Promise<T>;

/** Which of the two protocols a peer speaks, and at which version. */
export type McpEra =
  | { readonly kind: 'modern'; readonly version: McpModernVersion }
  | { readonly kind: 'legacy'; readonly version: McpLegacyVersion };

/**
 * A verdict as it is kept: the era, and what lets a resolver judge its age.
 * Every addition is optional, so that a plain `McpEra` is a record too (of unknown age).
 */
export type EraRecord = McpEra & {
  /** When the peer was asked, in milliseconds since 1970. */
  readonly checkedAt?: number;
  /** When the peer should be asked again, in milliseconds since 1970. */
  readonly expiresAt?: number;
  /** What a modern peer said of itself. */
  readonly discover?: MCPDiscoverResult;
};

/** Where verdicts are kept. The one interface that every cache of this package has and every resolver takes. */
export interface MCPEraCache {
  get(key: string): MaybePromise<EraRecord | undefined>;
  set(key: string, era: EraRecord): MaybePromise<void>;
  delete(key: string): MaybePromise<void>;
}

/** A `DiscoverResult` as a peer may send it; every field is untrusted. */
export interface MCPDiscoverResult {
  supportedVersions?: readonly string[];
  capabilities?: Record<string, unknown>;
  instructions?: string;
  ttlMs?: number;
  cacheScope?: 'public' | 'private';
  _meta?: Record<string, unknown>;
}

/** How a server is reached. */
export type MCPTransportUnion =
  | { type: 'stdio'; command: string; args?: string[]; env?: Record<string, string>; cwd?: string }
  | { type: 'http-sse'; url: string; headers?: Record<string, string> }
  | { type: 'streamable_http' | 'streamable-http'; url: string; headers?: Record<string, string> };

/** What one probe came back with. Silence is an answer; what was thrown or refused is an `error`. */
export type McpEraProbeAnswer =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'timeout' };

/** Asks `server/discover` at one modern version and reports what came back, without throwing. */
export type McpEraProbe = (
  version: McpModernVersion,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<McpEraProbeAnswer>;

/** Over what a question was asked: it decides how silence is read. */
export type EraTransportKind = 'http' | 'stdio';
