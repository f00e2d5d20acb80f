/** Decides when a peer sends more than anyone asked for: a token bucket over messages that answer nothing. */

/** Rate and burst of a flood gate. */
export interface FloodLimit {
  /** Messages that may come at once. */
  readonly burst: number;
  /** Messages a second that may come for ever. */
  readonly perSecond: number;
}

/** A legitimate server streams progress and logs; a broken one loops. The bounds are far above the first. */
export const DEFAULT_FLOOD_LIMIT: FloodLimit = { burst: 20_000, perSecond: 2_000 };

/** Pure but for its own count; time is handed in, in milliseconds. */
export class FloodGate {
  readonly #limit: FloodLimit;
  #tokens: number;
  #lastMs: number;

  constructor(limit: FloodLimit, nowMs: number) {
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#lastMs = nowMs;
  }

  /** Counts one message; false when it is one too many. */
  admit(nowMs: number): boolean {
    const gained = (Math.max(0, nowMs - this.#lastMs) / 1000) * this.#limit.perSecond;
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + gained);
    this.#lastMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
