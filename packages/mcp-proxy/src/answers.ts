/** What the proxy can be asked, and what it can answer, as data. Text and MCP content are two renderings of the answer. */
import type { HeldTool } from './security/pins.js';
import type { IMcpServerDetail, IMcpToolInfo, IMcpToolProblem } from './types.js';

export type ProxyRequest =
  | { readonly kind: 'status' }
  | { readonly kind: 'connect'; readonly server: string }
  | { readonly kind: 'list'; readonly server: string }
  | { readonly kind: 'search'; readonly query: string; readonly server?: string; readonly limit?: number }
  | { readonly kind: 'describe'; readonly tool: string; readonly server?: string }
  | { readonly kind: 'call'; readonly tool: string; readonly server?: string; readonly args: unknown }
  | { readonly kind: 'read'; readonly cursor: string };

export type ProxyAnswer =
  | { readonly kind: 'status'; readonly servers: readonly ServerStatus[] }
  /** `kind` says whether the tools were listed anew for this answer (`connected`) or are those that were known (`list`). */
  | { readonly kind: 'connected' | 'list'; readonly status: ServerStatus; readonly tools: readonly ListedTool[] }
  | SearchAnswer
  | { readonly kind: 'described'; readonly tool: ListedTool }
  | { readonly kind: 'result'; readonly tool: ListedTool; readonly result: unknown }
  /** The next part of a text that was cut. */
  | { readonly kind: 'page'; readonly text: string }
  | ProxyFailure;

export interface SearchAnswer {
  readonly kind: 'hits';
  readonly query: string;
  readonly hits: readonly ToolHit[];
  /** How many tools matched, before the limit. */
  readonly matched: number;
  /** How many tools were looked through. */
  readonly searched: number;
  /** Servers whose tools could not be looked through. */
  readonly skipped: readonly SkippedServer[];
}

/** Why nothing was done. Every one of them is answered in text too, with the way out. */
export type ProxyFailure =
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'unknown_server'; readonly server: string; readonly known: readonly string[] }
  | { readonly kind: 'server_failed'; readonly status: ServerStatus; readonly reason: string }
  | {
      readonly kind: 'unknown_tool';
      readonly tool: string;
      readonly server: string | undefined;
      readonly similar: readonly ListedTool[];
      readonly skipped: readonly SkippedServer[];
    }
  /** Several servers have a tool of this name, and no server was given. */
  | {
      readonly kind: 'ambiguous';
      readonly tool: string;
      readonly candidates: readonly ListedTool[];
      readonly skipped: readonly SkippedServer[];
    }
  | { readonly kind: 'held'; readonly serverName: string; readonly held: HeldTool }
  | { readonly kind: 'refused'; readonly tool: ListedTool; readonly reason: string }
  | { readonly kind: 'call_failed'; readonly tool: ListedTool; readonly reason: string; readonly error: unknown }
  | { readonly kind: 'unknown_cursor'; readonly cursor: string };

/** A tool and its owner. `tool` is as the upstream listed it; only renderings are cleaned. */
export interface ListedTool {
  readonly serverName: string;
  readonly tool: IMcpToolInfo;
}

export interface ToolHit extends ListedTool {
  /** Higher is better; comparable within one answer only. */
  readonly score: number;
}

export interface SkippedServer {
  readonly serverName: string;
  readonly reason: string;
}

export interface ServerStatus {
  readonly serverName: string;
  readonly state: ServerState;
  /** What the provider says of it. */
  readonly detail: IMcpServerDetail | undefined;
  /** Tools that were left out of the last list. */
  readonly dropped: readonly IMcpToolProblem[];
  /** Tools whose definition changed since it was trusted. */
  readonly held: readonly HeldTool[];
  /** The upstream's instructions, when they are trusted; and how they changed, when they are held back. */
  readonly instructions: string | undefined;
  readonly instructionsDiff: readonly string[] | undefined;
  /** Why nothing of this server is shown, when its pins cannot be read. */
  readonly pinsUnreadable: string | undefined;
}

export type ServerState =
  /** `knownTools`: how many tools its stored metadata lists; undefined when nothing is known. */
  | { readonly kind: 'not_connected'; readonly knownTools: number | undefined; readonly lastReason: string | undefined }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected'; readonly tools: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly nextTryAt: number; readonly attempts: number };
