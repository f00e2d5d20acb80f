/** Timers that never keep a process alive, injected so that tests hold the clock. */

export interface McpTimers {
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

export const systemTimers: McpTimers = {
  setTimeout(callback, ms) {
    const handle: unknown = setTimeout(callback, ms);
    if (typeof handle === 'object' && handle !== null && 'unref' in handle && typeof handle.unref === 'function') {
      handle.unref();
    }
    return handle;
  },
  clearTimeout(handle) {
    // Only handles that setTimeout above returned come back here; their type differs by runtime.
    clearTimeout(handle as Parameters<typeof clearTimeout>[0]);
  },
};

/** Runs a job once for a burst of requests: at the end of the first one's delay. Jobs for different keys are independent. */
export class Coalescer {
  readonly #delayMs: number;
  readonly #timers: McpTimers;
  readonly #pending = new Map<string, unknown>();

  constructor(delayMs: number, timers: McpTimers) {
    this.#delayMs = delayMs;
    this.#timers = timers;
  }

  schedule(key: string, job: () => void): void {
    if (this.#pending.has(key)) return;
    const handle = this.#timers.setTimeout(() => {
      this.#pending.delete(key);
      job();
    }, this.#delayMs);
    this.#pending.set(key, handle);
  }

  cancelAll(): void {
    for (const handle of this.#pending.values()) this.#timers.clearTimeout(handle);
    this.#pending.clear();
  }
}
