/**
 * Gives up on answers that do not come. One timer for all that is waited for, since a timer for each command costs as
 * much as a fifth of the command: an answer is given up between one and one and a quarter times the timeout.
 */

export interface Watchdog {
  /** `answer`, or a rejection once it is overdue. */
  watch<T>(answer: Promise<T>): Promise<T>;
  /** The same with a `then` in one, which the hot paths feel: every promise between is paid for by each command. */
  watchThen<T, U>(
    answer: Promise<T>,
    onValue: (value: T) => U | Promise<U>,
    onError: (error: unknown) => U | Promise<U>,
  ): Promise<U>;
}

export interface WatchdogOptions {
  readonly timeoutMs: number;
  readonly setTimer: (run: () => void, ms: number) => unknown;
}

/** Nothing came in time; what was sent may still be carried out. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  constructor(timeoutMs: number) {
    super(`Redis did not answer within ${timeoutMs} ms`);
  }
}

const TICKS = 4;

interface Waiting {
  readonly giveUp: () => void;
}

export function createWatchdog({ timeoutMs, setTimer }: WatchdogOptions): Watchdog {
  if (timeoutMs === Number.POSITIVE_INFINITY) {
    return { watch: (answer) => answer, watchThen: (answer, onValue, onError) => answer.then(onValue, onError) };
  }
  /** By age in ticks, the youngest first. */
  const ages: Set<Waiting>[] = Array.from({ length: TICKS + 1 }, () => new Set());
  let ticking = false;

  function tick(): void {
    const overdue = ages.pop()!;
    ages.unshift(new Set());
    // Timers run before I/O: after the event loop was blocked, the answers may lie in the socket unread.
    if (overdue.size > 0) {
      setImmediate(() => {
        for (const { giveUp } of overdue) giveUp();
      });
    }
    ticking = false;
    if (ages.some(({ size }) => size > 0)) start();
  }

  function start(): void {
    ticking = true;
    const timer = setTimer(tick, timeoutMs / TICKS);
    // What is waited for keeps the process alive by its socket, not by us.
    if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function') {
      timer.unref();
    }
  }

  function watchThen<T, U>(
    answer: Promise<T>,
    onValue: (value: T) => U | Promise<U>,
    onError: (error: unknown) => U | Promise<U>,
  ): Promise<U> {
    return new Promise<U>((resolve, reject) => {
      const settle = <V>(next: (value: V) => U | Promise<U>, value: V): void => {
        // An answer that comes after we gave up is nobody's any more.
        if (!age.delete(waiting)) return;
        try {
          resolve(next(value));
        } catch (error) {
          reject(error);
        }
      };
      const waiting: Waiting = {
        giveUp: () => settle(onError, new NoAnswerError(timeoutMs)),
      };
      const age = ages[0]!;
      age.add(waiting);
      if (!ticking) start();
      answer.then(
        (value) => settle(onValue, value),
        (error: unknown) => settle(onError, error),
      );
    });
  }

  return {
    watchThen,
    watch: (answer) => watchThen(answer, same, fail),
  };
}

function same<T>(value: T): T {
  return value;
}

function fail(error: unknown): never {
  throw error;
}
