/** What the gate needs to know of a request, read from v1's `extra` or v2's `ctx`. */
import type { WireRequest } from './interception.js';
import { isRecord, type ProtocolEra } from './server.js';

/** Validated authorization of a request, as both SDKs carry it. */
export interface RequestAuth {
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

/** Who asks for what, over which connection. Everything here but `arguments` was established by the SDK, not said by the model. */
export interface RequestFacts {
  readonly method: string;
  /** The tool or prompt asked for, or the resource's URI; `undefined` for lists. From the model: untrusted. */
  readonly name: string | undefined;
  /** The call's arguments; empty for lists. From the model: untrusted. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly era: ProtocolEra;
  /** `Mcp-Session-Id`, as the transport established it; never present in the modern era. */
  readonly sessionId: string | undefined;
  /** Who the request was authorised for; see `AttachGateOptions.principal`. */
  readonly principal: string | undefined;
  readonly auth: RequestAuth | undefined;
  /** Whether it came over HTTP; otherwise the connection itself is the session (stdio). */
  readonly overHttp: boolean;
  /** Identifies the connection (`connection:…`); `undefined` over HTTP, where a connection says nothing of who is on it. */
  readonly connectionId: string | undefined;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal | undefined;
}

/** What is known of the connection that a request came over. */
export interface ConnectionFacts {
  readonly era: () => ProtocolEra;
  readonly connectionId: string;
  readonly principal: (auth: RequestAuth) => string | undefined;
}

/** What is read of v1's `extra` and of v2's `ctx`. The SDK makes both, so that only what it takes over from outside is checked. */
interface SdkContext {
  readonly sessionId?: unknown;
  readonly authInfo?: unknown;
  readonly requestInfo?: unknown;
  readonly signal?: AbortSignal;
  readonly http?: { readonly authInfo?: unknown } | null;
  readonly mcpReq?: { readonly signal?: AbortSignal } | null;
}

const NO_CONTEXT: SdkContext = {};
const NO_PARAMS: Readonly<Record<string, unknown>> = {};

export function factsOf(request: WireRequest, context: unknown, connection: ConnectionFacts): RequestFacts {
  const { sessionId, authInfo, requestInfo, http }: SdkContext = context ?? NO_CONTEXT;
  const auth = asAuth(http ? http.authInfo : authInfo);
  const overHttp = !!http || requestInfo !== undefined || auth !== undefined;
  const era = connection.era();
  return {
    method: request.method,
    name: targetOf(request),
    arguments: argumentsOf(request),
    era,
    sessionId: era === 'legacy' ? nonEmpty(sessionId) : undefined,
    principal: auth === undefined ? undefined : nonEmpty(connection.principal(auth)),
    auth,
    overHttp,
    connectionId: overHttp ? undefined : connection.connectionId,
    signal: signalOf(context),
  };
}

/**
 * Whether nothing but the connection tells who asks, as with stdio and in memory: the facts then have a `connectionId` and neither
 * session nor principal. Told without making the facts, which most calls of such a server need for nothing else (decision 0408).
 */
export function isConnectionAlone(context: unknown): boolean {
  const { sessionId, authInfo, requestInfo, http }: SdkContext = context ?? NO_CONTEXT;
  return sessionId === undefined && authInfo === undefined && requestInfo === undefined && !http;
}

/** The tool or prompt asked for, or the resource's URI. By method: a stray `name` beside a resource's `uri` must not decide. */
export function targetOf({ method, params = NO_PARAMS }: WireRequest): string | undefined {
  return asName(method === 'resources/read' ? params.uri : params.name);
}

export function argumentsOf({ params }: WireRequest): Readonly<Record<string, unknown>> {
  const args = params?.arguments;
  // New ones each time: guards and machines of the application may write into what they are given.
  return isRecord(args) ? args : {};
}

export function signalOf(context: unknown): AbortSignal | undefined {
  const { signal, mcpReq }: SdkContext = context ?? NO_CONTEXT;
  return mcpReq ? mcpReq.signal : signal;
}

/**
 * The subject of the token (`extra.sub`), with its issuer where the verifier kept it. The OAuth client id is no principal: all
 * users of one host share it.
 */
export function subjectOf(auth: RequestAuth): string | undefined {
  const subject = nonEmpty(auth.extra?.sub);
  if (subject === undefined) return undefined;
  const issuer = nonEmpty(auth.extra?.iss);
  // Escaped, so that no other pair of issuer and subject reads the same.
  return issuer === undefined ? subject : `${issuer.replaceAll('|', '%7C')}|${subject}`;
}

/**
 * The text that a name of another type becomes where it is used to look something up: a fallback handler gets requests that no
 * schema has checked, and `['cart_pay']` would find there what the gate did not.
 */
function asName(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return value === undefined ? undefined : String(value);
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function asAuth(value: unknown): RequestAuth | undefined {
  // Every field of RequestAuth is optional and read with a check, so any object will do.
  return isRecord(value) ? (value as RequestAuth) : undefined;
}
