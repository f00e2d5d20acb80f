/** The shapes that hosts hand in and get back: conversations, paused runs, scopes, and the two families of stores. */

/** A tool call as the model asked for it. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export type AiContentPart =
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
  | { type: 'document'; data: string; mimeType: string; name?: string };

/** One message of a conversation. */
export interface AiMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | AiContentPart[];
  toolCallId?: string;
  toolCalls?: ToolCall[];
}

/**
 * What a run waits for: `'client_tool'`, results of tools that the client runs, one per pending id; `'approval'`, a yes
 * or no per pending id. A state without a kind counts as `'client_tool'`.
 */
export type AgentPauseKind = 'client_tool' | 'approval';
export type SubAgentPauseKind = AgentPauseKind;

/** What resuming needs to know of a state; every state kept by the engine has these two. */
export interface PausedRun {
  pendingToolCallIds: string[];
  pauseKind?: AgentPauseKind;
}

/** A top-level run at its pause: enough to enter the loop again with the results appended. */
export interface AgentRunState extends PausedRun {
  /** The whole conversation up to the pause. */
  messages: AiMessage[];
  /** Ids of the tool calls without which the run cannot go on. */
  pendingToolCallIds: string[];
  /** Steps executed so far, over all pauses. */
  stepsSoFar: number;
  /** Tokens spent so far, prompt and completion, over all pauses. */
  tokensSoFar: number;
  pauseKind?: AgentPauseKind;
  /** Of an approval: the call in question, so that a screen can show it without running the agent. */
  pendingApprovalToolCall?: { toolCall: ToolCall; isClientTool: boolean };
  /** The host's own; kept as it is, never read. */
  meta?: unknown;
}

/** A sub-agent's run at its pause; the same shape, so that one host keeps both alike. */
export interface SubAgentRunSnapshot extends AgentRunState {}

/** Who a run belongs to; given when it is stored, demanded when it is resumed. */
export interface RunScope {
  tenant?: string;
  principal?: string;
  threadId?: string;
}

/** Options of one `store`. */
export interface StoreRunOptions {
  scope?: RunScope;
  /** Life of this run in seconds, instead of the store's own. */
  ttlSeconds?: number;
  /** Refuse with `RUN_EXISTS` instead of replacing a run of the same id. Default `false`. */
  ifAbsent?: boolean;
}

export interface LoadRunOptions {
  /** Throws `RunScopeError` unless the run was stored with this scope. */
  scope?: RunScope;
}

export interface ConsumeRunOptions extends LoadRunOptions {
  /**
   * The caller's own token; whoever repeats it gets the same payload again for a short time. Take the one of an
   * `OutcomeUnknownError` to ask again. Default: a fresh one.
   */
  token?: string;
}

/** Where paused top-level runs wait. `load` peeks, `consume` takes, once. */
export interface AgentRunStore {
  store(runId: string, state: AgentRunState, options?: StoreRunOptions): Promise<void>;
  load(runId: string, options?: LoadRunOptions): Promise<AgentRunState | null>;
  consume(runId: string, options?: ConsumeRunOptions): Promise<AgentRunState | null>;
}

/** Where paused sub-agent runs wait. A store of this family may have no `load`. */
export interface SubAgentRunStore {
  store(runId: string, snapshot: SubAgentRunSnapshot, options?: StoreRunOptions): Promise<void>;
  load?(runId: string, options?: LoadRunOptions): Promise<SubAgentRunSnapshot | null>;
  consume(runId: string, options?: ConsumeRunOptions): Promise<SubAgentRunSnapshot | null>;
}

/** Any cache. `take` is an atomic read and delete, where the cache has one. */
export interface CacheAdapter {
  get<T>(key: string): Promise<T | null>;
  set(key: string, value: unknown, ttlSeconds?: number): Promise<void>;
  forget(key: string): Promise<void>;
  take?<T>(key: string): Promise<T | null>;
}

/** Options of the in-memory stores; without them nothing expires and nothing is evicted. */
export interface InMemoryRunStoreOptions {
  /** Life of a run in seconds. Default: for ever. */
  ttlSeconds?: number;
  /** The oldest waiting run makes room when there are more. Default: no bound. */
  maxRuns?: number;
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
}
