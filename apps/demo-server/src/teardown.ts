/** What is open and must be closed again: once, last opened first, whoever asks and however far the start came. */

export interface Teardown {
  /** Whether closing has begun. */
  readonly begun: boolean;
  /** Remembers how to close something that was just opened. */
  add(what: string, close: () => Promise<void>): void;
  /** Closes everything; later calls wait for the first. What fails to close is logged and keeps nothing else open. */
  run(): Promise<void>;
}

export interface TeardownOptions {
  readonly log: (line: string) => void;
  /** One part that takes longer than this is left behind, in milliseconds. Default 10,000. */
  readonly eachWithinMs?: number;
  readonly timers?: Pick<typeof globalThis, 'setTimeout' | 'clearTimeout'>;
}

export function createTeardown({ log, eachWithinMs = 10_000, timers = globalThis }: TeardownOptions): Teardown {
  const parts: { readonly what: string; readonly close: () => Promise<void> }[] = [];
  let running: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      const { what, close } = part;
      try {
        await within(close(), what);
      } catch (error) {
        log(`stopping: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  function within(closed: Promise<void>, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = new Error(`${what} did not close within ${eachWithinMs / 1000} seconds and is left behind.`);
      const timer = timers.setTimeout(() => reject(late), eachWithinMs);
      closed.then(resolve, reject).finally(() => timers.clearTimeout(timer));
    });
  }

  return {
    get begun() {
      return running !== undefined;
    },
    add: (what, close) => void parts.push({ what, close }),
    run() {
      running ??= closeAll();
      return running;
    },
  };
}
