/** What a proxy reports while it works. No event holds arguments, results or credentials. */

export type ProxyEvent =
  | { readonly type: 'connecting'; readonly serverName: string }
  | {
      readonly type: 'connected';
      readonly serverName: string;
      readonly durationMs: number;
      /** Visible tools, after allow-list, checks and pins. */
      readonly tools: number;
    }
  | {
      readonly type: 'connect_failed';
      readonly serverName: string;
      readonly durationMs: number;
      readonly reason: string;
      readonly nextTryAt: number;
    }
  | { readonly type: 'disconnected'; readonly serverName: string; readonly reason: string | undefined }
  /** Listed anew on a living connection. */
  | { readonly type: 'tools_changed'; readonly serverName: string; readonly durationMs: number; readonly tools: number }
  | { readonly type: 'tool_dropped'; readonly serverName: string; readonly toolName: string; readonly reason: string }
  | { readonly type: 'tool_held'; readonly serverName: string; readonly toolName: string }
  | { readonly type: 'search'; readonly durationMs: number; readonly hits: number }
  | { readonly type: 'call_retried'; readonly serverName: string; readonly toolName: string; readonly reason: string }
  | {
      readonly type: 'call';
      readonly serverName: string;
      readonly toolName: string;
      readonly durationMs: number;
      readonly outcome: 'ok' | 'tool_error' | 'failed' | 'refused' | 'aborted' | 'answered';
    };
