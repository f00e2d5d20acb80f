/**
 * Modern HTTP for many principals, each with listeners of their own. The SDK's `handler.notify.toolsChanged()` reaches every
 * listener of a handler, and its event bus does not know who subscribes; so each principal gets a handler and a bus, kept in a
 * least-recently-used map. Web standards only.
 */
import type { PrincipalListeners } from './list-changes.js';
import { type RequestAuth, subjectOf } from './request-facts.js';

/** What is published to listen streams; the shape of the SDK's `ServerEvent`. */
export type ListenEvent = { readonly kind: ListChange } | { readonly kind: 'resource_updated'; readonly uri: string };

type ListChange = 'tools_list_changed' | 'prompts_list_changed' | 'resources_list_changed';

/** Publishes to the listen streams of one principal; the shape of the SDK's `ServerEventBus`. */
export interface ListenBus {
  publish(event: ListenEvent): void;
  subscribe(listener: (event: ListenEvent) => void): () => void;
}

/** What `createMcpHandler` returns, as far as it is used here. */
export interface FetchHandler<Options> {
  readonly fetch: (request: Request, options?: Options) => Promise<Response>;
  readonly close: () => Promise<void>;
}

/** What `fetch` is told of a request, as `createMcpHandler` takes it. */
interface PrincipalRequestOptions {
  readonly authInfo?: RequestAuth;
}

/** Options of `createPrincipalHandlers`. */
export interface PrincipalHandlersOptions<Options extends object> {
  /** Makes the handler of one principal: on the given bus, with the given listeners for `attachGate` in its factory. */
  readonly create: (bus: ListenBus, listeners: PrincipalListeners) => FetchHandler<Options>;
  /** Who a request is for; the same function as in `attachGate`. Default: the token's subject, `extra.sub` (and `extra.iss`). */
  readonly principal?: (auth: RequestAuth) => string | undefined;
  /** How many handlers are kept; those with open listeners are never dropped. Default 1,000 (about 1 KB each). */
  readonly maxPrincipals?: number;
  /** Gets what a listener threw. Default `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/** A handler for all principals, and the sink for their changes: the `listeners` of `attachGate`. */
export interface PrincipalHandlers<Options> extends FetchHandler<Options>, Required<PrincipalListeners> {}

interface Entry<Options> {
  readonly bus: CountingBus;
  readonly handler: FetchHandler<Options>;
}

/**
 * @example
 * ```ts
 * const handlers = createPrincipalHandlers({
 *   create: (bus, listeners) =>
 *     createMcpHandler(
 *       ({ era }) => {
 *         const server = buildServer();
 *         attachGate(server, sessions, { era, listing: 'hide', listeners });
 *         return server;
 *       },
 *       { bus },
 *     ),
 * });
 * export default { fetch: (request) => handlers.fetch(request, { authInfo: authenticate(request) }) };
 * ```
 */
export function createPrincipalHandlers<Options extends object>(
  options: PrincipalHandlersOptions<Options>,
): PrincipalHandlers<Options> {
  const principalOf = options.principal ?? subjectOf;
  const max = options.maxPrincipals ?? 1_000;
  const onError = options.onError ?? console.error;
  /** Anonymous requests share one handler, which no principal's change reaches. */
  const entries = new Map<string | undefined, Entry<Options>>();

  const entryOf = (principal: string | undefined): Entry<Options> => {
    const bus = entries.get(principal)?.bus ?? new CountingBus(onError);
    const entry = entries.get(principal) ?? { bus, handler: options.create(bus, listeners) };
    entries.delete(principal);
    entries.set(principal, entry);
    dropIdle(principal);
    return entry;
  };
  const dropIdle = (inUse: string | undefined): void => {
    let surplus = entries.size - max;
    for (const [principal, entry] of entries) {
      if (surplus <= 0) return;
      if (principal === inUse || entry.bus.listenerCount > 0) continue;
      // Not closed: an exchange may still be streaming; it ends by itself.
      entries.delete(principal);
      surplus -= 1;
    }
  };
  const publish = (principal: string, kind: ListChange): void => entries.get(principal)?.bus.publish({ kind });
  const listeners: Required<PrincipalListeners> = {
    toolsChanged: (principal) => publish(principal, 'tools_list_changed'),
    promptsChanged: (principal) => publish(principal, 'prompts_list_changed'),
    resourcesChanged: (principal) => publish(principal, 'resources_list_changed'),
  };

  return {
    fetch: async (request, requestOptions) => {
      const auth = authOf(requestOptions);
      const entry = entryOf(auth === undefined ? undefined : principalOf(auth));
      return entry.handler.fetch(request, requestOptions);
    },
    close: async () => {
      const open = [...entries.values()];
      entries.clear();
      await Promise.all(open.map(({ handler }) => handler.close()));
    },
    ...listeners,
  };
}

function authOf(options: object | undefined): RequestAuth | undefined {
  // The SDK's options carry `authInfo`; every field of it is checked where it is read.
  return (options as PrincipalRequestOptions | undefined)?.authInfo;
}

class CountingBus implements ListenBus {
  readonly #listeners = new Set<(event: ListenEvent) => void>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  publish(event: ListenEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  subscribe(listener: (event: ListenEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
