/** What is known of the tools of one server, from its own list or from the store; and which of them may be used. */
import { isAllowed } from '../security/admit.js';
import { approveDefinitions, type HeldTool, readPins } from '../security/pins.js';
import { reasonOf } from '../text/clean.js';
import type { IMcpServerSpec, IMcpToolInfo } from '../types.js';
import { isFresh, type Listing, makeListing, type RawListing, readMetadata, toMetadata } from './listing.js';
import type { Settings } from './settings.js';

export class KnownTools {
  readonly #serverName: string;
  readonly #settings: Settings;
  readonly #onChange: () => void;
  #spec: IMcpServerSpec;
  #listing: Listing | undefined;
  #visible: ReadonlyMap<string, IMcpToolInfo> | undefined;
  #outdated = false;
  #stored: Promise<void> | undefined;
  /** What is being written to the store, one list after another. */
  #saving: Promise<void> = Promise.resolve();
  /** Forgetting starts a new life: what an earlier one still reads from the store is dropped. */
  #life = 0;

  constructor(spec: IMcpServerSpec, settings: Settings, onChange: () => void) {
    this.#serverName = spec.serverName;
    this.#spec = spec;
    this.#settings = settings;
    this.#onChange = onChange;
  }

  get listing(): Listing | undefined {
    return this.#listing;
  }

  get spec(): IMcpServerSpec {
    return this.#spec;
  }

  setSpec(spec: IMcpServerSpec): void {
    this.#spec = spec;
    this.#visible = undefined;
    this.#onChange();
  }

  /** The tools that may be seen and called, by name; undefined when nothing is known yet. */
  visible(): ReadonlyMap<string, IMcpToolInfo> | undefined {
    if (this.#visible === undefined && this.#listing !== undefined) {
      const tools = this.#listing.accepted.filter((tool) => isAllowed(this.#spec, tool.name));
      this.#visible = new Map(tools.map((tool) => [tool.name, tool]));
    }
    return this.#visible;
  }

  held(): readonly HeldTool[] {
    return this.#listing?.held.filter((tool) => isAllowed(this.#spec, tool.toolName)) ?? [];
  }

  /** Whether the tools can be looked through without asking the server. */
  isFresh(): boolean {
    if (this.#listing === undefined || this.#outdated) return false;
    return isFresh(this.#listing, this.#settings.now(), this.#settings);
  }

  /** The upstream said that its tools are others now. */
  markOutdated(): void {
    this.#outdated = true;
    this.#onChange();
  }

  /** What is announced from here on concerns the list after the one that is asked for now. */
  startListing(): void {
    this.#outdated = false;
  }

  /** A new list could not be had. */
  failListing(): void {
    this.#outdated = true;
  }

  async make(raw: RawListing): Promise<Listing> {
    return makeListing(this.#serverName, raw, this.#settings);
  }

  /** Takes a list of the server's own, and remembers it. */
  takeLive(listing: Listing): void {
    this.#take(listing);
    this.#saving = this.#saving.then(() => this.#save(listing));
  }

  /** Reads the stored tools, once in a life, when nothing better is known. */
  async loadStored(): Promise<void> {
    if (this.#listing !== undefined) return;
    this.#stored ??= this.#readStored();
    await this.#stored;
  }

  /** Resolves when everything that was taken is stored. */
  async saved(): Promise<void> {
    await this.#saving;
  }

  forget(): void {
    this.#life += 1;
    this.#listing = undefined;
    this.#visible = undefined;
    this.#stored = undefined;
    this.#onChange();
  }

  /** Trusts the current definitions (of `toolNames`, or all). Resolves to the names that are no longer held back. */
  async approve(toolNames: readonly string[] | undefined): Promise<readonly string[]> {
    const { pins: store } = this.#settings;
    const listing = this.#listing;
    if (store === undefined || listing === undefined) return [];
    const current = { tools: listing.listed, instructions: listing.givenInstructions };
    // Approving everything is also the way out of pins that cannot be read.
    const rebuild = listing.pinsUnreadable !== undefined && toolNames === undefined;
    const pins = rebuild ? undefined : readPins(await store.load(this.#serverName));
    await store.save(this.#serverName, await approveDefinitions(pins, current, toolNames));
    this.#take(await this.make({ ...listing, ...current, problems: listing.dropped }));
    const stillHeld = new Set(this.#listing?.held.map((tool) => tool.toolName));
    return listing.held.map((tool) => tool.toolName).filter((name) => !stillHeld.has(name));
  }

  #take(listing: Listing): void {
    this.#listing = listing;
    this.#visible = undefined;
    this.#onChange();
  }

  /** No answer waits for the disk; what cannot be remembered is only listed again. */
  async #save(listing: Listing): Promise<void> {
    try {
      await this.#settings.metadata?.save(this.#serverName, toMetadata(listing));
    } catch (error) {
      this.#settings.debugLog(`the tools of "${this.#serverName}" could not be stored: ${reasonOf(error)}`);
    }
  }

  async #readStored(): Promise<void> {
    const life = this.#life;
    try {
      const raw = readMetadata(await this.#settings.metadata?.load(this.#serverName));
      if (raw === undefined) return;
      const listing = await this.make(raw);
      if (life === this.#life && this.#listing === undefined) this.#take(listing);
    } catch (error) {
      this.#settings.debugLog(`the stored tools of "${this.#serverName}" cannot be read: ${reasonOf(error)}`);
    }
  }
}
