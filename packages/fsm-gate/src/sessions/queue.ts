/** Lets the callers of one process take turns by key, first come first served. */
import { MAX_DELAY_MS } from './delay.js';
import type { GateTimers } from './sessions-types.js';

/** How many lines that nobody stands in are kept: who comes back, as sessions do, finds theirs. */
const KEPT = 64;

/** Those who want one key. Whoever has the turn ends it once, by `KeyedQueue.leave`, and may note what it is doing. */
export interface Line<Work> {
  readonly key: string;
  isTaken: boolean;
  work: Work | undefined;
  readonly waiting: (() => void)[];
}

/** One line a key; beyond a few, a key that nobody waits for or holds takes no memory. */
export class KeyedQueue<Work> {
  readonly #timers: GateTimers;
  readonly #lines: Map<string, Line<Work>> = new Map();
  #free: number = 0;
  /** Where somebody stood last: of one client's calls, one after another, only the first looks its line up. */
  #latest: Line<Work> | undefined;

  constructor(timers: GateTimers) {
    this.#timers = timers;
  }

  /**
   * Waits for the key's turn, for at most `timeoutMs`.
   *
   * @returns the line whose turn is the caller's now, at once where the key is free; `undefined` when the time was up. Rejects
   * with the signal's reason.
   */
  enter(key: string, timeoutMs: number, signal: AbortSignal | undefined): Line<Work> | Promise<Line<Work> | undefined> {
    return this.enterFree(key) ?? this.#wait(this.#find(key), timeoutMs, signal);
  }

  /** The key's turn where nobody has it. */
  enterFree(key: string): Line<Work> | undefined {
    const line = this.#latest?.key === key ? this.#latest : this.#find(key);
    if (line.isTaken) return undefined;
    line.isTaken = true;
    this.#free -= 1;
    return line;
  }

  /** Ends a turn: the next in line has it, or nobody. */
  leave(line: Line<Work>): void {
    line.work = undefined;
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

  /** The key's line, free where it is a new one. */
  #find(key: string): Line<Work> {
    let line = this.#lines.get(key);
    if (!line) {
      line = { key, isTaken: false, work: undefined, waiting: [] };
      this.#lines.set(key, line);
      this.#free += 1;
    }
    this.#latest = line;
    return line;
  }

  #wait(line: Line<Work>, timeoutMs: number, signal: AbortSignal | undefined): Promise<Line<Work> | undefined> {
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

  /** What those who have a turn are doing. */
  working(): Work[] {
    return [...this.#lines.values()].flatMap(({ work }) => work ?? []);
  }

  #sweep(): void {
    for (const [key, line] of this.#lines) if (!line.isTaken) this.#lines.delete(key);
    this.#free = 0;
    this.#latest = undefined;
  }
}
