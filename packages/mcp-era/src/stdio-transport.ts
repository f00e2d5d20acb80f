/** A stdio server's process: in a group of its own, its stderr drained, always reaped with all its descendants. */
import { type ChildProcess, type SpawnOptions, spawn as spawnProcess } from 'node:child_process';
import { ServerExitedError } from './exit-error.js';
import { type SetTimer, setTimer as setRealTimer } from './timer.js';
import type { TransportLike } from './transport.js';

export interface StdioTransportOptions {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to the few variables that every child gets (`PATH`, `HOME`, …). */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  /** Told of what the server writes to stderr. It is read in any case, so that the server never blocks on it. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /** The longest line taken from stdout, in bytes. A longer one ends the connection. Default 10 485 760 (10 MiB). */
  readonly maxLineBytes?: number | undefined;
  /** How long `close` waits after closing stdin, and again after SIGTERM, before it is harder. Default 2 000. */
  readonly closeGraceMs?: number | undefined;
  /** Default: Node's. On Windows pass `cross-spawn` to start `.cmd` shims. */
  readonly spawn?: ((command: string, args: readonly string[], options: SpawnOptions) => ChildProcess) | undefined;
  readonly setTimer?: SetTimer | undefined;
}

const isWindows = process.platform === 'win32';
const INHERITED = isWindows
  ? [
      'APPDATA',
      'COMSPEC',
      'HOMEDRIVE',
      'HOMEPATH',
      'LOCALAPPDATA',
      'PATH',
      'PATHEXT',
      'PROCESSOR_ARCHITECTURE',
      'PROGRAMDATA',
      'PROGRAMFILES',
      'SYSTEMDRIVE',
      'SYSTEMROOT',
      'TEMP',
      'USERNAME',
      'USERPROFILE',
      'WINDIR',
    ]
  : ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'];
const STDERR_TAIL = 4096;

/** Groups to end when this process ends. */
const alive = new Set<number>();
let exitHook = false;

/**
 * Speaks JSON-RPC, one message a line, with a child process; usable as the transport of either SDK's client.
 *
 * The process leads a group of its own: `close` and the process's own end reap whatever it started. Lines that are no
 * JSON are told to `onerror` and passed over.
 */
export class StdioTransport implements TransportLike {
  onmessage?: TransportLike['onmessage'];
  onclose?: TransportLike['onclose'];
  onerror?: TransportLike['onerror'];
  /** How the process ended; resolves when it and its group are gone. */
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;

  /** Why the connection was ended from our side, where it was for a fault of the server's. */
  failure?: Error;

  readonly #options: StdioTransportOptions;
  #child: ChildProcess | undefined;
  #stderr = '';
  #chunks: Buffer[] = [];
  #bytes = 0;
  #closed = false;
  #ended!: (how: { code: number | null; signal: string | null }) => void;

  constructor(options: StdioTransportOptions) {
    if (!options.command) throw new TypeError('command is missing: a stdio server needs one');
    this.#options = options;
    this.exit = new Promise((resolve) => {
      this.#ended = resolve;
    });
  }

  /** The process, once started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The end of what the server wrote to stderr. */
  get stderrTail(): string {
    return this.#stderr;
  }

  /** The last line of it, without the values of `env`: a server that refuses its key likes to repeat it. */
  get lastWords(): string {
    const values = Object.values(this.#options.env ?? {}).filter((value) => value.length >= 6);
    const hidden = values.reduce((text, value) => text.replaceAll(value, '***'), this.#stderr);
    return hidden.trim().split('\n').at(-1) ?? '';
  }

  /** @throws the system's error when the command cannot be started */
  start(): Promise<void> {
    const { command, args = [], env, cwd, spawn = spawnProcess } = this.#options;
    if (this.#child) throw new Error('This server has been started already: make a new transport for each process');
    const inherited = INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
    const child = spawn(command, args, {
      env: { ...Object.fromEntries(inherited), ...env },
      ...(cwd !== undefined && { cwd }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: !isWindows,
      windowsHide: true,
    });
    this.#child = child;
    return new Promise((resolve, reject) => {
      child.once('spawn', () => {
        if (child.pid !== undefined) remember(child.pid);
        resolve();
      });
      child.once('error', (error) => {
        reject(error);
        this.#finish(null, null);
      });
      child.on('error', (error) => this.onerror?.(error));
      child.once('exit', (code, signal) => this.#onExit(child, code, signal));
      child.stdin?.on('error', (error) => this.onerror?.(error));
      child.stdout?.on('data', (chunk: Buffer) => this.#onStdout(chunk));
      child.stderr?.on('data', (chunk: Buffer) => {
        const text = chunk.toString();
        this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
        this.#options.onStderr?.(text);
      });
    });
  }

  send(message: unknown): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) return Promise.reject(new ServerExitedError('The server does not run.'));
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(new ServerExitedError(`The server takes no messages: ${error.message}`));
        else resolve();
      });
    });
  }

  /** Closes stdin, then asks, then insists; resolves when the process and its group are gone. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child || child.pid === undefined) return this.#finish(null, null);
    child.stdin?.end();
    if (!(await this.#gone())) {
      this.#signal(child.pid, 'SIGTERM');
      if (!(await this.#gone())) this.#signal(child.pid, 'SIGKILL');
    }
    await this.exit;
  }

  #gone(): Promise<boolean> {
    const { closeGraceMs = 2000, setTimer = setRealTimer } = this.#options;
    return new Promise((resolve) => {
      const cancel = setTimer(() => resolve(false), closeGraceMs);
      this.exit.then(() => {
        cancel();
        resolve(true);
      });
    });
  }

  #onExit(child: ChildProcess, code: number | null, signal: string | null): void {
    // Descendants may hold the pipes open: with the group gone, what is in the pipes is read and they end.
    if (child.pid !== undefined) this.#signal(child.pid, 'SIGKILL');
    const { closeGraceMs = 2000, setTimer = setRealTimer } = this.#options;
    const finish = (): void => {
      cancel();
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      if (child.pid !== undefined) alive.delete(child.pid);
      this.#finish(code, signal);
    };
    // One that left the group may hold them still.
    const cancel = setTimer(finish, closeGraceMs);
    child.once('close', finish);
  }

  /** A group of which some belong to another user, or are zombies on macOS, refuses: that must end nobody else. */
  #signal(pid: number, signal: NodeJS.Signals): void {
    try {
      signalGroup(pid, signal);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #finish(code: number | null, signal: string | null): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ended({ code, signal });
    this.onclose?.();
  }

  #onStdout(chunk: Buffer): void {
    const { maxLineBytes = 10_485_760 } = this.#options;
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#chunks, rest.subarray(0, end)]);
      this.#chunks = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      this.#onLine(line.toString());
    }
    this.#bytes += rest.length;
    if (this.#bytes <= maxLineBytes) {
      if (rest.length > 0) this.#chunks.push(rest);
      return;
    }
    this.#chunks = [];
    this.#bytes = 0;
    this.failure = new Error(`The server sent a line of more than ${maxLineBytes} bytes: the connection is closed`);
    this.onerror?.(this.failure);
    if (this.#child?.pid !== undefined) this.#signal(this.#child.pid, 'SIGKILL');
  }

  #onLine(line: string): void {
    if (!line.trim()) return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.onerror?.(new SyntaxError(`The server wrote a line to stdout that is no JSON: ${line.slice(0, 80)}`));
      return;
    }
    this.onmessage?.(message);
  }
}

/** To the whole group, where there are groups; one that is gone already needs none. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    if (isWindows) spawnProcess('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
    else process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function remember(pid: number): void {
  alive.add(pid);
  if (exitHook) return;
  exitHook = true;
  process.once('exit', () => {
    for (const group of alive) {
      try {
        signalGroup(group, 'SIGKILL');
      } catch {
        // The next one is to be ended all the same, and nobody is left to be told.
      }
    }
  });
}
