/** The calls that run on one connection, so that what the upstream asks meanwhile reaches the host that the call came from. */
import { type Client, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import type { CallClock } from './call-clock.js';
import { messageOf } from './errors.js';
import { type HostChannel, type HostRequestMethod, hostCan, type LogEntry } from './host-channel.js';
import { redactTexts } from './redact.js';
import type { PageHost } from './required-pages.js';
import type { Secrets } from './secrets.js';

/** One call on its way. */
export interface RunningCall {
  readonly toolName: string;
  readonly channel: HostChannel | undefined;
  readonly clock: CallClock;
  readonly signal: AbortSignal;
}

/** Pages may never be visited; of those that are waited for, so many are kept, the last ones. */
const MAX_PAGES = 100;

export class HostCalls {
  readonly #serverName: string;
  readonly #secrets: Secrets;
  readonly #running = new Set<RunningCall>();
  /** Who was sent to a page by a call that is over, by the id of the page. */
  readonly #pages = new Map<string, HostChannel>();

  constructor(serverName: string, secrets: Secrets) {
    this.#serverName = serverName;
    this.#secrets = secrets;
  }

  get size(): number {
    return this.#running.size;
  }

  add(call: RunningCall): () => void {
    this.#running.add(call);
    return () => this.#running.delete(call);
  }

  /** Answers the requests of an upstream of the older era. Capabilities must have been declared on the client. */
  serve(client: Client, methods: readonly HostRequestMethod[]): void {
    for (const method of methods) {
      // The host's answer is checked by the SDK against the method's own schema before it goes to the upstream.
      client.setRequestHandler(
        method,
        (request, ctx) => this.ask(this.#caller(method), method, request.params ?? {}, ctx.mcpReq.signal) as never,
      );
    }
  }

  /** Hands a log entry to every host that has a call running here. */
  log(entry: LogEntry): boolean {
    const hosts = this.#hosts();
    for (const channel of hosts) channel.log?.(entry);
    return hosts.length > 0;
  }

  /** The host of a call, to ask or to tell that pages must be visited first. */
  hostOf(call: RunningCall & { readonly channel: HostChannel }): PageHost {
    const { channel } = call;
    return {
      capabilities: channel.capabilities,
      ask: (method, params) => this.ask(call, method, params),
      ...(channel.pagesRequired && {
        pagesRequired: (pages) => {
          for (const { elicitationId } of pages) this.#waitFor(elicitationId, channel);
          channel.pagesRequired?.(pages);
        },
      }),
    };
  }

  /** Tells whom it concerns: the host that was sent to that page, or those that have a call running here. */
  elicitationComplete(elicitationId: string): void {
    const waiting = this.#pages.get(elicitationId);
    this.#pages.delete(elicitationId);
    for (const channel of waiting ? [waiting] : this.#hosts()) channel.elicitationComplete?.(elicitationId);
  }

  #waitFor(elicitationId: string, channel: HostChannel): void {
    this.#pages.set(elicitationId, channel);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest);
  }

  #hosts(): readonly HostChannel[] {
    const channels = [...this.#running].flatMap(({ channel }) => (channel ? [channel] : []));
    return [...new Map(channels.map((channel) => [channel.hostId, channel])).values()];
  }

  /** Asks the host of one call, with the call's clock suspended meanwhile. */
  async ask(
    call: RunningCall & { readonly channel: HostChannel },
    method: HostRequestMethod,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal = call.signal,
  ): Promise<unknown> {
    if (!hostCan(call.channel.capabilities, method, params)) {
      throw refusal(`Server "${this.#serverName}" asked for ${method}, which the host of this call does not support.`);
    }
    const safe = this.#secrets.hasCredentials ? redactTexts(params, this.#secrets.redactCredentials) : params;
    const resume = call.clock.suspend();
    try {
      return await call.channel.request(method, safe, AbortSignal.any([signal, call.signal]));
    } catch (error) {
      throw error instanceof ProtocolError ? error : refusal(`The host did not answer ${method}: ${messageOf(error)}`);
    } finally {
      resume();
    }
  }

  /**
   * The older protocol does not say which call a request belongs to. With one host there is no doubt; with several, a question
   * could reach the wrong person, so nobody is asked.
   */
  #caller(method: HostRequestMethod): RunningCall & { readonly channel: HostChannel } {
    const calls = [...this.#running].filter((call) => call.channel !== undefined);
    const [first] = calls;
    if (!first?.channel) {
      throw refusal(`Server "${this.#serverName}" asked for ${method} while no call that could answer it was running.`);
    }
    if (calls.some((call) => call.channel?.hostId !== first.channel?.hostId)) {
      throw refusal(
        `Server "${this.#serverName}" asked for ${method} while calls of several hosts were running; ` +
          'it cannot be told whom it means. Try again.',
      );
    }
    return { ...first, channel: first.channel };
  }
}

function refusal(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
}
