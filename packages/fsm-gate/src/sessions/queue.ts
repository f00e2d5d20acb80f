/** Lets the callers of one process take turns by key, first come first served. */
import { MAX_DELAY_MS } from './delay.js';
import type { GateTimers } from './sessions-types.js';

/** How many lines that nobody stands in are kept: who comes back, as sessions do, finds theirs. */
const KEPT = 64;

/** Those who want one key. Whoever has the turn ends it once, by `KeyedQueue.leave`. */
export interface Line {
  isTaken: boolean;
  readonly waiting: (() => void)[];
}

/** One line a key; beyond a few, a key that nobody waits for or holds takes no memory. */
export class KeyedQueue {
  readonly #timers: GateTimers;
  readonly #lines: Map<string, Line> = new Map();
  #free: number = 0;

  constructor(timers: GateTimers) {
    this.#timers = timers;
  }

  /**
   * Waits for the key's turn, for at most `timeoutMs`.
   *
   * @returns the line whose turn is the caller's now, at once where the key is free; `undefined` when the time was up. Rejects
   * with the signal's reason.
   */
  enter(key: string, timeoutMs: number, signal: AbortSignal | undefined): Line | Promise<Line | undefined> {
    const line = this.#lines.get(key);
    if (line?.isTaken) return this.#wait(line, timeoutMs, signal);
    if (line) {
      line.isTaken = true;
      this.#free -= 1;
      return line;
    }
    const begun: Line = { isTaken: true, waiting: [] };
    this.#lines.set(key, begun);
    return begun;
  }

  /** Ends a turn: the next in line has it, or nobody. */
  leave(line: Line): void {
    const next = line.waiting[0];
    if (next) {
      next();
      return;
    }
    line.isTaken = false;
    this.#free += 1;
    // Each time half of all, so that a sweep costs no more than the turns that led to it.
    if (this.#free > KEPT && this.#free * 2 > this.#lines.size) this.#sweep();
  }

  #wait(line: Line, timeoutMs: number, signal: AbortSignal | undefined): Promise<Line | undefined> {
    const { waiting } = line;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const settle = (finish: () => void): void => {
        this.#timers.clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        const at = waiting.indexOf(turn);
        if (at >= 0) waiting.splice(at, 1);
        finish();
      };
      const turn = (): void => settle(() => resolve(line));
      const abort = (): void => settle(() => reject(signal?.reason));
      const delay = Math.min(timeoutMs, MAX_DELAY_MS);
      const timer = this.#timers.setTimeout(() => settle(() => resolve(undefined)), delay);
      signal?.addEventListener('abort', abort);
      waiting.push(turn);
    });
  }

  #sweep(): void {
    for (const [key, line] of this.#lines) if (!line.isTaken) this.#lines.delete(key);
    this.#free = 0;
  }
}
