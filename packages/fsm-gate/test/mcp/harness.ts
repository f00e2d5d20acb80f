/** What a behaviour test says of a server and a client, whatever SDK they are made with. */
import type { AttachedGate, AttachGateOptions, McpTimers } from '../../src/mcp.js';
import type { GateSessions } from '../../src/sessions/index.js';

/** A tool's or prompt's answer, as its author writes it. */
export type Answer = Record<string, unknown>;

/** What a tool is told of its call. */
export interface Call {
  readonly args: Record<string, unknown>;
  readonly signal: AbortSignal;
  /** v1's `extra` or v2's `ctx`. */
  readonly context: Record<string, unknown>;
}

export interface ToolSpec {
  readonly name: string;
  readonly run: (call: Call) => Answer | Promise<Answer>;
  /** Its structured content must be `{ total: number }`; on low-level servers the SDK checks the shape of the result instead. */
  readonly checked?: boolean;
}

export interface ServerSpec {
  readonly sessions: GateSessions;
  readonly tools: readonly ToolSpec[];
  readonly prompts?: readonly string[];
  /** URIs and templates. */
  readonly resources?: readonly string[];
  readonly attach?: AttachGateOptions;
  /** Low-level servers list in pages of this size. */
  readonly pageSize?: number;
  /** Whether the gate is attached before the tools are registered, or after. Default: after. */
  readonly attachFirst?: boolean;
  /** Called with each server before it serves. */
  readonly onServer?: (server: unknown, attached: AttachedGate) => void;
}

export interface CallAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly raw: Record<string, unknown>;
}

export interface TestClient {
  /** The names of all pages. */
  listTools(): Promise<string[]>;
  /** The raw result of one page. */
  listPage(cursor?: string, meta?: Record<string, unknown>): Promise<Record<string, unknown>>;
  listPrompts(): Promise<string[]>;
  listResources(): Promise<string[]>;
  listTemplates(): Promise<string[]>;
  getPrompt(name: string): Promise<unknown>;
  readResource(uri: string): Promise<unknown>;
  call(name: string, args?: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<CallAnswer>;
  /** How many `tools/list_changed` have arrived. */
  readonly changes: () => number;
  /** Resolves when that many have arrived. */
  untilChanges(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface Running {
  connect(options?: { principal?: string }): Promise<TestClient>;
  stop(): Promise<void>;
  /** The server itself, where it is one over HTTP with sessions. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

export interface ServerKind {
  readonly name: string;
  readonly era: 'legacy' | 'modern';
  /** Who a client's state belongs to: its own connection, or the principal wherever it connects. */
  readonly stateOf: 'connection' | 'principal';
  /** Whether `auto` hides. */
  readonly autoHides: boolean;
  /** Whether `hide` hides. */
  readonly hides: boolean;
  /** Whether a `list_changed` reaches the client in mode `hide`. */
  readonly notifies: boolean;
  readonly lowLevel: boolean;
  start(spec: ServerSpec): Promise<Running>;
}

export const text = (value: string): Answer => ({ content: [{ type: 'text', text: value }] });

/** Timers that run when the test says so. */
export class ManualTimers implements McpTimers {
  readonly #due = new Map<number, () => void>();
  #next = 1;

  get pending(): number {
    return this.#due.size;
  }

  setTimeout(callback: () => void): unknown {
    this.#due.set(this.#next, callback);
    return this.#next++;
  }

  clearTimeout(handle: unknown): void {
    this.#due.delete(Number(handle));
  }

  run(): void {
    const due = [...this.#due.values()];
    this.#due.clear();
    for (const callback of due) callback();
  }
}

/** Counts events and lets a test wait for the n-th. */
export class Counter {
  #count = 0;
  readonly #waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();

  get count(): number {
    return this.#count;
  }

  increment(): void {
    this.#count += 1;
    for (const waiter of this.#waiting) {
      if (this.#count < waiter.count) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }

  until(count: number): Promise<void> {
    if (this.#count >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ count, resolve }));
  }
}

/** A promise that the test settles. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

export function asAnswer(raw: unknown): CallAnswer {
  const result = raw as Record<string, unknown>;
  const content = Array.isArray(result.content) ? result.content : [];
  return {
    isError: result.isError === true,
    text: content.map((part) => String((part as { text?: unknown }).text ?? '')).join('\n'),
    raw: result,
  };
}
