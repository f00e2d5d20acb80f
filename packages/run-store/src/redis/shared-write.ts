/**
 * One write for the commands of one turn of the event loop. ioredis writes each command to the socket by itself, and the
 * system call costs more than everything else about a small command. Corked until the end of the turn, they leave
 * together and uncopied (`writev`), in the order in which they were sent.
 */

/** Of a `Writable` of Node, what is used of it. */
interface Corkable {
  cork(): void;
  uncork(): void;
  readonly writableLength: number;
}

export interface SharedWriteOptions {
  /** ioredis 5 and 6 keep the socket under `stream`; a Cluster has many and no such field, and nothing is held back. */
  readonly client: { readonly stream?: unknown };
  /** Whether nothing is waited for. Then nothing is likely to follow, and a command is better off without a wait. */
  readonly isIdle: () => boolean;
  /** Runs at the end of the turn, after what the same poll has read. Default `setImmediate`. */
  readonly atEndOfTurn?: (run: () => void) => unknown;
}

/** Kept from before anybody puts fake timers in its place: what is held back must leave, also in a test of a user's. */
const endOfTurn = setImmediate;

/** With more than this in hand, writing begins, so that the server can. */
const MAX_HELD_BYTES = 64 * 1024;

/**
 * Call what is returned before sending commands: they may leave at the end of the turn, together. `'pair'`: two will be
 * sent in one go, and leave together in any case.
 */
export function createSharedWrite(options: SharedWriteOptions): (commands: 'one' | 'pair') => void {
  const { client, isIdle, atEndOfTurn = endOfTurn } = options;
  let held: Corkable | undefined;

  function release(): void {
    const socket = held;
    held = undefined;
    socket?.uncork();
  }

  return (commands) => {
    if (held !== undefined) {
      if (held.writableLength < MAX_HELD_BYTES) return;
      held.uncork();
      held.cork();
      return;
    }
    const isAlone = isIdle();
    if (isAlone && commands === 'one') return;
    const { stream } = client;
    if (!isCorkable(stream)) return;
    held = stream;
    stream.cork();
    if (isAlone) process.nextTick(release);
    else atEndOfTurn(release);
  };
}

function isCorkable(stream: unknown): stream is Corkable {
  return (
    typeof stream === 'object' &&
    stream !== null &&
    'cork' in stream &&
    typeof stream.cork === 'function' &&
    'uncork' in stream &&
    typeof stream.uncork === 'function' &&
    'writableLength' in stream &&
    typeof stream.writableLength === 'number'
  );
}
