/**
 * Stands between an SDK server and its request handlers. Both generations look a handler up in the private map
 * `_requestHandlers` for every request; the gate puts a map in its place whose lookups answer with the guarded handler. So it
 * makes no difference whether a handler was registered before or after, through `registerTool`, `setRequestHandler` or the
 * fallback, and the SDK's own work (validation of results, progress, cancellation, multi-round-trip results) stays inside.
 */
import { GateAttachError } from './errors.js';
import type { ProtocolServer } from './server.js';

/** A request as the SDKs hand it to a stored handler. */
export interface WireRequest {
  readonly method: string;
  readonly params?: Record<string, unknown> | undefined;
}

/** A handler as the SDKs store it; the second argument is v1's `extra` or v2's `ctx`. */
export type StoredHandler = (request: WireRequest, context: unknown) => unknown;

/** Answers a request in place of its handler, which it may call. */
export type Interceptor = (request: WireRequest, context: unknown, handler: StoredHandler, nesting: Nesting) => unknown;

/** Whether a guarded handler may be called from within another one of the same method. */
export interface Nesting {
  /** A handler was registered after a guarded one had been handed out, so it may be a wrapper around that one. */
  isPossible: boolean;
}

/** What is intercepted, by method. */
export type Interceptors = ReadonlyMap<string, Interceptor>;

/** The handlers of a server that has a gate. */
export interface InterceptedServer {
  /** The handler as it was registered, without the gate; `undefined` when there is none. */
  original(method: string): StoredHandler | undefined;
}

/** What is read of a server's private side; checked at run time before it is used. */
interface HandlerHolder {
  _requestHandlers?: unknown;
  fallbackRequestHandler?: StoredHandler;
}

/**
 * Puts the interceptors in place. Throws `GateAttachError` where that would not protect anything: fail closed.
 */
export function interceptRequests(server: ProtocolServer, interceptors: Interceptors): InterceptedServer {
  // The map is private in both SDKs; nothing is assumed about it that is not checked below.
  const holder = server as unknown as HandlerHolder;
  const handlers = holder._requestHandlers;
  if (handlers instanceof GuardedHandlers) {
    throw new GateAttachError(
      'ALREADY_ATTACHED',
      'This server has a gate already. A second one would not see what the first refused: attach one gate, and put two ' +
        'workflows into one machine with parallel states (@mcp-interlock/fsm-gate/xstate).',
    );
  }
  if (!(handlers instanceof Map) || !isConsulted(server, handlers)) throw unsupportedSdk();
  const guarded = new GuardedHandlers(handlers, interceptors, () => holder.fallbackRequestHandler);
  holder._requestHandlers = guarded;
  if (!isConsulted(server, guarded)) throw unsupportedSdk();
  return { original: (method) => guarded.original(method) };
}

/** Whether the server looks handlers up in this very map, told by the public method that asks it for one. */
function isConsulted(server: ProtocolServer, handlers: Map<string, StoredHandler>): boolean {
  const probe = 'interlock/probe';
  handlers.set(probe, () => ({}));
  try {
    server.assertCanSetRequestHandler(probe);
    return false;
  } catch {
    // It throws because it found the probe: that is the evidence.
    return true;
  } finally {
    handlers.delete(probe);
  }
}

function unsupportedSdk(): GateAttachError {
  return new GateAttachError(
    'UNSUPPORTED_SDK',
    'This server keeps its request handlers where the gate cannot stand before them, so no gate was attached. Use ' +
      '@modelcontextprotocol/sdk 1.32 or later, @modelcontextprotocol/server 2.4 or later, or update @mcp-interlock/fsm-gate.',
  );
}

/** A handler map whose lookups answer with the guarded handler. Writing and iterating are the map's own. */
class GuardedHandlers extends Map<string, StoredHandler> {
  readonly #interceptors: Interceptors;
  readonly #fallback: () => StoredHandler | undefined;
  readonly #guarded = new Map<string, Guarded>();

  constructor(
    handlers: Map<string, StoredHandler>,
    interceptors: Interceptors,
    fallback: () => StoredHandler | undefined,
  ) {
    super(handlers);
    this.#interceptors = interceptors;
    this.#fallback = fallback;
  }

  original(method: string): StoredHandler | undefined {
    return super.get(method) ?? this.#fallback();
  }

  override get(method: string): StoredHandler | undefined {
    const handler = this.original(method);
    const known = this.#guarded.get(method);
    if (known !== undefined && known.handler === handler) return known.guard;
    const intercept = this.#interceptors.get(method);
    if (intercept === undefined) return super.get(method);
    if (handler === undefined) return undefined;
    const nesting = known?.nesting ?? { isPossible: false };
    if (known !== undefined) nesting.isPossible = true;
    const guard: StoredHandler = (request, context) => intercept(request, context, handler, nesting);
    this.#guarded.set(method, { handler, guard, nesting });
    return guard;
  }
}

interface Guarded {
  readonly handler: StoredHandler;
  readonly guard: StoredHandler;
  /** One for all guarded handlers of a method: those handed out earlier must know too. */
  readonly nesting: Nesting;
}
