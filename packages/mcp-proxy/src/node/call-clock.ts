/** The two time bounds of one call: silence, which progress ends and a question to the host suspends, and the whole. */
import { awaitedTimer, type SetTimer } from './timers.js';

export interface CallClockOptions {
  /** Silence allowed, in milliseconds. */
  readonly silenceMs: number;
  /** The whole call, in milliseconds. */
  readonly totalMs: number;
  readonly onExpired: (bound: 'silence' | 'total') => void;
  readonly setTimer?: SetTimer;
}

/** Runs from its construction; must be stopped. */
export class CallClock {
  readonly #options: CallClockOptions;
  readonly #setTimer: SetTimer;
  readonly #cancelTotal: () => void;
  #cancelSilence: (() => void) | undefined;
  #suspended = 0;

  constructor(options: CallClockOptions) {
    this.#options = options;
    this.#setTimer = options.setTimer ?? awaitedTimer;
    this.#cancelTotal = this.#setTimer(() => this.#expire('total'), options.totalMs);
    this.touch();
  }

  /** The upstream gave a sign of life. */
  touch(): void {
    this.#cancelSilence?.();
    if (this.#suspended > 0) return;
    this.#cancelSilence = this.#setTimer(() => this.#expire('silence'), this.#options.silenceMs);
  }

  /** A person is being asked: silence is not the upstream's fault until the returned function is called. */
  suspend(): () => void {
    this.#suspended += 1;
    this.#cancelSilence?.();
    return () => {
      this.#suspended -= 1;
      this.touch();
    };
  }

  stop(): void {
    this.#suspended = Number.POSITIVE_INFINITY;
    this.#cancelSilence?.();
    this.#cancelTotal();
  }

  #expire(bound: 'silence' | 'total'): void {
    this.stop();
    this.#options.onExpired(bound);
  }
}
