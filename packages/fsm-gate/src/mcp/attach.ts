/** `attachGate`: puts a gate before the tools, prompts and resources of an SDK server. */
import { errorHook } from '../error-hook.js';
import type { GateSessions } from '../sessions/sessions-types.js';
import { GateAttachError } from './errors.js';
import { GateGuard } from './guard.js';
import { interceptRequests } from './interception.js';
import type { PrincipalListeners } from './list-changes.js';
import type { ListingMode } from './listing.js';
import { type RefusalRenderer, renderRefusal } from './refusals.js';
import { type RequestAuth, subjectOf } from './request-facts.js';
import {
  type AttachableServer,
  declareToolListChanges,
  type ProtocolEra,
  type ProtocolServer,
  protocolServerOf,
  type TransportLike,
  transportOf,
} from './server.js';
import { type StateKeyResolver, stateKeyOfSession } from './state-key.js';
import { type McpTimers, systemTimers } from './timers.js';

/** Options of `attachGate`. */
export interface AttachGateOptions {
  /** How lists are shown. Default `auto`. */
  readonly listing?: ListingMode;
  /** Which session a request belongs to. Default `stateKeyOfSession`: session id, else principal, else the (non-HTTP) connection. */
  readonly stateKey?: StateKeyResolver;
  /** Who a request is authorised for. Default: the token's subject, `extra.sub` (with `extra.iss`). */
  readonly principal?: (auth: RequestAuth) => string | undefined;
  /** The factory's `ctx.era`, where a factory makes the server. Default: the version that the server negotiated. */
  readonly era?: ProtocolEra;
  /** Words a refused tool call. Default `renderRefusal`: `isError` with a text that leads on. */
  readonly refusal?: RefusalRenderer;
  /** Where changes of a principal's lists go in the modern era; see `createPrincipalHandlers`. */
  readonly listeners?: PrincipalListeners;
  /**
   * What happens to the state of a legacy session or a stdio connection when its transport closes. Default `end`: it is freed.
   * `keep`: it stays in the store until its own time to live, for sessions that are rehydrated in another process.
   */
  readonly onClose?: 'end' | 'keep';
  /** Whether bindings are compared with the registered tools before the first request is answered. Default `strict`. */
  readonly check?: 'strict' | 'off';
  /** How long changes are gathered before one `list_changed` is sent, in milliseconds. Default 10. */
  readonly notifyDelayMs?: number;
  /** Gets what failed where the client is told no more than that it failed, or nothing at all. Default `console.error`. */
  readonly onError?: (error: unknown) => void;
  readonly timers?: McpTimers;
  /** Names a connection. Default `crypto.randomUUID`. */
  readonly randomId?: () => string;
}

/** A server that has a gate. */
export interface AttachedGate {
  /**
   * Tells how a task ended, for servers that keep their tasks elsewhere than in the v1 SDK's task store and whose clients may never
   * ask for it: `completed` moves the session (unless the result is an `isError`), `failed` and `cancelled` leave it.
   */
  settleTask(taskId: string, status: 'completed' | 'failed' | 'cancelled', result?: unknown): Promise<void>;
}

/**
 * Filters the lists, enforces at call time and moves the session on success only. Call it before or after tools are registered,
 * before the server is connected. With `createMcpHandler` and `serveStdio` call it in the factory, for each server.
 *
 * @throws `GateAttachError` where the gate would not protect: `NOT_A_SERVER`, `UNSUPPORTED_SDK`, `ALREADY_ATTACHED`, `OPTION_INVALID`.
 * @example
 * ```ts
 * const sessions = createGateSessions({ gate });
 * attachGate(server, sessions);
 * await server.connect(transport);
 * ```
 */
export function attachGate(
  server: AttachableServer,
  sessions: GateSessions,
  options: AttachGateOptions = {},
): AttachedGate {
  const target = protocolServerOf(server);
  const settings = settingsOf(options);
  const guard = new GateGuard(target, sessions, settings);
  guard.guards(interceptRequests(target, guard.interceptors));
  const declare = (): void => {
    if (settings.listing !== 'static') declareToolListChanges(target);
  };
  // Now for createMcpHandler, which asks without connecting; again at connecting, for what is declared in between.
  declare();
  onConnection(target, {
    opened: () => {
      declare();
      guard.connectionOpened();
    },
    closed: () => void guard.connectionClosed(),
  });
  return { settleTask: (taskId, status, result) => guard.settleTask(taskId, status, result) };
}

/** The options with their defaults. */
export type AttachSettings = Required<Omit<AttachGateOptions, 'listeners' | 'era'>> &
  Pick<AttachGateOptions, 'listeners' | 'era'>;

function settingsOf(options: AttachGateOptions): AttachSettings {
  const settings = {
    listing: 'auto',
    stateKey: stateKeyOfSession,
    principal: subjectOf,
    refusal: renderRefusal,
    onClose: 'end',
    check: 'strict',
    notifyDelayMs: 10,
    timers: systemTimers,
    randomId: () => crypto.randomUUID(),
    ...definedOnly(options),
    onError: errorHook(options.onError ?? console.error),
  } satisfies AttachSettings;
  assertOneOf('listing', settings.listing, ['auto', 'hide', 'static']);
  assertOneOf('onClose', settings.onClose, ['end', 'keep']);
  assertOneOf('check', settings.check, ['strict', 'off']);
  if (!Number.isFinite(settings.notifyDelayMs) || settings.notifyDelayMs < 0) {
    throw new GateAttachError(
      'OPTION_INVALID',
      'attachGate: "notifyDelayMs" must be a number of milliseconds, 0 or more.',
    );
  }
  return settings;
}

/** An option that is `undefined` is not given. */
function definedOnly(options: AttachGateOptions): AttachGateOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function assertOneOf(field: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return;
  throw new GateAttachError(
    'OPTION_INVALID',
    `attachGate: "${field}" is ${JSON.stringify(value)}; it must be one of ${allowed.join(', ')}.`,
  );
}

interface ConnectionWatch {
  readonly opened: () => void;
  readonly closed: () => void;
}

/** Learns when the server's transport opens and closes. `server.onclose` is the application's, so the transport is asked. */
function onConnection(server: ProtocolServer, watch: ConnectionWatch): void {
  const current = transportOf(server);
  if (current !== undefined) watchClose(current, watch);
  const connect: (transport: never) => Promise<void> = server.connect.bind(server);
  server.connect = (transport: never) => {
    // A transport of either SDK; both chain the onclose that they find.
    watchClose(transport as TransportLike, watch);
    return connect(transport);
  };
}

function watchClose(transport: TransportLike, watch: ConnectionWatch): void {
  const onclose = transport.onclose;
  watch.opened();
  transport.onclose = () => {
    try {
      onclose?.call(transport);
    } finally {
      watch.closed();
    }
  };
}
