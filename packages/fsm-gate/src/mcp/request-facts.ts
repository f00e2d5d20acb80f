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

/** What the facts are gathered with. */
export interface FactsOptions {
  readonly era: ProtocolEra;
  readonly connectionId: string;
  readonly principal: (auth: RequestAuth) => string | undefined;
}

export function factsOf(request: WireRequest, context: unknown, options: FactsOptions): RequestFacts {
  const extra = isRecord(context) ? context : {};
  const mcpRequest = isRecord(extra.mcpReq) ? extra.mcpReq : undefined;
  const http = isRecord(extra.http) ? extra.http : undefined;
  const params = request.params ?? {};
  const auth = asAuth(http === undefined ? extra.authInfo : http.authInfo);
  const signal = mcpRequest === undefined ? extra.signal : mcpRequest.signal;
  const overHttp = http !== undefined || extra.requestInfo !== undefined || auth !== undefined;
  return {
    method: request.method,
    // By method: a stray `name` beside a resource's `uri` must not decide what is judged.
    name: asName(request.method === 'resources/read' ? params.uri : params.name),
    arguments: isRecord(params.arguments) ? params.arguments : {},
    era: options.era,
    sessionId: options.era === 'legacy' ? nonEmpty(extra.sessionId) : undefined,
    principal: auth === undefined ? undefined : nonEmpty(options.principal(auth)),
    auth,
    overHttp,
    connectionId: overHttp ? undefined : options.connectionId,
    signal: signal instanceof AbortSignal ? signal : undefined,
  };
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
