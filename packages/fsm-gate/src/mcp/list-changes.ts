/** Tells clients that a list changed: only those whose list it is, only when what they saw is no longer so, once for a burst. */
import type { GateSessions } from '../sessions/sessions-types.js';
import { type GatedList, listOf } from './names.js';
import { declaredListChanged, type ProtocolServer } from './server.js';
import type { Coalescer } from './timers.js';

/** What both kinds of notifier work with. */
export interface ChangesOptions {
  readonly sessions: GateSessions;
  readonly coalescer: Coalescer;
  /** Gets what failed; a notification that cannot be delivered is never an unhandled rejection. */
  readonly onError: (error: unknown) => void;
}

/** What a client was last shown of each list: the names that were closed then. */
type Shown = Readonly<Record<GatedList, ReadonlySet<string>>>;

const LISTS: readonly GatedList[] = ['tools', 'prompts', 'resources'];

/** One list was shown; for a client of which nothing is known yet, that is how all lists stood. */
function afterShowing(before: Shown | undefined, list: GatedList | undefined, closed: ReadonlySet<string>): Shown {
  const known = before ?? { tools: closed, prompts: closed, resources: closed };
  return list === undefined ? known : { ...known, [list]: closed };
}

/** The lists that are not as they were shown. */
function staleLists(shown: Shown, now: ReadonlySet<string>): readonly GatedList[] {
  return LISTS.filter((list) => {
    const before = shown[list];
    if (before === now) return false;
    const differs = (names: ReadonlySet<string>, others: ReadonlySet<string>): boolean =>
      [...names].some((name) => listOf(name) === list && !others.has(name));
    return differs(before, now) || differs(now, before);
  });
}

/** The closed names of a session, as it stands. Never writes: a session that only lists is not stored. */
export async function closedNow(sessions: GateSessions, key: string): Promise<ReadonlySet<string>> {
  return (await sessions.inspect(key)).closed;
}

/** How many sessions one connection follows; more than one only where a `stateKey` of the application says so. */
const MAX_KEYS = 100;

/** Notifies the client of one connection: a legacy session, or stdio. */
export class ConnectionChanges {
  readonly #options: ChangesOptions;
  readonly #server: ProtocolServer;
  /** What the client was last shown, by the key that its list depends on. */
  readonly #shown = new Map<string, Shown>();
  readonly #unsubscribe = new Map<string, () => void>();

  constructor(server: ProtocolServer, options: ChangesOptions) {
    this.#server = server;
    this.#options = options;
  }

  get followsAny(): boolean {
    return this.#unsubscribe.size > 0;
  }

  /** The client saw a list (`undefined`: none yet, but its session stands so) with these names closed. */
  shown(key: string, list: GatedList | undefined, closed: ReadonlySet<string>): void {
    this.#shown.set(key, afterShowing(this.#shown.get(key), list, closed));
    const [oldest] = this.#unsubscribe.keys();
    if (oldest !== undefined && this.#unsubscribe.size >= MAX_KEYS && !this.#unsubscribe.has(key)) this.#forget(oldest);
    this.#follow(key);
  }

  /** The connection is gone: nothing more is sent. */
  stop(): void {
    for (const key of [...this.#unsubscribe.keys()]) this.#forget(key);
  }

  /** Anew each time: the application may have ended the session meanwhile, and its listeners went with it. */
  #follow(key: string): void {
    this.#unsubscribe.get(key)?.();
    const { coalescer, sessions } = this.#options;
    const flush = (): void => void this.#flush(key);
    const unsubscribe = sessions.onChange(key, ({ visibleChanged }) => {
      if (visibleChanged) coalescer.schedule(key, flush);
    });
    this.#unsubscribe.set(key, unsubscribe);
  }

  #forget(key: string): void {
    this.#unsubscribe.get(key)?.();
    this.#unsubscribe.delete(key);
    this.#shown.delete(key);
  }

  async #flush(key: string): Promise<void> {
    try {
      const closed = await closedNow(this.#options.sessions, key);
      const shown = this.#shown.get(key);
      if (shown === undefined) return;
      this.#follow(key);
      this.#shown.set(key, { tools: closed, prompts: closed, resources: closed });
      for (const list of staleLists(shown, closed)) await this.#send(list);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #send(list: GatedList): Promise<void> {
    // A server that declared no list changes has promised its client silence.
    if (declaredListChanged(this.#server, list) !== true) return;
    switch (list) {
      case 'tools':
        return this.#server.sendToolListChanged();
      case 'prompts':
        return this.#server.sendPromptListChanged();
      case 'resources':
        return this.#server.sendResourceListChanged();
    }
  }
}

/**
 * Where changes of a principal's lists go in the modern era, whose notifications reach `subscriptions/listen` streams and not
 * connections. `createPrincipalHandlers` is one; with several processes, publish to all of them and call theirs.
 */
export interface PrincipalListeners {
  toolsChanged(principal: string): void;
  promptsChanged?(principal: string): void;
  resourcesChanged?(principal: string): void;
}

interface ShownToPrincipal {
  readonly principal: string;
  readonly shown: Shown;
}

const MAX_PRINCIPALS = 10_000;
const attached = new WeakMap<GateSessions, Map<PrincipalListeners, PrincipalChanges>>();

/** Notifies principals. One for each pair of sessions and listeners, since a modern server lives for one request only. */
export class PrincipalChanges {
  readonly #options: ChangesOptions;
  readonly #listeners: PrincipalListeners;
  readonly #shown = new Map<string, ShownToPrincipal>();

  static of(listeners: PrincipalListeners, options: ChangesOptions): PrincipalChanges {
    const bySessions = attached.get(options.sessions) ?? new Map<PrincipalListeners, PrincipalChanges>();
    attached.set(options.sessions, bySessions);
    const known = bySessions.get(listeners);
    if (known !== undefined) return known;
    const changes = new PrincipalChanges(listeners, options);
    bySessions.set(listeners, changes);
    return changes;
  }

  private constructor(listeners: PrincipalListeners, options: ChangesOptions) {
    this.#listeners = listeners;
    this.#options = options;
    options.sessions.onChange((change) => {
      if (!change.visibleChanged || !this.#shown.has(change.key)) return;
      options.coalescer.schedule(change.key, () => void this.#flush(change.key));
    });
  }

  /** The principal saw a list (`undefined`: none yet) with these names closed. The least recent are forgotten beyond 10,000. */
  shown(key: string, principal: string, list: GatedList | undefined, closed: ReadonlySet<string>): void {
    const before = this.#shown.get(key);
    this.#shown.delete(key);
    this.#shown.set(key, { principal, shown: afterShowing(before?.shown, list, closed) });
    if (this.#shown.size <= MAX_PRINCIPALS) return;
    const [oldest] = this.#shown.keys();
    if (oldest !== undefined) this.#shown.delete(oldest);
  }

  async #flush(key: string): Promise<void> {
    try {
      const closed = await closedNow(this.#options.sessions, key);
      const known = this.#shown.get(key);
      if (known === undefined) return;
      const { principal, shown } = known;
      this.#shown.set(key, { principal, shown: { tools: closed, prompts: closed, resources: closed } });
      for (const list of staleLists(shown, closed)) this.#tell(list, principal);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #tell(list: GatedList, principal: string): void {
    switch (list) {
      case 'tools':
        this.#listeners.toolsChanged(principal);
        break;
      case 'prompts':
        this.#listeners.promptsChanged?.(principal);
        break;
      case 'resources':
        this.#listeners.resourcesChanged?.(principal);
        break;
      default:
        list satisfies never;
    }
  }
}
