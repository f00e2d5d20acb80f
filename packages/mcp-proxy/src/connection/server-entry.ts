/** One upstream as the proxy keeps it: its connection, its tools, and what went wrong last. */
import type { ServerState, ServerStatus } from '../answers.js';
import { connectionErrorCode } from '../errors.js';
import { isAllowed } from '../security/admit.js';
import { approveDefinitions, readPins } from '../security/pins.js';
import { reasonOf } from '../text/clean.js';
import type { IMcpServer, IMcpServerProvider, IMcpServerSpec, IMcpToolInfo } from '../types.js';
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
import { isFresh, type Listing, makeListing, type RawListing, readMetadata, toMetadata } from './listing.js';
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
  readonly #provider: IMcpServerProvider;
  readonly #settings: Settings;
  readonly #onChange: (serverName: string) => void;
  #spec: IMcpServerSpec;
  #server: IMcpServer | undefined;
  #stopListening: () => void = () => {};
  #listing: Listing | undefined;
  #visible: ReadonlyMap<string, IMcpToolInfo> | undefined;
  /** The upstream said that its tools changed since the last list. */
  #outdated = false;
  #failure: Failure | undefined;
  #lastReason: string | undefined;
  #flight: Flight | undefined;
  #deadline: Deadline | undefined;
  #stored: Promise<void> | undefined;
  /** What is being written to the metadata store, one list after another. */
  #saving: Promise<void> = Promise.resolve();
  /** Closing starts a new life: whatever an earlier one still delivers is closed and forgotten. */
  #life = 0;

  constructor(
    spec: IMcpServerSpec,
    provider: IMcpServerProvider,
    settings: Settings,
    onChange: (serverName: string) => void,
  ) {
    this.serverName = spec.serverName;
    this.#spec = spec;
    this.#provider = provider;
    this.#settings = settings;
    this.#onChange = onChange;
  }

  get spec(): IMcpServerSpec {
    return this.#spec;
  }

  setSpec(spec: IMcpServerSpec): void {
    this.#spec = spec;
    this.#visible = undefined;
    this.#onChange(this.serverName);
  }

  /** The tools that may be seen and called, by name; undefined when nothing is known yet. */
  visibleTools(): ReadonlyMap<string, IMcpToolInfo> | undefined {
    if (this.#visible === undefined && this.#listing !== undefined) {
      const tools = this.#listing.accepted.filter((tool) => isAllowed(this.#spec, tool.name));
      this.#visible = new Map(tools.map((tool) => [tool.name, tool]));
    }
    return this.#visible;
  }

  /** Whether the tools can be looked through without asking the server. */
  isKnown(): boolean {
    if (this.#listing === undefined || this.#outdated) return false;
    return isFresh(this.#listing, this.#settings.now(), this.#settings);
  }

  /** Reads the stored tools, once in a life, when nothing better is known. */
  async loadStored(): Promise<void> {
    if (this.#listing !== undefined) return;
    this.#stored ??= this.#readStored();
    await this.#stored;
  }

  /**
   * A living connection whose tools are known. Callers share one attempt; each may give up alone, by its signal, and the
   * attempt goes on for the others. Rejects only with the reason of `signal`.
   */
  async ensure(need: Need, signal?: AbortSignal): Promise<Ensured> {
    signal?.throwIfAborted();
    if (need === 'known' && this.#server !== undefined && this.isKnown())
      return { kind: 'ready', server: this.#server };
    if (need === 'known' && this.#flight === undefined && this.#isBackingOff()) {
      return { kind: 'failed', reason: this.reason() };
    }
    const shared = this.#flight;
    // A relist that began before this wish may have missed what it is about; a connect lists after it has begun anyway.
    const serves = shared !== undefined && (need === 'known' || shared.kind === 'connect' || shared.need === 'fresh');
    return abortable(serves ? shared.done : this.#takeOff(need, shared), signal);
  }

  status(): ServerStatus {
    return {
      serverName: this.serverName,
      state: this.#state(),
      detail: this.#provider.describe?.(this.serverName),
      dropped: this.#listing?.dropped ?? [],
      held: this.#listing?.held.filter((tool) => isAllowed(this.#spec, tool.toolName)) ?? [],
      instructions: this.#listing?.instructions,
      instructionsDiff: this.#listing?.instructionsDiff,
      pinsUnreadable: this.#listing?.pinsUnreadable,
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
    if (tools === 'forget-tools') {
      this.#listing = undefined;
      this.#visible = undefined;
      this.#stored = undefined;
      this.#onChange(this.serverName);
    }
    await pending;
    await within(CLOSE_TIMEOUT_MS, this.#saving, this.serverName, this.#settings);
    if (server !== undefined) await closeServer(server, this.serverName, this.#settings);
  }

  /** The server is no use any more (it broke under a call): the next use connects anew. */
  drop(server: IMcpServer, reason: string): void {
    if (this.#server !== server) return;
    this.#lost(reason);
    void closeServer(server, this.serverName, this.#settings);
  }

  /** Trusts the current definitions (of `toolNames`, or all). Resolves to the names that are no longer held back. */
  async approve(toolNames: readonly string[] | undefined): Promise<readonly string[]> {
    const { pins: store } = this.#settings;
    const listing = this.#listing;
    if (store === undefined || listing === undefined) return [];
    const current = { tools: listing.listed, instructions: listing.givenInstructions };
    // Approving everything is also the way out of pins that cannot be read.
    const rebuild = listing.pinsUnreadable !== undefined && toolNames === undefined;
    const pins = rebuild ? undefined : readPins(await store.load(this.serverName));
    await store.save(this.serverName, await approveDefinitions(pins, current, toolNames));
    const raw = { ...listing, ...current, problems: listing.dropped };
    this.#take(await makeListing(this.serverName, raw, this.#settings));
    const stillHeld = new Set(this.#listing?.held.map((tool) => tool.toolName));
    return listing.held.map((tool) => tool.toolName).filter((name) => !stillHeld.has(name));
  }

  #state(): ServerState {
    if (this.#flight !== undefined && this.#flight.kind === 'connect') return { kind: 'connecting' };
    if (this.#server !== undefined) return { kind: 'connected', tools: this.visibleTools()?.size ?? 0 };
    if (this.#failure !== undefined) return { kind: 'failed', ...this.#failure };
    return { kind: 'not_connected', knownTools: this.visibleTools()?.size, lastReason: this.#lastReason };
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
    const timeoutMs = this.#spec.connectTimeoutMs ?? this.#settings.connectTimeoutMs;
    const deadline = startDeadline(timeoutMs, this.serverName, this.#settings);
    this.#deadline = deadline;
    const startedAt = this.#settings.now();
    const relisted = this.#server;
    try {
      const server = relisted ?? (await this.#connect(deadline));
      this.#outdated = false;
      const raw = await listServer(server, this.#settings, deadline);
      await this.#accept(raw, deadline);
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

  async #accept(raw: RawListing, deadline: Deadline): Promise<void> {
    const listing = await abortable(makeListing(this.serverName, raw, this.#settings), deadline.signal);
    this.#take(listing);
    this.#saving = this.#saving.then(() => this.#save(listing));
  }

  /** No answer waits for the disk; what cannot be remembered is only listed again. */
  async #save(listing: Listing): Promise<void> {
    try {
      await this.#settings.metadata?.save(this.serverName, toMetadata(listing));
    } catch (error) {
      this.#settings.debugLog(`the tools of "${this.serverName}" could not be stored: ${reasonOf(error)}`);
    }
  }

  #failed(error: unknown, relisted: IMcpServer | undefined, startedAt: number): Ensured {
    const reason = reasonOf(error);
    if (relisted !== undefined && this.#server === relisted && connectionErrorCode(error) === undefined) {
      this.#outdated = true;
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
    const stopChanges = server.onToolsChanged?.(() => {
      this.#outdated = true;
      this.#onChange(this.serverName);
    });
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

  #take(listing: Listing): void {
    this.#listing = listing;
    this.#visible = undefined;
    this.#onChange(this.serverName);
  }

  #report(type: 'connected' | 'tools_changed', startedAt: number): void {
    const tools = this.visibleTools()?.size ?? 0;
    const durationMs = this.#settings.now() - startedAt;
    this.#settings.emit({ type, serverName: this.serverName, durationMs, tools });
    this.#settings.debugLog(`"${this.serverName}" ${type.replace('_', ' ')}: ${tools} tools (${durationMs} ms)`);
  }

  async #readStored(): Promise<void> {
    const life = this.#life;
    try {
      const raw = readMetadata(await this.#settings.metadata?.load(this.serverName));
      if (raw === undefined) return;
      const listing = await makeListing(this.serverName, raw, this.#settings);
      if (life === this.#life && this.#listing === undefined) this.#take(listing);
    } catch (error) {
      this.#settings.debugLog(`the stored tools of "${this.serverName}" cannot be read: ${reasonOf(error)}`);
    }
  }
}
