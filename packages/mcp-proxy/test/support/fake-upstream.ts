/** Upstreams under the test's control: what they list, what they answer, and when. */
import type { IMcpCallOptions, IMcpServer, IMcpServerProvider, IMcpServerSpec, IMcpToolInfo } from '../../src/index.js';

export interface RecordedCall {
  readonly toolName: string;
  readonly args: unknown;
  readonly signal: AbortSignal | undefined;
  readonly options: IMcpCallOptions | undefined;
}

/** A server whose behaviour is fields that a test sets. */
export class FakeUpstream {
  tools: unknown = [];
  instructions: string | undefined;
  ttlMs: number | undefined;
  /** What connecting does; by default it succeeds. */
  onConnect: (signal: AbortSignal | undefined) => Promise<void> = async () => {};
  onList: () => Promise<void> = async () => {};
  onClose: () => Promise<void> = async () => {};
  onCall: (call: RecordedCall) => unknown = () => ({ content: [{ type: 'text', text: 'done' }] });
  connects = 0;
  lists = 0;
  closes = 0;
  /** Connections that were made and neither closed nor lost. */
  living = 0;
  readonly calls: RecordedCall[] = [];
  readonly #ends = new Set<() => void>();
  #changed = new Set<() => void>();
  #closed = new Set<(reason?: unknown) => void>();

  constructor(tools: unknown = []) {
    this.tools = tools;
  }

  /** The upstream announces that its tools are others now. */
  announceTools(tools: unknown): void {
    this.tools = tools;
    for (const listener of this.#changed) listener();
  }

  /** The connection is gone; without a reason, on purpose. */
  hangUp(reason?: unknown): void {
    for (const end of [...this.#ends]) end();
    for (const listener of [...this.#closed]) listener(reason);
  }

  /** Those who are told of a hang-up now. */
  listenersOfClose(): readonly ((reason?: unknown) => void)[] {
    return [...this.#closed];
  }

  async connect(signal: AbortSignal | undefined): Promise<IMcpServer> {
    this.connects += 1;
    await this.onConnect(signal);
    this.living += 1;
    const end = (): void => {
      if (this.#ends.delete(end)) this.living -= 1;
    };
    this.#ends.add(end);
    return {
      listTools: async () => {
        this.lists += 1;
        await this.onList();
        // What an upstream sends is unknown; the proxy is given it unchecked.
        return this.tools as IMcpToolInfo[];
      },
      callTool: async (toolName, args, callSignal, options) => {
        const call = { toolName, args, signal: callSignal, options };
        this.calls.push(call);
        return this.onCall(call);
      },
      close: async () => {
        this.closes += 1;
        end();
        await this.onClose();
      },
      onToolsChanged: (listener) => {
        this.#changed.add(listener);
        return () => this.#changed.delete(listener);
      },
      onClose: (listener) => {
        this.#closed.add(listener);
        return () => this.#closed.delete(listener);
      },
      getInstructions: () => this.instructions,
      getToolsTtlMs: () => this.ttlMs,
    };
  }
}

export type Upstreams = Readonly<Record<string, FakeUpstream>>;

export function providerOf(upstreams: Upstreams): IMcpServerProvider {
  return {
    connect: async (serverName, signal) => {
      const upstream = upstreams[serverName];
      if (upstream === undefined) throw new Error(`no such upstream: ${serverName}`);
      return upstream.connect(signal);
    },
  };
}

/** One spec a server, with a resource id of its own. */
export function specsOf(upstreams: Upstreams): IMcpServerSpec[] {
  return Object.keys(upstreams).map((serverName) => ({ serverName, resourceIds: [`res-${serverName}`] }));
}

/** A tool of one required text parameter. */
export function aTool(name: string, description = `Does ${name}.`): IMcpToolInfo {
  const inputSchema = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] };
  return { name, description, inputSchema };
}

/** A clock and timers that move only when told to. */
export class ManualClock {
  #now = 1_800_000_000_000;
  readonly #timers = new Map<() => void, number>();
  readonly now = (): number => this.#now;
  readonly setTimer = (callback: () => void, delayMs: number): (() => void) => {
    const run = (): void => callback();
    this.#timers.set(run, this.#now + delayMs);
    return () => this.#timers.delete(run);
  };

  advance(ms: number): void {
    this.#now += ms;
    for (const [run, dueAt] of [...this.#timers]) {
      if (dueAt > this.#now) continue;
      this.#timers.delete(run);
      run();
    }
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }
}

/** A promise that the test settles. */
export function aGate<T = void>(): { readonly opened: Promise<T>; open(value: T): void; fail(error: unknown): void } {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const opened = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { opened, open, fail };
}

/** Waits until a condition holds, by turns of the event loop, never by the clock. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
