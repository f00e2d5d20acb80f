/** Lets the callers of one process take turns by key, first come first served. */
import { MAX_DELAY_MS } from './delay.js';
import type { GateTimers } from './sessions-types.js';

/** Ends a turn; calling it again does nothing. */
export type Leave = () => void;

/** One queue a key; a key that nobody waits for or holds takes no memory. */
export class KeyedQueue {
  readonly #timers: GateTimers;
  /** A key is present while somebody has its turn; the list, made when it is needed, holds those who wait. */
  readonly #waiting: Map<string, (() => void)[] | undefined> = new Map();

  constructor(timers: GateTimers) {
    this.#timers = timers;
  }

  /**
   * Waits for the key's turn, for at most `timeoutMs`.
   *
   * @returns how to end the turn, at once where the key is free; `undefined` when the time was up. Rejects with the signal's
   * reason.
   */
  enter(key: string, timeoutMs: number, signal: AbortSignal | undefined): Leave | Promise<Leave | undefined> {
    if (!this.#waiting.has(key)) {
      this.#waiting.set(key, undefined);
      return this.#leave(key);
    }
    const waiting = this.#waiting.get(key) ?? [];
    this.#waiting.set(key, waiting);
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        this.#timers.clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        const at = waiting.indexOf(turn);
        if (at >= 0) waiting.splice(at, 1);
        finish();
      };
      const turn = (): void => settle(() => resolve(this.#leave(key)));
      const abort = (): void => settle(() => reject(signal?.reason));
      const delay = Math.min(timeoutMs, MAX_DELAY_MS);
      const timer = this.#timers.setTimeout(() => settle(() => resolve(undefined)), delay);
      signal?.addEventListener('abort', abort);
      waiting.push(turn);
    });
  }

  #leave(key: string): Leave {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.get(key)?.[0];
      if (next) next();
      else this.#waiting.delete(key);
    };
  }
}
