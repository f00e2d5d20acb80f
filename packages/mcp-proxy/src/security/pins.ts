/** Pins: tool definitions are trusted as first seen; one that changed is held back until somebody approves it. */
import type { IMcpToolInfo } from '../types.js';

/** What is remembered of one tool. The definition is kept so that a change can be shown. */
export interface ToolPin {
  /** SHA-256 in hex over the canonical JSON of the definition. */
  readonly hash: string;
  readonly definition: IMcpToolInfo;
}

export interface ServerPins {
  readonly tools: Readonly<Record<string, ToolPin>>;
  readonly instructions?: string;
}

/**
 * Keeps the pins of each server. `load` resolves to undefined only when the server was never pinned; when the stored pins
 * cannot be read it must reject: the proxy then shows and calls nothing of that server (it fails closed).
 */
export interface IMcpToolPinStore {
  load(serverName: string): Promise<ServerPins | undefined>;
  save(serverName: string, pins: ServerPins): Promise<void>;
}

/** A tool that is not offered because its definition is not the trusted one. */
export interface HeldTool {
  readonly toolName: string;
  readonly reason: 'changed' | 'new';
  /** What changed, readable, one line a change (`description: - old`, `description: + new`). */
  readonly diff: readonly string[];
}
