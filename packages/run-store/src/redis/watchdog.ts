/**
 * Gives up on answers that do not come. One timer for all that is waited for, and a list that an entry leaves by itself:
 * a timer for each command, or a set to delete it from, costs as much as a fifth of the command. An answer is given up
 * between one and one and a quarter times the timeout.
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
  /** Nothing is waited for. */
  isIdle(): boolean;
}

export interface WatchdogOptions {
  /** `Infinity` never gives up. */
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

export function createWatchdog({ timeoutMs, setTimer }: WatchdogOptions): Watchdog {
  const isEndless = timeoutMs === Number.POSITIVE_INFINITY;
  /** The oldest behind its `next`, the youngest behind its `previous`: all wait equally long. */
  const ends = new Ring();
  let now = 0;
  let ticking = false;

  function tick(): void {
    now += 1;
    ticking = false;
    // Timers run before I/O: after the event loop was blocked, the answers may lie in the socket unread.
    const overdueSince = now - TICKS - 1;
    if (isOverdue(ends.next, overdueSince)) setImmediate(() => giveUp(overdueSince));
    if (ends.next !== ends) start();
  }

  function giveUp(overdueSince: number): void {
    for (let oldest = ends.next; isOverdue(oldest, overdueSince); oldest = ends.next) {
      oldest.fail(new NoAnswerError(timeoutMs));
    }
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
      const waiting = new Waiting<T, U>(ends, now, { resolve, reject, onValue, onError });
      if (!ticking && !isEndless) start();
      answer.then(
        (value) => waiting.succeed(value),
        (error: unknown) => waiting.fail(error),
      );
    });
  }

  return {
    watchThen,
    watch: (answer) => watchThen(answer, same, fail),
    isIdle: () => ends.next === ends,
  };
}

interface Outlets<T, U> {
  readonly resolve: (value: U | Promise<U>) => void;
  readonly reject: (error: unknown) => void;
  readonly onValue: (value: T) => U | Promise<U>;
  readonly onError: (error: unknown) => U | Promise<U>;
}

/** Both ends of the list in one: empty when it is its own neighbour. */
class Ring {
  next: Ring = this;
  previous: Ring = this;
}

/** In the list from its making until its first end; what comes after that is nobody's any more. */
class Waiting<T, U> extends Ring {
  readonly since: number;
  #outlets: Outlets<T, U> | undefined;

  constructor(ends: Ring, since: number, outlets: Outlets<T, U>) {
    super();
    this.since = since;
    this.#outlets = outlets;
    this.next = ends;
    this.previous = ends.previous;
    ends.previous.next = this;
    ends.previous = this;
  }

  succeed(value: T): void {
    const outlets = this.#leave();
    if (outlets !== undefined) end(outlets, outlets.onValue, value);
  }

  fail(error: unknown): void {
    const outlets = this.#leave();
    if (outlets !== undefined) end(outlets, outlets.onError, error);
  }

  /** Lets go of everything: an entry that has grown old must not keep its young neighbours, and their payloads, alive. */
  #leave(): Outlets<T, U> | undefined {
    const outlets = this.#outlets;
    this.#outlets = undefined;
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
    return outlets;
  }
}

function end<T, U, V>(outlets: Outlets<T, U>, next: (value: V) => U | Promise<U>, value: V): void {
  try {
    outlets.resolve(next(value));
  } catch (error) {
    outlets.reject(error);
  }
}

// The end of the list waits for nothing, and is no `Waiting`.
function isOverdue(entry: Ring, since: number): entry is Waiting<unknown, unknown> {
  return entry instanceof Waiting && entry.since <= since;
}

function same<T>(value: T): T {
  return value;
}

function fail(error: unknown): never {
  throw error;
}
