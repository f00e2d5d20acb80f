/** One connection of an official client: asked for, opened with the prior verdict, healed once when that proves wrong. */
import { ServerExitedError } from '../exit-error.js';
import type { EraRequest, EraResolution, EraResolver } from '../resolver.js';
import { exitOf, probeTransport, type TransportLike } from '../transport.js';
import type { McpEra, McpEraProbe, McpEraProbeAnswer } from '../types.js';
import { asProbeError, mayBeMismatch, provesModern, wantsSse, wasNotCarriedOut } from './mismatch.js';
import type { ConnectOptions, EraConnection } from './options.js';
import { priorOf } from './prior.js';
import { createProbe, createTransport } from './reach.js';
import { type ConnectableClient, generationOf, SdkMissingError } from './sdk.js';
import { describeTarget, type EraTarget } from './target.js';
import { watchTransport } from './watch.js';

/** Asking again because of a doubtful refusal happens at most this often, in milliseconds. */
const DOUBT_EVERY_MS = 30_000;

/** @internal `connectClient` with everything at hand. */
export class Connection<C extends ConnectableClient> implements EraConnection<C> {
  readonly client: C;
  readonly #target: EraTarget;
  readonly #options: ConnectOptions<C>;
  readonly #resolver: EraResolver;
  readonly #request: Omit<EraRequest, 'signal'>;
  readonly #canHeal: boolean;
  readonly #now: () => number;

  #resolution: EraResolution | undefined;
  /** Open, and either asked over or attached to the client. */
  #transport: TransportLike | undefined;
  #attached: TransportLike | undefined;
  #attaching: Promise<void> | undefined;
  /** How often the client was connected: tells whether it was reconnected while something ran. */
  #epoch = 0;
  /** The server has answered a request of this era. */
  #proven = false;
  #useSse: boolean;
  #healing: Promise<boolean> | undefined;
  /** Operations under way: a reconnect that can wait breaks none of them off. */
  #running = 0;
  /** An answer that came when its time was up, and has not been acted on. */
  #late: McpEraProbeAnswer | undefined;
  #lastDoubt = Number.NEGATIVE_INFINITY;
  #lastLook: number;
  #closed = false;

  constructor(target: EraTarget, client: C, options: ConnectOptions<C>, resolver: EraResolver, authContext?: string) {
    this.client = client;
    this.#target = target;
    this.#options = options;
    this.#resolver = resolver;
    this.#now = options.now ?? Date.now;
    this.#lastLook = this.#now();
    this.#useSse = target.type === 'http-sse';
    // Clients of 1.x speak the legacy era only: there is nothing to ask.
    const pin = options.pin ?? (generationOf(client) === 'v1' ? 'legacy' : undefined);
    this.#canHeal = pin === undefined && !this.#useSse;
    const { key, kind, serverName } = describeTarget(target, options.key);
    const probe = createProbe(target, options);
    this.#request = {
      key,
      serverName,
      transport: kind,
      probe: probe ?? this.#askInPlace,
      probeSupported: !this.#useSse,
      pin,
      authContext,
      revalidate: probe ? 'background' : 'inline',
    };
  }

  get era(): McpEra {
    return this.resolution.era;
  }

  get resolution(): EraResolution {
    if (!this.#resolution) throw new Error('The connection is not open yet');
    return this.#resolution;
  }

  async open(): Promise<this> {
    const { signal } = this.#options;
    try {
      this.#resolution = await this.#resolver.resolve({ ...this.#request, signal });
      await this.#attach().catch((error: unknown) => this.#reopen(error));
      await this.#healing;
      if (this.#late) await this.#heard(this.#late);
      return this;
    } catch (error) {
      this.#closed = true;
      await this.#detach();
      throw signal?.aborted ? signal.reason : error;
    }
  }

  async run<T>(operation: (client: C) => Promise<T>): Promise<T> {
    await this.#look();
    const epoch = this.#epoch;
    const era = this.era.kind;
    this.#running++;
    try {
      return await operation(this.client);
    } catch (error) {
      await this.#doubt(error);
      // What broke off because the client was reconnected meanwhile may have been carried out: it is not done twice.
      if (this.#epoch === epoch || !wasNotCarriedOut(error, era)) throw error;
      return await operation(this.client);
    } finally {
      this.#running--;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#healing?.catch(() => {});
    const { terminateSession } = (this.#attached ?? {}) as { terminateSession?: () => Promise<void> };
    if (this.#attached?.sessionId) await terminateSession?.call(this.#attached).catch(this.#tell);
    await this.#detach();
  }

  readonly #tell = (error: unknown): void => this.#options.onError?.(error);

  /** The first opening failed: in the other era, or over the older transport, it may succeed. */
  async #reopen(error: unknown): Promise<void> {
    // Its answer came late and the connection is being made in the other era already.
    if (await this.#healing) return;
    const resolution = this.resolution;
    await this.#detach();
    this.#options.signal?.throwIfAborted();
    if (generationOf(this.client) === 'v1' && provesModern(error)) {
      const { serverName } = this.#request;
      throw new SdkMissingError(
        `${serverName} speaks only the modern protocol, and this client only the legacy one: use a client of @modelcontextprotocol/client`,
        { cause: error },
      );
    }
    const suspect = mayBeMismatch(error, { era: resolution.era.kind, opening: true });
    if (suspect && this.#canHeal && (resolution.fromCache || !wantsSse(error)) && (await this.#heal(error))) return;
    const streamable = this.#target.type === 'streamable-http' || this.#target.type === 'streamable_http';
    if (streamable && resolution.era.kind === 'legacy' && wantsSse(error)) {
      this.#useSse = true;
      // What it says there counts for less than what it said first.
      return this.#attach().catch(() => Promise.reject(error));
    }
    // Silence, or an exit, was all there was to go by, and the handshake has not borne it out.
    const { rule } = resolution.evidence;
    if (rule === 'silence on stdio' || rule === 'an exit' || rule === 'cached') {
      await this.#resolver.reportMismatch(this.#request.key, resolution.era.kind, this.#request);
    }
    throw error;
  }

  #attach(): Promise<void> {
    this.#attaching = this.#attachOnce();
    return this.#attaching;
  }

  async #attachOnce(): Promise<void> {
    const { signal, connectTimeoutMs } = this.#options;
    this.#transport ??= await this.#createTransport();
    const transport = this.#transport;
    this.#attached = transport;
    this.#proven = false;
    const prior = generationOf(this.client) === 'v2' ? { prior: priorOf(this.resolution) } : {};
    await this.client.connect(transport, {
      ...prior,
      ...(signal && this.#epoch === 0 && { signal }),
      ...(connectTimeoutMs !== undefined && { timeout: connectTimeoutMs }),
    });
    this.#epoch++;
  }

  async #detach(): Promise<void> {
    const open = new Set([this.#attached, this.#transport]);
    const attached = this.#attached;
    this.#attached = undefined;
    this.#transport = undefined;
    if (attached) await this.client.close().catch(this.#tell);
    // A client that fails to connect closes itself, which must not hit the next transport.
    await this.#attaching?.catch(() => {});
    for (const transport of open) await transport?.close().catch(this.#tell);
  }

  async #createTransport(): Promise<TransportLike> {
    const http = { kind: this.#useSse ? 'sse' : 'streamable', generation: generationOf(this.client) } as const;
    const transport = await createTransport(this.#target, http, this.#options);
    return watchTransport(transport, {
      onResult: () => {
        if (transport === this.#attached) this.#proven = true;
      },
      // Whoever uses the client directly gets the error; the connection is put right all the same.
      onRefusal: (error) => {
        if (transport === this.#attached && this.#epoch > 0) this.#doubt(error).catch(this.#tell);
      },
      onLateAnswer: (answer) => {
        if (transport === this.#attached) this.#heard(answer).catch(this.#tell);
        else this.#late = answer;
      },
      onClose: () => {
        if (transport === this.#transport) this.#transport = undefined;
      },
    });
  }

  /** Asks over the transport that becomes the connection. */
  readonly #askInPlace: McpEraProbe = async (version, { signal } = {}) => {
    const { clientInfo, capabilities, setTimer, probeTimeoutMs } = this.#options;
    const timeoutMs = probeTimeoutMs ?? (this.#request.transport === 'http' ? 10_000 : 3000);
    let transport: TransportLike | undefined;
    try {
      transport = this.#transport ?? (await this.#createTransport());
      // Whoever was to close it may be gone by now.
      if (this.#closed) throw new Error('The connection was closed before its transport was made');
      this.#transport = transport;
      await transport.start();
      const answer = await probeTransport(transport, version, {
        clientInfo,
        capabilities,
        setTimer,
        timeoutMs,
        signal,
      });
      if (answer.kind !== 'error' || !(answer.error instanceof ServerExitedError)) return answer;
      // The process is spent. The connection starts with a fresh one.
      this.#transport = undefined;
      return await exitOf(transport, answer);
    } catch (error) {
      this.#transport = undefined;
      await transport?.close().catch(this.#tell);
      return { kind: 'error', error };
    }
  };

  /** A refusal that may mean the other era: asks, and reconnects if it does. */
  async #doubt(error: unknown): Promise<void> {
    if (this.#healing) return void (await this.#healing);
    if (this.#closed || !this.#canHeal || !mayBeMismatch(error, { era: this.era.kind, opening: false })) return;
    // A modern error leaves no doubt; what legacy servers answer, modern ones may answer too.
    if (this.era.kind === 'modern' && this.#now() - this.#lastDoubt < DOUBT_EVERY_MS) return;
    this.#lastDoubt = this.#now();
    await this.#heal(error);
  }

  /** The question was answered after all, when silence had been taken for a legacy server. */
  async #heard(answer: McpEraProbeAnswer): Promise<void> {
    // Where it had been answered in time, the first answer counts and this is a second one.
    if (this.resolution.evidence.rule !== 'silence on stdio') return;
    if (this.#closed || !this.#canHeal || this.#healing) return;
    this.#late = this.#running > 0 ? answer : undefined;
    if (!this.#late) await this.#heal(undefined, answer);
  }

  #heal(error: unknown, answer?: McpEraProbeAnswer): Promise<boolean> {
    return this.#alone(() => this.#healOnce(error, answer));
  }

  /** One reconnect at a time; whoever comes meanwhile waits for it. */
  #alone(heal: () => Promise<boolean>): Promise<boolean> {
    this.#healing ??= heal().finally(() => {
      this.#healing = undefined;
    });
    return this.#healing;
  }

  async #healOnce(error: unknown, answer?: McpEraProbeAnswer): Promise<boolean> {
    const from = this.era.kind;
    const proven = this.#proven;
    try {
      let next = await this.#askAgain(from, answer);
      // It says modern and does not do it: its refusal is the answer to a modern request, and counts.
      const refusal = next.era.kind === from && from === 'modern' && !proven && asProbeError(error);
      if (refusal) next = await this.#askAgain(from, { kind: 'error', error: refusal });
      this.#resolution = next;
      if (next.era.kind === from) return false;
    } catch (failure) {
      this.#tell(failure);
      return false;
    }
    await this.#switch(from);
    return true;
  }

  async #askAgain(from: McpEra['kind'], answer?: McpEraProbeAnswer): Promise<EraResolution> {
    const { key } = this.#request;
    await this.#resolver.reportMismatch(key, from, this.#request);
    const probe: McpEraProbe | undefined = answer && (async () => answer);
    return this.#resolver.resolve({ ...this.#request, retryNow: true, ...(probe && { probe }) });
  }

  /** Reconnects in the era that the resolution now has. */
  async #switch(from: McpEra['kind']): Promise<void> {
    const asked = this.#transport === this.#attached ? undefined : this.#transport;
    if (asked) this.#transport = undefined;
    await this.#detach();
    this.#transport = asked;
    await this.#attach().catch(async (error: unknown) => {
      await this.#detach();
      throw error;
    });
    const { era, evidence } = this.resolution;
    this.#options.onHeal?.({ from, to: era.kind, evidence });
  }

  /** Whether the verdict has changed since, by its age or by what others found. */
  async #look(): Promise<void> {
    const { lookEveryMs = 60_000 } = this.#options;
    if (this.#healing) await this.#healing;
    // The reconnect in the other era had failed.
    if (!this.#closed && !this.#attached) await this.#attach();
    if (this.#closed || !this.#canHeal || this.#running > 0) return;
    if (this.#late) await this.#heard(this.#late);
    if (this.#now() - this.#lastLook < lookEveryMs) return;
    this.#lastLook = this.#now();
    await this.#alone(async () => {
      const from = this.era.kind;
      try {
        this.#resolution = await this.#resolver.resolve(this.#request);
      } catch (error) {
        this.#tell(error);
        return false;
      }
      if (this.era.kind === from) return false;
      await this.#switch(from);
      return true;
    });
  }
}
