/** The transport of a local server: a child in a process group of its own, with bounded input and a reaped end. */
import { type ChildProcess, spawn as nodeSpawn, type SpawnOptions } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { McpConnectionError } from '../errors.js';
import { cleanText } from '../text/clean.js';
import { spawnCommand } from './command-line.js';
import { UpstreamError } from './errors.js';
import { DEFAULT_FLOOD_LIMIT, FloodGate, type FloodLimit } from './flood-gate.js';
import { LineSplitter, LineTooLongError } from './lines.js';
import { groupGone, registerGroup, signalGroup, unregisterGroup } from './process-groups.js';
import type { Redactor } from './secrets.js';

export interface StdioTransportOptions {
  /** Named in errors. */
  readonly serverName: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the few variables that are safe to inherit (`PATH`, `HOME`, …); nothing else of ours reaches the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The longest message in bytes; a longer one ends the connection. Default 16 MiB. */
  readonly maxMessageBytes?: number;
  /** How many messages that answer nothing are bearable. */
  readonly flood?: FloodLimit;
  /** How long the child may take to leave after its input ended, and again after SIGTERM, in milliseconds. Default 2,000. */
  readonly closeGraceMs?: number;
  readonly redact?: Redactor;
  readonly onStderr?: (text: string) => void;
  readonly spawn?: (command: string, args: readonly string[], options: SpawnOptions) => ChildProcess;
  readonly now?: () => number;
}

const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const DEFAULT_CLOSE_GRACE_MS = 2_000;
const STDERR_TAIL_CHARS = 2_000;
/** A line of stderr that is longer is told in parts. */
const MAX_STDERR_LINE_CHARS = 64 * 1024;

/** An SDK transport; one process for its whole life. */
export class StdioUpstreamTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #options: StdioTransportOptions;
  readonly #lines: LineSplitter;
  readonly #gate: FloodGate;
  readonly #now: () => number;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #released: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #closedByUs = false;
  /** Requests without an answer: what answers one of them is no flood. */
  readonly #pending = new Set<string | number>();
  #failure: UpstreamError | undefined;
  #exit: string | undefined;
  #delivered: Promise<void> = Promise.resolve();
  #stderr = '';
  readonly #stderrDecoder = new StringDecoder('utf8');
  #stderrLine = '';

  constructor(options: StdioTransportOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#lines = new LineSplitter(options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES);
    this.#gate = new FloodGate(options.flood ?? DEFAULT_FLOOD_LIMIT, this.#now());
  }

  /** The leader of the child's process group. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The end of what the child wrote to stderr, without control characters and secrets. */
  get stderr(): string {
    return (this.#stderr + this.#safe(this.#stderrLine)).slice(-STDERR_TAIL_CHARS);
  }

  /** Why the connection is gone; undefined while it lives and after a `close` of ours. */
  get failure(): UpstreamError | undefined {
    if (this.#failure) return this.#failure;
    if (this.#exit === undefined || this.#closedByUs) return undefined;
    const detail = this.stderr.trim();
    return new UpstreamError(
      'UPSTREAM_EXITED',
      this.#options.serverName,
      `Server "${this.#options.serverName}" ${this.#exit}${detail ? `; it said: ${detail.slice(-500)}` : ''}`,
    );
  }

  start(): Promise<void> {
    const { serverName, cwd } = this.#options;
    if (this.#child) throw new Error(`Server "${serverName}" was started already; make a new transport`);
    const env = { ...getDefaultEnvironment(), ...this.#options.env };
    const line = spawnCommand(this.#options.command, this.#options.args, { env: { ...process.env, ...env } });
    const child = (this.#options.spawn ?? nodeSpawn)(line.command, [...line.args], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: a wrapper such as npx is ended together with what it started.
      detached: process.platform !== 'win32',
      windowsHide: true,
      ...(line.windowsVerbatimArguments && { windowsVerbatimArguments: true }),
      ...(cwd !== undefined && { cwd }),
    });
    this.#child = child;
    if (child.pid !== undefined) registerGroup(child.pid);
    this.#listen(child);
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (cause) => reject(this.#spawnFailure(cause)));
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable || this.#exit !== undefined || this.#closing) {
      return Promise.reject(this.#notSent());
    }
    if ('id' in message && 'method' in message) this.#pending.add(message.id);
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (error) reject(this.#notSent(error));
        else resolve();
      });
    });
  }

  /** Ends the input, then asks, then kills; the whole group is gone afterwards. */
  close(): Promise<void> {
    if (!this.#closing) {
      this.#closedByUs = this.#exit === undefined;
      this.#closing = this.#end();
    }
    return this.#closing;
  }

  #listen(child: ChildProcess): void {
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit ??= signal ? `was ended by ${signal}` : `exited with code ${code}`;
        resolve();
      });
      child.once('error', () => resolve());
    });
    this.#released = new Promise((resolve) => child.once('close', () => resolve()));
    // `close` comes after the last byte of stdout, `exit` may come before it: an answer must not be lost.
    child.once('close', () => void this.#delivered.then(() => this.close()).then(() => this.onclose?.()));
    child.on('error', (error) => this.onerror?.(error));
    child.stdin?.on('error', (error) => this.onerror?.(error));
    child.stdout?.on('error', (error) => this.onerror?.(error));
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr?.on('data', (chunk: Buffer) => this.#keepStderr(chunk));
    for (const ended of ['end', 'close']) child.stderr?.on(ended, () => this.#endStderr());
    // A helper that left the group may hold our pipes open long after the server itself is gone.
    void this.#exited.then(() => setTimeout(() => this.#dropPipes(), this.#graceMs).unref());
  }

  #read(chunk: Buffer): void {
    if (this.#failure || this.#closedByUs) return;
    try {
      const lines = this.#lines.push(chunk);
      this.#delivered = this.#delivered.then(() => this.#deliverAll(lines));
    } catch (error) {
      if (!(error instanceof LineTooLongError)) throw error;
      this.#fail('UPSTREAM_MESSAGE_TOO_LARGE', `sent a message that is too large: ${error.message}`);
    }
  }

  async #deliverAll(lines: readonly string[]): Promise<void> {
    for (const line of lines) {
      if (this.#failure) return;
      this.#deliver(line);
      // The SDK handles a notification a moment later and a response at once: without this pause, the progress of a call that
      // arrives together with its result would come too late to be told.
      await undefined;
    }
  }

  #deliver(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      // Banners and stray prints on stdout are common; they are noise, not a fault.
      this.onerror?.(new Error(`Server "${this.#options.serverName}" wrote a line to stdout that is no JSON; ignored`));
      return;
    }
    if (typeof message !== 'object' || message === null) return;
    const answers = 'id' in message && !('method' in message) && this.#pending.delete(message.id as string | number);
    if (!answers && !this.#gate.admit(this.#now())) {
      this.#fail('UPSTREAM_FLOOD', 'floods the connection with messages that nobody asked for');
      return;
    }
    // The SDK's protocol layer tells requests, responses and notifications apart, and reports what is neither.
    this.onmessage?.(message as JSONRPCMessage);
  }

  /** Line by line: a secret, a character or an escape sequence may be spread over two chunks. */
  #keepStderr(chunk: Buffer): void {
    this.#stderrLine += this.#stderrDecoder.write(chunk);
    const end = this.#stderrLine.lastIndexOf('\n') + 1;
    const whole = end === 0 && this.#stderrLine.length > MAX_STDERR_LINE_CHARS ? this.#stderrLine.length : end;
    this.#tellStderr(this.#stderrLine.slice(0, whole));
    this.#stderrLine = this.#stderrLine.slice(whole);
  }

  #endStderr(): void {
    this.#tellStderr(this.#stderrLine + this.#stderrDecoder.end());
    this.#stderrLine = '';
  }

  #tellStderr(raw: string): void {
    if (raw === '') return;
    const safe = this.#safe(raw);
    this.#stderr = (this.#stderr + safe).slice(-STDERR_TAIL_CHARS);
    this.#options.onStderr?.(safe);
  }

  #safe(raw: string): string {
    const text = cleanText(raw);
    return this.#options.redact?.(text) ?? text;
  }

  #fail(code: 'UPSTREAM_FLOOD' | 'UPSTREAM_MESSAGE_TOO_LARGE', what: string): void {
    this.#failure = new UpstreamError(code, this.#options.serverName, `Server "${this.#options.serverName}" ${what}.`);
    this.onerror?.(this.#failure);
    if (this.pid !== undefined) signalGroup(this.pid, 'SIGKILL');
  }

  async #end(): Promise<void> {
    const child = this.#child;
    const pid = child?.pid;
    if (!child || pid === undefined) return;
    child.stdin?.end();
    await this.#leaves(pid);
    if (signalGroup(pid, 0)) signalGroup(pid, 'SIGTERM');
    if (!(await groupGone(pid, this.#graceMs))) signalGroup(pid, 'SIGKILL');
    await this.#exited;
    await groupGone(pid, this.#graceMs);
    unregisterGroup(pid);
    this.#dropPipes();
    await this.#released;
  }

  /** Waits for the leader; a leader that has gone leaves nothing to wait for. */
  async #leaves(pid: number): Promise<void> {
    if (this.#exit !== undefined) return;
    const timer = new AbortController();
    const grace = new Promise<void>((resolve) => {
      const handle = setTimeout(resolve, this.#graceMs);
      timer.signal.addEventListener('abort', () => clearTimeout(handle));
    });
    await Promise.race([this.#exited, grace]);
    timer.abort();
    // The leader has left by itself: give what it started the moment that the same end of input takes there.
    if (this.#exit !== undefined) await groupGone(pid, Math.min(this.#graceMs, 100));
  }

  #dropPipes(): void {
    this.#child?.stdout?.destroy();
    this.#child?.stderr?.destroy();
    this.#child?.stdin?.destroy();
  }

  #notSent(cause?: Error): McpConnectionError {
    return new McpConnectionError(
      'NOT_SENT',
      `Server "${this.#options.serverName}" is not running; the request was not sent.`,
      { cause: this.failure ?? cause },
    );
  }

  #spawnFailure(cause: Error): UpstreamError {
    const { serverName, command } = this.#options;
    const missing = 'code' in cause && cause.code === 'ENOENT';
    return new UpstreamError(
      'UPSTREAM_CONNECT_FAILED',
      serverName,
      missing
        ? `Server "${serverName}": command "${command}" was not found${this.#options.cwd ? ` (or its cwd "${this.#options.cwd}")` : ''}. Install it, or give its full path.`
        : `Server "${serverName}": "${command}" could not be started: ${cause.message}`,
      { cause },
    );
  }

  get #graceMs(): number {
    return this.#options.closeGraceMs ?? DEFAULT_CLOSE_GRACE_MS;
  }
}
