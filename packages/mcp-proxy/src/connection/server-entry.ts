/** One upstream as the proxy keeps it: its connection, what went wrong last, and (in `tools`) what it offers. */
import type { ServerState, ServerStatus } from '../answers.js';
import { connectionErrorCode } from '../errors.js';
import { reasonOf } from '../text/clean.js';
import type { IMcpServer, IMcpServerProvider, IMcpServerSpec } from '../types.js';
import { abortable } from './abort.js';
import {
  CLOSE_TIMEOUT_MS,
  closeServer,
  type Deadline,
  listServer,
  openServer,
  startDeadline,
  within,
} from './bring-up.js';
import { KnownTools } from './known-tools.js';
import type { Settings } from './settings.js';

/** `fresh`: the tools are listed anew, and a back-off is ignored. `known`: what is known and still valid is enough. */
export type Need = 'known' | 'fresh';

export type Ensured =
  | { readonly kind: 'ready'; readonly server: IMcpServer }
  /** Connected, but the tools could not be listed anew; the earlier list stands. */
  | { readonly kind: 'stale'; readonly server: IMcpServer; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

interface Failure {
  readonly reason: string;
  readonly attempts: number;
  readonly nextTryAt: number;
}

interface Flight {
  /** `connect` opens a connection and lists; `relist` lists on a living one. */
  readonly kind: 'connect' | 'relist';
  readonly need: Need;
  readonly done: Promise<Ensured>;
}

export class ServerEntry {
  readonly serverName: string;
  readonly tools: KnownTools;
  readonly #provider: IMcpServerProvider;
  readonly #settings: Settings;
  #server: IMcpServer | undefined;
  #stopListening: () => void = () => {};
  #failure: Failure | undefined;
  #lastReason: string | undefined;
  #flight: Flight | undefined;
  #deadline: Deadline | undefined;
  /** Closing starts a new life: whatever an earlier one still delivers is closed and forgotten. */
  #life = 0;
  #retired = false;

  constructor(
    spec: IMcpServerSpec,
    provider: IMcpServerProvider,
    settings: Settings,
    onChange: (serverName: string) => void,
  ) {
    this.serverName = spec.serverName;
    this.tools = new KnownTools(spec, settings, () => onChange(spec.serverName));
    this.#provider = provider;
    this.#settings = settings;
  }

  get spec(): IMcpServerSpec {
    return this.tools.spec;
  }

  /**
   * A living connection whose tools are known. Callers share one attempt; each may give up alone, by its signal, and the
   * attempt goes on for the others. Rejects only with the reason of `signal`.
   */
  async ensure(need: Need, signal?: AbortSignal): Promise<Ensured> {
    signal?.throwIfAborted();
    if (this.#retired) return { kind: 'failed', reason: 'it is no longer configured' };
    const shared = this.#flight;
    if (need === 'known') {
      // Until a new connection has listed its tools, those that are known are those of an earlier one.
      const settled = shared?.kind !== 'connect' && this.tools.isFresh();
      if (this.#server !== undefined && settled) return { kind: 'ready', server: this.#server };
      if (shared === undefined && this.#isBackingOff()) return { kind: 'failed', reason: this.reason() };
    }
    // A relist that began before this wish may have missed what it is about; a connect lists after it has begun anyway.
    const serves = shared !== undefined && (need === 'known' || shared.kind === 'connect' || shared.need === 'fresh');
    return abortable(serves ? shared.done : this.#takeOff(need, shared), signal);
  }

  status(): ServerStatus {
    const { listing } = this.tools;
    return {
      serverName: this.serverName,
      state: this.#state(),
      detail: this.#provider.describe?.(this.serverName),
      dropped: listing?.dropped ?? [],
      held: this.tools.held(),
      instructions: listing?.instructions,
      instructionsDiff: listing?.instructionsDiff,
      pinsUnreadable: listing?.pinsUnreadable,
    };
  }

  /** Why this server cannot be used now, in one line. */
  reason(): string {
    return this.#failure?.reason ?? this.#lastReason ?? 'not connected';
  }

  /** Closes the connection, also one that is still being made. The entry can be used again. */
  async close(tools: 'keep-tools' | 'forget-tools' = 'keep-tools'): Promise<void> {
    this.#life += 1;
    this.#deadline?.abort(new Error(`"${this.serverName}" was closed while it was connecting.`));
    const pending = this.#flight?.done;
    this.#flight = undefined;
    const server = this.#detach();
    this.#failure = undefined;
    this.#lastReason = undefined;
    if (tools === 'forget-tools') this.tools.forget();
    await pending;
    await within(CLOSE_TIMEOUT_MS, this.tools.saved(), this.serverName, this.#settings);
    if (server !== undefined) await closeServer(server, this.serverName, this.#settings);
  }

  /** The server was taken out of the configuration: handles to its tools that somebody still holds lead nowhere. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.close('forget-tools');
  }

  /** The server is no use any more (it broke under a call): the next use connects anew. */
  drop(server: IMcpServer, reason: string): void {
    if (this.#server !== server) return;
    this.#lost(reason);
    void closeServer(server, this.serverName, this.#settings);
  }

  #state(): ServerState {
    if (this.#flight?.kind === 'connect') return { kind: 'connecting' };
    if (this.#server !== undefined) return { kind: 'connected', tools: this.tools.visible()?.size ?? 0 };
    if (this.#failure !== undefined) return { kind: 'failed', ...this.#failure };
    return { kind: 'not_connected', knownTools: this.tools.visible()?.size, lastReason: this.#lastReason };
  }

  #isBackingOff(): boolean {
    return this.#failure !== undefined && this.#settings.now() < this.#failure.nextTryAt;
  }

  #takeOff(need: Need, after: Flight | undefined): Promise<Ensured> {
    const life = this.#life;
    const kind = this.#server === undefined ? 'connect' : 'relist';
    const done = (after?.done ?? Promise.resolve()).then(() => this.#bringUp(life));
    const flight: Flight = { kind, need, done };
    this.#flight = flight;
    // `done` never rejects: every failure is an `Ensured`.
    return done.finally(() => {
      if (this.#flight === flight) this.#flight = undefined;
    });
  }

  async #bringUp(life: number): Promise<Ensured> {
    if (life !== this.#life) return { kind: 'failed', reason: 'closed' };
    const timeoutMs = this.spec.connectTimeoutMs ?? this.#settings.connectTimeoutMs;
    const deadline = startDeadline(timeoutMs, this.serverName, this.#settings);
    this.#deadline = deadline;
    const startedAt = this.#settings.now();
    const relisted = this.#server;
    try {
      const server = relisted ?? (await this.#connect(deadline));
      await this.#list(server, deadline);
      if (this.#server !== server) return { kind: 'failed', reason: this.reason() };
      this.#failure = undefined;
      this.#report(relisted === undefined ? 'connected' : 'tools_changed', startedAt);
      return { kind: 'ready', server };
    } catch (error) {
      return life === this.#life
        ? this.#failed(error, relisted, startedAt)
        : { kind: 'failed', reason: reasonOf(error) };
    } finally {
      deadline.end();
    }
  }

  async #connect(deadline: Deadline): Promise<IMcpServer> {
    this.#settings.emit({ type: 'connecting', serverName: this.serverName });
    const server = await openServer(this.#provider, this.serverName, this.#settings, deadline);
    this.#attach(server);
    return server;
  }

  async #list(server: IMcpServer, deadline: Deadline): Promise<void> {
    this.tools.startListing();
    const raw = await listServer(server, this.#settings, deadline);
    this.tools.takeLive(await abortable(this.tools.make(raw), deadline.signal));
  }

  #failed(error: unknown, relisted: IMcpServer | undefined, startedAt: number): Ensured {
    const reason = reasonOf(error);
    if (relisted !== undefined && this.#server === relisted && connectionErrorCode(error) === undefined) {
      this.tools.failListing();
      this.#settings.debugLog(`"${this.serverName}" could not list its tools anew: ${reason}`);
      return { kind: 'stale', server: relisted, reason };
    }
    const server = this.#detach();
    if (server !== undefined) void closeServer(server, this.serverName, this.#settings);
    const { initialMs, factor, maxMs } = this.#settings.backoff;
    const attempts = (this.#failure?.attempts ?? 0) + 1;
    const nextTryAt = this.#settings.now() + Math.min(maxMs, initialMs * factor ** (attempts - 1));
    this.#failure = { reason, attempts, nextTryAt };
    const durationMs = this.#settings.now() - startedAt;
    this.#settings.emit({ type: 'connect_failed', serverName: this.serverName, durationMs, reason, nextTryAt });
    this.#settings.debugLog(`"${this.serverName}" could not be connected: ${reason}`);
    return { kind: 'failed', reason };
  }

  #attach(server: IMcpServer): void {
    this.#server = server;
    const stopChanges = server.onToolsChanged?.(() => this.tools.markOutdated());
    const stopClose = server.onClose?.((reason) => {
      if (this.#server === server) this.#lost(reason === undefined ? undefined : reasonOf(reason));
    });
    this.#stopListening = () => {
      stopChanges?.();
      stopClose?.();
    };
  }

  #detach(): IMcpServer | undefined {
    const server = this.#server;
    this.#server = undefined;
    this.#stopListening();
    this.#stopListening = () => {};
    return server;
  }

  #lost(reason: string | undefined): void {
    this.#detach();
    this.#lastReason = reason;
    this.#settings.emit({ type: 'disconnected', serverName: this.serverName, reason });
    if (reason !== undefined) this.#settings.debugLog(`"${this.serverName}" was lost: ${reason}`);
  }

  #report(type: 'connected' | 'tools_changed', startedAt: number): void {
    const tools = this.tools.visible()?.size ?? 0;
    const durationMs = this.#settings.now() - startedAt;
    this.#settings.emit({ type, serverName: this.serverName, durationMs, tools });
    this.#settings.debugLog(`"${this.serverName}" ${type.replace('_', ' ')}: ${tools} tools (${durationMs} ms)`);
  }
}
