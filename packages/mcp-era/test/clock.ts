/** A clock that only tests move, and its timers. */
import type { SetTimer } from '../src/timer.js';

export interface Clock {
  readonly now: () => number;
  readonly setTimer: SetTimer;
  /** Moves on, and fires what is due. */
  advance(ms: number): void;
}

export function aClock(start = 1_800_000_000_000): Clock {
  let time = start;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => time,
    setTimer(callback, ms) {
      const timer = { at: time + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      time += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        if (timer.at <= time && timers.delete(timer)) timer.callback();
      }
    },
  };
}
