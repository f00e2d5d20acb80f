/** The ports of the proxy: what it gives to an agent loop, and what it needs from whoever holds the connections. */

/** One tool for an agent loop; `execute` answers with text for the model. */
export interface IAgentToolDescriptor {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
  execute(args: unknown, signal?: AbortSignal): Promise<string>;
}

/** A tool as an upstream lists it. Everything in it is untrusted. */
export interface IMcpToolInfo {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?: Record<string, unknown>;
}

/** Progress of one call, as `notifications/progress` carries it. */
export interface IMcpProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** What travels beside the arguments of one call, unchanged from the caller of the proxy to the connection. */
export interface IMcpCallOptions {
  onProgress?(progress: IMcpProgress): void;
  /**
   * Whatever the caller of the proxy wants the connection and the approval hook to know of this call: a host session for
   * elicitation and sampling, a principal, the answers of an earlier `input_required`. The proxy never looks inside.
   */
  context?: unknown;
}

/** A tool that was left out of a list, and why. */
export interface IMcpToolProblem {
  readonly toolName: string;
  readonly reason: string;
}

/**
 * One living connection. `listTools` and `callTool` reject with an `McpConnectionError` when the connection is at fault, so
 * that the proxy knows whether a second attempt is safe; every other rejection is the upstream's answer.
 */
export interface IMcpServer {
  /** May hand through what the upstream sent, unchecked: the proxy admits each tool by itself. */
  listTools(signal?: AbortSignal): Promise<IMcpToolInfo[]>;
  /** Resolves to the upstream's whole result (`content`, `structuredContent`, `isError`, `resultType`, `_meta`). */
  callTool(toolName: string, args: unknown, signal?: AbortSignal, options?: IMcpCallOptions): Promise<unknown>;
  close(): Promise<void>;
  /** Called when the upstream says that its tools changed. Returns the way to stop listening. */
  onToolsChanged?(listener: () => void): () => void;
  /** Called once when the connection is gone. `reason` undefined means on purpose (idle, closed), not a failure. */
  onClose?(listener: (reason?: unknown) => void): () => void;
  /** The upstream's `instructions`; pinned together with the tools. */
  getInstructions?(): string | undefined;
  getServerInfo?(): { name: string; version?: string } | undefined;
  /** Tools that the connection itself had to drop from its last list. */
  getToolProblems?(): readonly IMcpToolProblem[];
  /** `ttlMs` of the last tool list in milliseconds. 0 and undefined both mean "not said". */
  getToolsTtlMs?(): number | undefined;
}

/** What a provider knows of a server besides its connection; only ever shown. */
export interface IMcpServerDetail {
  state?: 'idle' | 'connecting' | 'connected' | 'backoff' | 'disabled';
  reason?: string;
  /** When the next attempt is due, in epoch milliseconds. */
  nextTryAt?: number;
  era?: string;
}

/** How a server of a given name is reached. */
export interface IMcpServerProvider {
  connect(serverName: string, signal?: AbortSignal): Promise<IMcpServer>;
  describe?(serverName: string): IMcpServerDetail | undefined;
}

/** A tool found through the registry; `call` goes the same way as a call of the `mcp` tool, approval included. */
export interface IMcpToolHandle extends IMcpToolInfo {
  serverName: string;
  /** Resolves to the upstream's raw result; rejects with `McpProxyError` when the call is refused or fails. */
  call(args: unknown, signal?: AbortSignal, options?: IMcpCallOptions): Promise<unknown>;
}

export interface IMcpToolRegistry {
  resolve(resourceId: string, toolName: string, signal?: AbortSignal): Promise<IMcpToolHandle | undefined>;
}

/** A whole server that was declared. */
export interface IMcpResource {
  resourceId: string;
  serverName: string;
}

/** A single tool of a server that was declared. */
export interface IMcpToolResource extends IMcpResource {
  toolName: string;
}

/** What the proxy works from: one per server name. */
export interface IMcpServerSpec {
  serverName: string;
  resourceIds: string[];
  /** Undefined = all tools, `[]` = none. Held at list time and again at call time. */
  allowedTools?: string[];
  /** Never visible and never callable, whatever `allowedTools` says. */
  blockedTools?: string[];
  /**
   * Tools that may be sent a second time when the connection breaks under a call. Beside these, a tool whose annotations say
   * `readOnlyHint` or `idempotentHint` counts, unless the spec sets `trustHints: 'never'`.
   */
  idempotentTools?: string[];
  /** Whether hints of the upstream are believed for the question above. Default `'retry'`. */
  trustHints?: 'retry' | 'never';
  /** How long a connect of this server may take; overrides the proxy's `connectTimeoutMs`. */
  connectTimeoutMs?: number;
}

/**
 * `CallToolResult`-shaped data for hosts that take MCP content. An upstream's own result is handed through as it came: one
 * with `resultType: 'input_required'` (2026-07-28, multi-round-trip requests) has no `content`, so look at that first.
 */
export interface IMcpProxyResult {
  content: IMcpContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  [key: string]: unknown;
}

export interface IMcpContentBlock {
  type: string;
  [key: string]: unknown;
}
