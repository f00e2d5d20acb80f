/** Starts the servers that shall not wait for their first use, and starts again those that shall always be there. */
import type { ProxyEvent } from '../events.js';
import type { McpProxyTool } from '../proxy-tool.js';
import type { UpstreamConfig } from './config.js';
import { realTimer, type SetTimer } from './timers.js';

/** What of the proxy is used. */
export type LifecycleProxy = Pick<McpProxyTool, 'perform'>;

export interface LifecycleOptions {
  readonly configOf: (serverName: string) => UpstreamConfig | undefined;
  readonly now?: () => number;
  readonly setTimer?: SetTimer;
}

/** A server that ended is given a moment before it is started again, in milliseconds. */
const RESTART_DELAY_MS = 1_000;

/** Feed it the proxy's events; it acts on the proxy. */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #timers = new Map<string, () => void>();
  #proxy: LifecycleProxy | undefined;

  constructor(options: LifecycleOptions) {
    this.#options = options;
  }

  /** Connects eager and keep-alive servers side by side; a failure is in the proxy's status and keeps nobody waiting. */
  async start(proxy: LifecycleProxy, configs: Iterable<UpstreamConfig>): Promise<void> {
    this.#proxy = proxy;
    const early = [...configs].filter((config) => !config.disabled && config.lifecycle !== 'lazy');
    await Promise.all(early.map(({ serverName }) => proxy.perform({ kind: 'connect', server: serverName })));
  }

  onEvent(event: ProxyEvent): void {
    if (event.type === 'disconnected') this.#schedule(event.serverName, RESTART_DELAY_MS);
    if (event.type === 'connect_failed') {
      this.#schedule(event.serverName, Math.max(RESTART_DELAY_MS, event.nextTryAt - (this.#options.now ?? Date.now)()));
    }
  }

  stop(): void {
    this.#proxy = undefined;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #schedule(serverName: string, delayMs: number): void {
    if (this.#options.configOf(serverName)?.lifecycle !== 'keep-alive') return;
    this.#timers.get(serverName)?.();
    const cancel = (this.#options.setTimer ?? realTimer)(() => {
      this.#timers.delete(serverName);
      // The configuration may have changed meanwhile.
      if (this.#options.configOf(serverName)?.lifecycle !== 'keep-alive') return;
      void this.#proxy?.perform({ kind: 'connect', server: serverName });
    }, delayMs);
    this.#timers.set(serverName, cancel);
  }
}
