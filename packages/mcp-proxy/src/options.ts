/** What a proxy can be given: limits, hooks and stores. Everything is optional. */
import type { ProxyEvent } from './events.js';
import type { ToolSearchOptions } from './search/options.js';
import type { RankTools } from './search/rank.js';
import type { IMcpToolPinStore } from './security/pins.js';
import type { IMcpToolInfo } from './types.js';

export interface IMcpProxyToolOptions {
  /** Where diagnostics go, one line each. Default: nowhere. Never holds arguments, results or credentials. */
  debugLog?: (line: string) => void;
  /** Structured form of the same, for metrics. An exception of the hook is reported to `debugLog` and goes no further. */
  onEvent?: (event: ProxyEvent) => void;
  /** How long one connect (with its first tool list) may take, in milliseconds. Default 30,000. */
  connectTimeoutMs?: number;
  /** Wait after a failed connect. Default `{ initialMs: 1_000, factor: 2, maxMs: 60_000 }`. */
  backoff?: Partial<BackoffOptions>;
  /** Asked before every call, on every path. Default: every call that the allow-lists and pins let through is made. */
  approve?: ApproveCall;
  /** Remembers tool definitions; a changed one is held back until `approvePins`. Default: nothing is pinned. */
  pins?: IMcpToolPinStore;
  /** What to do with a tool that a pinned server lists for the first time. Default `'trust'`. */
  newTools?: 'trust' | 'hold';
  /** Tools of servers that are not connected yet, kept across runs. Default: none, search connects what it does not know. */
  metadata?: IMcpMetadataStore;
  /** How old stored tools may be when their upstream gave no `ttlMs`, in milliseconds. Default 7 days. */
  metadataMaxAgeMs?: number;
  /** Bounds of one text answer. What is beyond them is read with `{ cursor }`, or from where `spill` put it. */
  output?: OutputOptions;
  /** `'ranked'` (default) or the plain `'or'` of the contract; or options of the ranking. */
  search?: 'ranked' | 'or' | ToolSearchOptions;
  /** Orders the hits anew, for example by embeddings. Default: the order of the ranking. */
  rank?: RankTools;
  /** How many hits `rank` is given; `'all'` adds the tools that match no word. Default 50. */
  rankCandidates?: number | 'all';
  /** The clock, in epoch milliseconds. Default `Date.now`. */
  now?: () => number;
  /** Makes a cursor; must be unguessable. Default `crypto.randomUUID`. */
  randomUUID?: () => string;
  /** A timer; returns the way to cancel it. Default `setTimeout`. */
  setTimer?: (callback: () => void, delayMs: number) => () => void;
}

export interface BackoffOptions {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

/** One call as the approval hook sees it. `args` is a copy that the hook may keep; the call is made with the original. */
export interface ApprovalRequest {
  readonly serverName: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly annotations: Readonly<Record<string, unknown>> | undefined;
  /** The whole definition, as the upstream listed it. */
  readonly tool: IMcpToolInfo;
}

export type ApprovalDecision =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason: string }
  /** The hook answers in place of the upstream, for example with an `input_required` result that asks the person. */
  | { readonly kind: 'answer'; readonly result: unknown };

/** A rejection of the hook refuses the call. */
export type ApproveCall = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal | undefined; readonly context: unknown },
) => ApprovalDecision | Promise<ApprovalDecision>;

/** What is remembered of a server between runs. */
export interface McpServerMetadata {
  /** As the upstream listed them; filtered, checked and pinned anew whenever they are loaded. */
  readonly tools: readonly IMcpToolInfo[];
  readonly instructions?: string;
  /** When they were listed, in epoch milliseconds. */
  readonly listedAt: number;
  /** The upstream's `ttlMs`, when it said one above 0. */
  readonly ttlMs?: number;
}

/**
 * Keeps tool lists between runs. The implementer keys by the server's configuration and keeps the data private; a `load`
 * that rejects, or resolves to something malformed, counts as nothing known (and is reported to `debugLog`).
 */
export interface IMcpMetadataStore {
  load(serverName: string): Promise<McpServerMetadata | undefined>;
  save(serverName: string, metadata: McpServerMetadata): Promise<void>;
}

export interface OutputOptions {
  /** UTF-8 bytes of one answer. Default 51,200. */
  readonly maxBytes?: number;
  /** Lines of one answer. Default 2,000. */
  readonly maxLines?: number;
  /**
   * Puts the whole text of an answer that was cut somewhere, and resolves to a sentence for the model that says where
   * (`Full text: /tmp/x.txt`). Default: it is kept in memory and read on with `{ cursor }`. A rejection falls back to that.
   */
  readonly spill?: (request: SpillRequest) => Promise<string>;
  /** Bytes that texts waiting for their cursor may take in memory together; the oldest go first. Default 16 MiB. */
  readonly maxPendingBytes?: number;
}

export interface SpillRequest {
  readonly text: string;
  /** What the text is the answer to. */
  readonly serverName: string | undefined;
  readonly toolName: string | undefined;
}
