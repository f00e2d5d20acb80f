/** Counts who uses a connection, so that one that nobody uses can rest. */
import type { SetTimer } from './timers.js';

export interface InUseOptions {
  /** How long nobody must use it before it rests, in milliseconds; undefined = it never does. */
  readonly restAfterMs: number | undefined;
  readonly onRest: () => void;
  /** Called whenever the last use is over. */
  readonly onUnused: () => void;
  readonly setTimer: SetTimer;
}

export class InUse {
  readonly #options: InUseOptions;
  #count = 0;
  #cancelRest: (() => void) | undefined;
  #stopped = false;

  constructor(options: InUseOptions) {
    this.#options = options;
    this.#rest();
  }

  get count(): number {
    return this.#count;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#cancelRest?.();
    this.#count += 1;
    try {
      return await work();
    } finally {
      this.#count -= 1;
      this.#rest();
      if (this.#count === 0) this.#options.onUnused();
    }
  }

  /** From now on it does not rest any more: it has ended. */
  stop(): void {
    this.#stopped = true;
    this.#cancelRest?.();
  }

  #rest(): void {
    const { restAfterMs, onRest, setTimer } = this.#options;
    if (this.#stopped || restAfterMs === undefined || this.#count > 0) return;
    this.#cancelRest?.();
    this.#cancelRest = setTimer(() => {
      if (this.#count === 0) onRest();
    }, restAfterMs);
  }
}
