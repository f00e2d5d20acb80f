/** One living connection to an upstream, as the proxy sees it: bounded calls, forwarded progress, and an end that is told. */
import type { Client, LoggingLevel, RequestOptions } from '@modelcontextprotocol/client';
import { McpConnectionError } from '../errors.js';
import type { IMcpCallOptions, IMcpServer, IMcpToolInfo } from '../types.js';
import { CANCELLED, withNeutralSignal, withTimeout } from './bounded.js';
import { CallClock } from './call-clock.js';
import { callFailure, callTimeout, isMethodNotFound } from './call-failure.js';
import { callFate } from './call-fate.js';
import { declaresHeaders, requestCall } from './call-request.js';
import type { UpstreamConfig } from './config.js';
import { messageOf, type UpstreamError } from './errors.js';
import type { HostCalls } from './host-calls.js';
import { type HostChannel, hostChannelOf } from './host-channel.js';
import { InUse } from './in-use.js';
import { answerInputs, isInputRequired } from './input-rounds.js';
import { tellingLateOnesOnce } from './late-messages.js';
import { listAllTools } from './list-tools.js';
import type { OpenedClient } from './open-client.js';
import { failureOf } from './paced.js';
import { redactError, redactResult, redactTexts } from './redact.js';
import { visitPages } from './required-pages.js';
import type { Secrets } from './secrets.js';
import { StdioUpstreamTransport } from './stdio-transport.js';
import { awaitedTimer, realTimer, type SetTimer } from './timers.js';
import { watchToolList } from './tool-list-watch.js';

export interface ConnectionOptions {
  readonly calls: HostCalls;
  /** Taken out of what is told of the server, and of what it answers. */
  readonly secrets: Secrets;
  /** Headers for the calls of one caller, beside those of the configuration. */
  readonly callerHeaders?: (request: { serverName: string; context: unknown }) => HeadersOfCaller;
  readonly debugLog?: (line: string) => void;
  readonly setTimer?: SetTimer;
}

export type HeadersOfCaller = Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;

/** The SDK's own timer only has to be later than ours. */
const BEYOND_OUR_CLOCK_MS = 2 ** 31 - 1;
/** How long ending a session may take, in milliseconds; a process has its own grace beside it. */
const CLOSE_LIMIT_MS = 10_000;
/** Between the list of tools and the call lies the saving of pins: a shorter rest would end every connection before its first call. */
const SHORTEST_REST_MS = 1_000;

export class UpstreamConnection implements IMcpServer {
  readonly #config: UpstreamConfig;
  readonly #opened: OpenedClient;
  readonly #options: ConnectionOptions;
  readonly #closeListeners = new Set<(reason?: unknown) => void>();
  readonly #toolListeners = new Set<() => void>();
  readonly #stopWatching: () => void;
  readonly #inUse: InUse;
  /** Resolves when nothing of the connection is left: no process, no session, no socket. */
  readonly released: Promise<void>;
  #release: () => void = () => undefined;
  #headerTools = new Map<string, IMcpToolInfo>();
  #ttlMs: number | undefined;
  #logLevel: string | undefined;
  #end: { readonly reason: unknown } | undefined;
  #closing: Promise<void> | undefined;

  constructor(config: UpstreamConfig, opened: OpenedClient, options: ConnectionOptions) {
    this.#config = config;
    this.#opened = opened;
    this.#options = options;
    this.released = new Promise((resolve) => {
      this.#release = resolve;
    });
    const { client } = opened;
    client.onclose = () => {
      this.#ended(this.#failure() ?? new Error('the connection was closed by the server'));
      this.#closeWhenUnused();
    };
    client.onerror = tellingLateOnesOnce((error) => this.#tell(error));
    this.#stopWatching = watchToolList(opened, {
      onChanged: () => {
        for (const listener of this.#toolListeners) listener();
      },
      onError: (error) => this.#tell(error),
      setTimer: options.setTimer ?? realTimer,
    });
    const { idleTimeoutMs, lifecycle } = config;
    this.#inUse = new InUse({
      restAfterMs:
        idleTimeoutMs === 0 || lifecycle === 'keep-alive' ? undefined : Math.max(idleTimeoutMs, SHORTEST_REST_MS),
      onRest: () => void this.close(),
      onUnused: () => this.#closeWhenUnused(),
      setTimer: options.setTimer ?? realTimer,
    });
  }

  get alive(): boolean {
    return this.#end === undefined && this.#closing === undefined;
  }

  get era(): 'legacy' | 'modern' {
    return this.#opened.era;
  }

  get client(): Client {
    return this.#opened.client;
  }

  async listTools(signal?: AbortSignal): Promise<IMcpToolInfo[]> {
    return this.#used(async () => {
      try {
        const timeout = this.#config.connectTimeoutMs;
        const list = await withNeutralSignal(signal, (neutral) =>
          this.#opened.run((client) => listAllTools(client, this.#config.serverName, { timeout, signal: neutral })),
        );
        const { hasCredentials, redactCredentials } = this.#options.secrets;
        if (hasCredentials) redactTexts(list.tools, redactCredentials);
        this.#ttlMs = list.ttlMs;
        this.#headerTools = new Map(list.tools.filter(declaresHeaders).map((tool) => [tool.name, tool]));
        return list.tools;
      } catch (error) {
        if (isMethodNotFound(error) && !this.#opened.client.getServerCapabilities()?.tools) return [];
        throw this.#explain(error, 'tools/list', signal);
      }
    });
  }

  async callTool(toolName: string, args: unknown, signal?: AbortSignal, options?: IMcpCallOptions): Promise<unknown> {
    return this.#used(async () => {
      const stop = new AbortController();
      let expired: 'silence' | 'total' | undefined;
      const clock = new CallClock({
        silenceMs: this.#config.callTimeoutMs,
        totalMs: this.#config.maxCallMs,
        onExpired: (bound) => {
          expired = bound;
          stop.abort(CANCELLED);
        },
        ...(this.#options.setTimer && { setTimer: this.#options.setTimer }),
      });
      const onAbort = (): void => stop.abort(CANCELLED);
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      const channel = hostChannelOf(options?.context);
      const call = { toolName, channel, clock, signal: stop.signal };
      const remove = this.#options.calls.add(call);
      this.#wantLogs(channel);
      try {
        const sendOptions = await this.#sendOptions(stop.signal, clock, options);
        const send = (added: Record<string, unknown>): Promise<unknown> =>
          this.#send({ name: toolName, arguments: args, ...added }, channel, sendOptions);
        const names = { serverName: this.#config.serverName, toolName };
        const host = channel && this.#options.calls.hostOf({ ...call, channel });
        const first = await visitPages(() => send({}), { ...names, host });
        const result =
          isInputRequired(first) && host
            ? await answerInputs(first, {
                ...names,
                ask: host.ask,
                retry: send,
                delay: (ms) => new Promise((resolve) => void (this.#options.setTimer ?? awaitedTimer)(resolve, ms)),
              })
            : first;
        return redactResult(result, this.#options.secrets);
      } catch (error) {
        throw expired ? callTimeout(this.#config, toolName, expired) : this.#explain(error, toolName, signal);
      } finally {
        clock.stop();
        remove();
        signal?.removeEventListener('abort', onAbort);
      }
    });
  }

  onToolsChanged(listener: () => void): () => void {
    this.#toolListeners.add(listener);
    return () => this.#toolListeners.delete(listener);
  }

  onClose(listener: (reason?: unknown) => void): () => void {
    if (this.#end) queueMicrotask(() => listener(this.#end?.reason));
    else this.#closeListeners.add(listener);
    return () => this.#closeListeners.delete(listener);
  }

  getInstructions(): string | undefined {
    const instructions = this.#opened.client.getInstructions();
    return instructions && this.#options.secrets.redactCredentials(instructions);
  }

  getServerInfo(): { name: string; version?: string } | undefined {
    const info = this.#opened.client.getServerVersion();
    return info && redactTexts({ ...info }, this.#options.secrets.redactCredentials);
  }

  getToolsTtlMs(): number | undefined {
    return this.#ttlMs;
  }

  /** Ends the connection, and the process with everything that it started. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#ended(undefined);
    const tell = (error: unknown): void => this.#tell(error);
    // A server that does not answer to the end of its session must not keep us; the process is reaped either way.
    await withTimeout(this.#opened.close().catch(tell), CLOSE_LIMIT_MS);
    await this.#opened.transport.close().catch(tell);
    this.#release();
  }

  #ended(reason: unknown): void {
    if (this.#end) return;
    this.#end = { reason };
    this.#inUse.stop();
    this.#stopWatching();
    for (const listener of this.#closeListeners) listener(reason);
    this.#closeListeners.clear();
    this.#toolListeners.clear();
  }

  async #used<T>(work: () => Promise<T>): Promise<T> {
    if (!this.alive) {
      throw new McpConnectionError('NOT_SENT', `The connection to "${this.#config.serverName}" is closed.`);
    }
    return this.#inUse.during(work);
  }

  /**
   * What has ended is released when its last call is through: mcp-era may be making that very call again, on a connection that it
   * has reopened in the other era.
   */
  #closeWhenUnused(): void {
    if (this.#end && this.#inUse.count === 0) void this.close();
  }

  async #sendOptions(signal: AbortSignal, clock: CallClock, options?: IMcpCallOptions): Promise<RequestOptions> {
    const headers = await this.#options.callerHeaders?.({
      serverName: this.#config.serverName,
      context: options?.context,
    });
    return {
      signal,
      timeout: BEYOND_OUR_CLOCK_MS,
      allowInputRequired: true,
      onprogress: ({ progress, total, message }) => {
        clock.touch();
        options?.onProgress?.({
          progress,
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message: this.#options.secrets.redact(message) }),
        });
      },
      ...(headers && { headers }),
    };
  }

  async #send(
    params: Record<string, unknown>,
    channel: HostChannel | undefined,
    options: RequestOptions,
  ): Promise<unknown> {
    const definition = this.#headerTools.get(String(params.name));
    try {
      const request = { params, channel, definition, era: this.era, options };
      return await this.#opened.run((client) => requestCall({ client, ...request }));
    } catch (error) {
      throw redactError(error, this.#options.secrets.redact);
    }
  }

  /** The older era sets its log level for the whole connection; the newer one says it with every request. */
  #wantLogs(channel: HostChannel | undefined): void {
    const level = channel?.logLevel;
    const { client, era } = this.#opened;
    if (level === undefined || level === this.#logLevel || era === 'modern') return;
    if (!client.getServerCapabilities()?.logging) return;
    this.#logLevel = level;
    // Levels come from the host's SDK, which has checked them.
    client.setLoggingLevel(level as LoggingLevel).catch((error) => this.#tell(error));
  }

  #explain(error: unknown, what: string, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    const { redact } = this.#options.secrets;
    redactError(error, redact);
    const failure = this.#failure();
    // A session that the server has forgotten serves nobody any more; a process tells its end by itself.
    if (callFate(error) === 'not-sent' && !(this.#opened.transport instanceof StdioUpstreamTransport)) {
      this.#ended(error);
    }
    const cause = failure ?? error;
    return redactError(callFailure({ config: this.#config, what, error, cause }), redact);
  }

  #failure(): UpstreamError | undefined {
    return failureOf(this.#opened.transport);
  }

  #tell(error: unknown): void {
    this.#options.debugLog?.(`${this.#config.serverName}: ${messageOf(error)}`);
  }
}
