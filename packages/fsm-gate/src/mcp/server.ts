/** The servers a gate can be attached to, and what it may ask of them: structure only, so that no SDK is imported. */
import { GateAttachError } from './errors.js';

/** Which protocol the peer of a request speaks: `legacy` up to 2025-11-25 (sessions), `modern` from 2026-07-28 (stateless). */
export type ProtocolEra = 'legacy' | 'modern';

/**
 * The low-level server of an SDK: `Server` of `@modelcontextprotocol/sdk` and of `@modelcontextprotocol/server`. Method syntax and
 * `never` parameters on purpose: both generations satisfy it, whatever their schemas.
 */
export interface ProtocolServer {
  setRequestHandler(...args: never[]): unknown;
  assertCanSetRequestHandler(method: string): void;
  connect(transport: never): Promise<void>;
  sendToolListChanged(): Promise<void>;
  sendPromptListChanged(): Promise<void>;
  sendResourceListChanged(): Promise<void>;
}

/** What `attachGate` takes: an `McpServer` or a `Server` of either SDK generation. */
export type AttachableServer = ProtocolServer | { readonly server: ProtocolServer };

/** What the gate uses of a transport. */
export interface TransportLike {
  onclose?: (() => void) | undefined;
  readonly sessionId?: string | undefined;
}

/** The optional and the private parts of a server, read with a check each. */
interface ServerInternals {
  transport?: TransportLike | undefined;
  getNegotiatedProtocolVersion?: () => string | undefined;
  getCapabilities?: () => unknown;
  registerCapabilities?: (capabilities: Record<string, unknown>) => void;
}

const FIRST_MODERN_VERSION = '2026-07-28';

/** The low-level server inside an `McpServer`, or the given one. Throws `GateAttachError` for anything else. */
export function protocolServerOf(server: AttachableServer): ProtocolServer {
  const candidate: unknown = isRecord(server) && isRecord(server.server) ? server.server : server;
  if (isProtocolServer(candidate)) return candidate;
  throw new GateAttachError(
    'NOT_A_SERVER',
    'attachGate needs an McpServer or Server of @modelcontextprotocol/sdk or @modelcontextprotocol/server; what it got has no ' +
      'setRequestHandler(), connect() and sendToolListChanged(). Pass the server itself, not a transport, handler or factory.',
  );
}

/**
 * Tells the era that the connection speaks. Never read from a request: a 2025 client can put any `_meta` key there. Version 1 of
 * the SDK has no such accessor and knows the legacy era only.
 */
export function eraOf(server: ProtocolServer): () => ProtocolEra {
  const internals = internalsOf(server);
  if (internals.getNegotiatedProtocolVersion === undefined) return () => 'legacy';
  return () => {
    const version = internals.getNegotiatedProtocolVersion?.();
    return version !== undefined && version >= FIRST_MODERN_VERSION ? 'modern' : 'legacy';
  };
}

/** The transport of a server that is connected already. */
export function transportOf(server: ProtocolServer): TransportLike | undefined {
  return internalsOf(server).transport;
}

/**
 * Says that the tool list can change, before the handshake tells the client so: a low-level `Server` that declared `tools` says it
 * only when it is asked to. One that declared `listChanged` itself, either way, keeps its word; a connected one cannot be changed.
 */
export function declareToolListChanges(server: ProtocolServer): void {
  const internals = internalsOf(server);
  if (internals.transport !== undefined || internals.registerCapabilities === undefined) return;
  const capabilities = internals.getCapabilities?.call(server);
  const tools = isRecord(capabilities) ? capabilities.tools : undefined;
  if (isRecord(tools) && tools.listChanged === undefined)
    internals.registerCapabilities({ tools: { listChanged: true } });
}

/** Whether the server told its client that a list can change; `undefined` when it said nothing. */
export function declaredListChanged(
  server: ProtocolServer,
  list: 'tools' | 'prompts' | 'resources',
): boolean | undefined {
  const capabilities = internalsOf(server).getCapabilities?.call(server);
  const capability = isRecord(capabilities) ? capabilities[list] : undefined;
  const declared = isRecord(capability) ? capability.listChanged : undefined;
  return typeof declared === 'boolean' ? declared : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isProtocolServer(value: unknown): value is ProtocolServer {
  return (
    isRecord(value) &&
    typeof value.setRequestHandler === 'function' &&
    typeof value.connect === 'function' &&
    typeof value.sendToolListChanged === 'function'
  );
}

function internalsOf(server: ProtocolServer): ServerInternals {
  // The members are optional here because the generations differ in them; every use above checks first.
  return server as ServerInternals;
}
