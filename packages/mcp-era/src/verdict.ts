/** What the classifier says: a verdict, and the evidence for it. */
import type { MCPProtocolError } from './errors.js';
import type { EraRuleName } from './rules.js';
import type { MCPDiscoverResult } from './types.js';
import type { McpLegacyVersion, McpModernVersion } from './versions.js';

/** Why an era cannot be told. */
export type UndeterminedReason =
  /** 401 or 403. `challenge` is the `WWW-Authenticate` header, from which OAuth can start. */
  | { readonly kind: 'sign-in-needed'; readonly status: number; readonly challenge?: string | undefined }
  /** 5xx, 408, 425, 429, no connection, or silence over HTTP. */
  | { readonly kind: 'unavailable'; readonly status?: number | undefined; readonly retryAfterMs?: number | undefined }
  /** 3xx. `location` as the server wrote it. */
  | { readonly kind: 'redirected'; readonly status: number; readonly location?: string | undefined }
  /** Something answered, but not in JSON-RPC: a web page, an empty success, another kind of service. */
  | { readonly kind: 'not-mcp'; readonly status?: number | undefined }
  /** A modern server that shares no version with us. */
  | { readonly kind: 'versions-disjoint'; readonly offered: readonly string[]; readonly spoken: readonly string[] };

/** What a verdict rests on, in words fit for a log: no header and no credential is part of it. */
export interface EraEvidence {
  /** What was asked, such as `server/discover at 2026-07-28 over http`. */
  readonly sent: string;
  /** What came back, such as `HTTP 400, JSON-RPC error -32022`. */
  readonly received: string;
  /** The row of `ERA_RULES` that decided; its name says why. */
  readonly rule: EraRuleName;
  /** Where it says so: a page and section of the specification of 2026-07-28, or of this package's own decisions. */
  readonly section: string;
}

/** The classifier's answer. */
export type EraVerdict =
  /** `discover` where the peer sent one, `error` where it is known by a modern error instead. */
  | {
      readonly kind: 'modern';
      readonly version: McpModernVersion;
      readonly discover?: MCPDiscoverResult;
      readonly error?: MCPProtocolError;
      readonly evidence: EraEvidence;
    }
  /**
   * `proof: 'silence'` where nothing was said in JSON-RPC: no answer, an exit, a bare HTTP status. It may have been a
   * passing fault, is worth less, and kept for less long.
   */
  | {
      readonly kind: 'legacy';
      readonly version: McpLegacyVersion;
      readonly proof: 'answer' | 'silence';
      readonly evidence: EraEvidence;
    }
  /** A modern server that offers another version we speak: ask once more, at `version`. */
  | { readonly kind: 'retry'; readonly version: McpModernVersion; readonly evidence: EraEvidence }
  | { readonly kind: 'undetermined'; readonly reason: UndeterminedReason; readonly evidence: EraEvidence };
