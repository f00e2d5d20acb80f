/** What stands before one server: judges its lists and calls, and knows when its connection ends. */
import type { Awaitable } from '../awaitable.js';
import type { GateSessions } from '../sessions/sessions-types.js';
import type { AttachSettings } from './attach.js';
import { GateAttachError } from './errors.js';
import { type GatedCallOptions, isBeingJudged, type PendingCall, runGated } from './gated-call.js';
import { HeldTasks } from './held-tasks.js';
import type {
  InterceptedServer,
  Interceptor,
  Interceptors,
  Nesting,
  StoredHandler,
  WireRequest,
} from './interception.js';
import { type ChangesOptions, ConnectionChanges, closedNow, PrincipalChanges } from './list-changes.js';
import { type ListSpec, listSpecs } from './list-specs.js';
import { isSession, type Listing, listingFor } from './listing.js';
import { BoundNames, type GatedList } from './names.js';
import {
  argumentsOf,
  type ConnectionFacts,
  factsOf,
  isConnectionAlone,
  type RequestFacts,
  signalOf,
  targetOf,
} from './request-facts.js';
import { eraOf, isRecord, type ProtocolServer } from './server.js';
import { assertSoundServer, isKnownSound } from './soundness.js';
import { sessionKey, stateKeyOfSession } from './state-key.js';
import { Coalescer } from './timers.js';

/** How the lists of a session stand. */
interface ListView {
  readonly key: string;
  readonly closed: ReadonlySet<string>;
}

const NONE: readonly string[] = [];

export class GateGuard {
  readonly interceptors: Interceptors;
  readonly #sessions: GateSessions;
  readonly #settings: AttachSettings;
  readonly #tasks: HeldTasks;
  readonly #coalescer: Coalescer;
  readonly #changes: ConnectionChanges;
  readonly #names: BoundNames;
  readonly #calls: GatedCallOptions;
  /** The keys that live and die with this connection, once they were used. */
  readonly #ownKeys = new Set<string>();
  #sound = false;
  #intercepted: InterceptedServer | undefined;
  /** The key among them that was used last. */
  #lastOwnKey: string | undefined;
  #connection: ConnectionFacts;

  constructor(server: ProtocolServer, sessions: GateSessions, settings: AttachSettings) {
    this.#sessions = sessions;
    this.#settings = settings;
    const { era, principal } = settings;
    this.#connection = {
      era: era === undefined ? eraOf(server) : () => era,
      principal,
      connectionId: newConnectionId(settings),
    };
    this.#tasks = new HeldTasks(server, settings);
    this.#coalescer = new Coalescer(settings.notifyDelayMs, settings.timers);
    this.#changes = new ConnectionChanges(server, this.#changesOptions(this.#coalescer));
    this.#names = new BoundNames(sessions.model.bindings);
    const { refusal, onError } = settings;
    const judging = Symbol('interlock: judging');
    this.#calls = {
      sessions,
      tasks: this.#tasks,
      refusal,
      onError,
      judging,
      stateKey: (pending) => this.#stateKey(pending),
    };
    this.interceptors = this.#buildInterceptors();
  }

  guards(intercepted: InterceptedServer): void {
    this.#intercepted = intercepted;
  }

  settleTask(taskId: string, status: string, result: unknown): Promise<void> {
    return this.#tasks.settle(taskId, status, result);
  }

  /** Another connection is another session. */
  connectionOpened(): void {
    this.#connection = { ...this.#connection, connectionId: newConnectionId(this.#settings) };
  }

  async connectionClosed(): Promise<void> {
    this.#changes.stop();
    this.#coalescer.cancelAll();
    const keys = [...this.#ownKeys];
    this.#ownKeys.clear();
    this.#lastOwnKey = undefined;
    if (this.#settings.onClose === 'keep') return;
    for (const key of keys) {
      try {
        await this.#sessions.end(key);
      } catch (error) {
        this.#settings.onError(error);
      }
    }
  }

  #buildInterceptors(): Interceptors {
    const names = this.#names;
    const list = (spec: ListSpec): Interceptor => {
      return (request, context, handler) => this.#list(request, context, handler, spec);
    };
    const call = (namesOf: (target: string) => readonly string[]): Interceptor => {
      return (request, context, handler, nesting) => this.#call(request, context, handler, nesting, namesOf);
    };
    const task: Interceptor = (request, context, handler) => this.#task(request, context, handler);
    return new Map<string, Interceptor>([
      ...listSpecs(names).map((spec): [string, Interceptor] => [spec.method, list(spec)]),
      ['tools/call', call((name) => names.tool(name))],
      ['prompts/get', call((name) => names.prompt(name))],
      ['resources/read', call((uri) => names.resource(uri))],
      ['tasks/get', task],
      ['tasks/result', task],
      ['tasks/update', task],
      ['tasks/cancel', task],
    ]);
  }

  async #list(request: WireRequest, context: unknown, handler: StoredHandler, spec: ListSpec): Promise<unknown> {
    if (!this.#isSound()) await this.#assertSound(context);
    const result: unknown = await handler(request, context);
    const facts = this.#facts(request, context);
    const listing = listingFor(this.#settings.listing, facts);
    const items = isRecord(result) ? result[spec.field] : undefined;
    if (listing === 'whole' || !isRecord(result) || !Array.isArray(items)) return result;
    const view = await this.#viewOrFail(facts);
    if (view === undefined) return result;
    // Later pages belong to the list that the first one began.
    if (request.params?.cursor === undefined) this.#shown(listing, facts, view, spec.list);
    const { closed } = view;
    const open = items.filter((item) => !spec.isClosed(item, closed));
    const answer = { ...result, [spec.field]: open };
    return listing === 'open-private' ? { ...answer, ttlMs: 0, cacheScope: 'private' } : answer;
  }

  /** Not `async` where nothing is to be waited for: this is on the way of every call. */
  #call(
    request: WireRequest,
    context: unknown,
    handler: StoredHandler,
    { isPossible: mayNest }: Nesting,
    namesOf: (target: string) => readonly string[],
  ): unknown {
    const target = this.#target(request);
    const boundAs = target === undefined ? NONE : namesOf(target);
    const isSound = this.#isSound();
    // Not bound: open to everybody, always. A call without a name is for the SDK to refuse.
    if (boundAs.length === 0 && isSound) return handler(request, context);
    const args = argumentsOf(request);
    const waitSignal = signalOf(context);
    const pending: PendingCall = { request, context, handler, boundAs, args, mayNest, waitSignal };
    if (isSound && !this.#mustFollow(pending)) return this.#judge(pending);
    return this.#prepareAndJudge(pending);
  }

  /** The first call: checks the gate, and notes how the lists stand. */
  async #prepareAndJudge(pending: PendingCall): Promise<unknown> {
    if (!this.#isSound()) await this.#assertSound(pending.context);
    if (pending.boundAs.length === 0) return pending.handler(pending.request, pending.context);
    if (this.#mustFollow(pending)) await this.#follow(this.#facts(pending.request, pending.context));
    return this.#judge(pending);
  }

  #judge(pending: PendingCall): unknown {
    const { request, context, handler } = pending;
    // A handler that wraps the guarded one comes by here again.
    if (isBeingJudged(pending, this.#calls)) return handler(request, context);
    return runGated(pending, this.#calls);
  }

  /** An answer about a task may tell that it has ended. */
  async #task(request: WireRequest, context: unknown, handler: StoredHandler): Promise<unknown> {
    const result: unknown = await handler(request, context);
    const taskId = request.params?.taskId;
    if (typeof taskId !== 'string' || !this.#tasks.holds(taskId)) return result;
    // The answer to tasks/result is the tool's, without a status: that is asked for.
    const about =
      request.method === 'tasks/result'
        ? await this.#intercepted?.original('tasks/get')?.({ method: 'tasks/get', params: { taskId } }, context)
        : result;
    if (isRecord(about)) await this.#tasks.settle(taskId, about.status, about.result);
    return result;
  }

  #isSound(): boolean {
    this.#sound ||= this.#settings.check === 'off' || isKnownSound(this.#sessions);
    return this.#sound;
  }

  async #assertSound(context: unknown): Promise<void> {
    if (this.#intercepted !== undefined) await assertSoundServer(this.#sessions, this.#intercepted, context);
  }

  #facts(request: WireRequest, context: unknown): RequestFacts {
    try {
      return factsOf(request, context, this.#connection);
    } catch (error) {
      throw this.#untold('Who', error);
    }
  }

  /** A name of another type may fail to become a text. */
  #target(request: WireRequest): string | undefined {
    try {
      return targetOf(request);
    } catch (error) {
      throw this.#untold('What', error);
    }
  }

  #untold(what: 'Who' | 'What', error: unknown): GateAttachError {
    this.#settings.onError(error);
    return unavailable(`${what} this request is for cannot be told at the moment, so nothing is done.`, error);
  }

  /** Without a promise where the resolver needs none, and without the facts where it would look at none of them. */
  #stateKey({ request, context }: PendingCall): Awaitable<string | undefined> {
    if (this.#settings.stateKey !== stateKeyOfSession || !isConnectionAlone(context))
      return this.#keyOf(this.#facts(request, context));
    const { connectionId } = this.#connection;
    if (connectionId !== this.#lastOwnKey) this.#remember(connectionId);
    return connectionId;
  }

  #keyOf(facts: RequestFacts): Awaitable<string | undefined> {
    const key = this.#settings.stateKey(facts);
    if (typeof key === 'string' || key === undefined) return this.#own(facts, key);
    return Promise.resolve(key).then((resolved) => this.#own(facts, resolved));
  }

  /** Remembers a key that lives and dies with this connection. */
  #own(facts: RequestFacts, key: unknown): string | undefined {
    if (key === undefined || key === null) return undefined;
    if (typeof key !== 'string' || key === '') {
      throw new GateAttachError(
        'OPTION_INVALID',
        'attachGate: "stateKey" must give a non-empty string, or undefined for none.',
      );
    }
    if (key === facts.connectionId || key === sessionKey(facts)) this.#remember(key);
    return key;
  }

  #remember(key: string): void {
    this.#ownKeys.add(key);
    this.#lastOwnKey = key;
  }

  /** How the lists stand for a request; `undefined` where it belongs to no session. */
  async #view(facts: RequestFacts): Promise<ListView | undefined> {
    const key = await this.#keyOf({ ...facts, name: undefined, arguments: {} });
    return key === undefined ? undefined : { key, closed: await closedNow(this.#sessions, key) };
  }

  async #viewOrFail(facts: RequestFacts): Promise<ListView | undefined> {
    try {
      return await this.#view(facts);
    } catch (error) {
      this.#settings.onError(error);
      throw unavailable('The state of this session cannot be read at the moment, so nothing is listed.', error);
    }
  }

  /**
   * From the first call on, a client that never listed is told of changes too. As `listingFor` has it, but the facts are made only
   * where the answer depends on them.
   */
  #mustFollow({ request, context }: PendingCall): boolean {
    const { listing } = this.#settings;
    if (listing === 'static') return false;
    if (this.#connection.era() === 'legacy')
      return !this.#changes.followsAny && isSession(this.#facts(request, context));
    return listing === 'hide' && this.#facts(request, context).principal !== undefined;
  }

  async #follow(facts: RequestFacts): Promise<void> {
    try {
      const view = await this.#view(facts);
      if (view !== undefined) this.#shown(listingFor(this.#settings.listing, facts), facts, view, undefined);
    } catch {
      // The call that comes next meets the same failure, reports it and is refused.
    }
  }

  #shown(listing: Listing, facts: RequestFacts, view: ListView, list: GatedList | undefined): void {
    if (listing === 'open' && isSession(facts)) this.#changes.shown(view.key, list, view.closed);
    const { listeners } = this.#settings;
    if (listing !== 'open-private' || facts.principal === undefined || listeners === undefined) return;
    const { notifyDelayMs, timers } = this.#settings;
    const options = this.#changesOptions(new Coalescer(notifyDelayMs, timers));
    PrincipalChanges.of(listeners, options).shown(view.key, facts.principal, list, view.closed);
  }

  #changesOptions(coalescer: Coalescer): ChangesOptions {
    return { sessions: this.#sessions, coalescer, onError: this.#settings.onError };
  }
}

function newConnectionId({ randomId }: AttachSettings): string {
  return `connection:${randomId()}`;
}

/** What the client is told; the cause went to `onError`, it may name hosts that are nobody's business there. */
function unavailable(what: string, cause: unknown): GateAttachError {
  return new GateAttachError('STATE_UNAVAILABLE', `${what} Try again later.`, { cause });
}
