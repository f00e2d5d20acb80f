/** Serves an `McpProxyTool` to MCP hosts of both protocol eras: one `mcp` tool, and whatever upstreams need to ask their host. */
import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  LOG_LEVEL_META_KEY,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server';
import { MCP_PROXY_TOOL_NAME } from '../definition.js';
import type { HostCapabilities, HostChannel, HostRequestMethod } from '../node/host-channel.js';
import type { RequiredPage } from '../node/required-pages.js';
import type { McpProxyTool } from '../proxy-tool.js';
import { canonicalJson } from '../security/canonical.js';
import type { IMcpCallOptions, IMcpProxyResult } from '../types.js';
import { type DirectToolName, DirectTools } from './direct-tools.js';
import { fitResult } from './host-result.js';
import { bindingOf, PendingCalls, type PendingCallsOptions } from './pending-calls.js';

export interface GatewayOptions {
  readonly proxy: McpProxyTool;
  /** How the gateway introduces itself to hosts. */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** Tools that hosts see beside `mcp`, under their own definitions. Default: none. */
  readonly directTools?: readonly DirectToolName[];
  /** Calls of modern hosts that wait for input. */
  readonly pending?: PendingCallsOptions;
  /** What went wrong out of band. */
  readonly onError?: (error: unknown) => void;
}

/** A factory of servers, for `serveStdio`, `createMcpHandler`, or a transport of your own. */
export interface Gateway {
  /** A server for one connection or request. */
  readonly createServer: (context: Pick<McpRequestContext, 'era' | 'authInfo'>) => Server;
  /** Tells hosts to read the list anew; for the `mcp` tool itself, whose description names the servers. */
  toolsChanged(): void;
  /** Called when the list of tools may have changed. Returns the way to stop listening. */
  onToolsChanged(listener: () => void): () => void;
  /** Calls that wait for a modern host. */
  readonly pendingCalls: number;
  close(): void;
}

/** The host may think for as long as the call may take; the call has bounds of its own. */
const HOST_TIMEOUT_MS = 2 ** 31 - 1;
const SERVER_INFO = { name: 'interlock-mcp-proxy', version: '0.1.0' };

/** The older protocol lists tools as often as it likes; the newer one must not keep a list that may change. */
export function createGateway(options: GatewayOptions): Gateway {
  const { proxy } = options;
  const pending = new PendingCalls<IMcpProxyResult, ServerContext>(options.pending);
  const direct = new DirectTools(proxy, options.directTools ?? []);
  const listeners = new Set<() => void>();
  const toolsChanged = (): void => {
    for (const listener of listeners) listener();
  };
  const stopListening = proxy.onToolsChanged((serverName) => {
    if (direct.changed(serverName)) toolsChanged();
  });

  const run = (
    name: string,
    args: unknown,
    callOptions: IMcpCallOptions & { signal: AbortSignal },
  ): Promise<IMcpProxyResult> =>
    name === MCP_PROXY_TOOL_NAME ? proxy.run(args, callOptions) : direct.call(name, args, callOptions);

  const callForLegacy = async (
    name: string,
    args: unknown,
    ctx: ServerContext,
    host: LegacyHost,
  ): Promise<CallToolResult> => {
    const { signal } = ctx.mcpReq;
    let required: readonly RequiredPage[] = [];
    let over = false;
    const channel: HostChannel = {
      ...legacyChannel(ctx, host),
      pagesRequired: (pages) => {
        required = pages;
      },
      elicitationComplete: (elicitationId) => {
        // A page is visited long after the call that asked for it; then there is only the stream of the session.
        if (over) host.notify('notifications/elicitation/complete', { elicitationId });
        else notify(ctx, 'notifications/elicitation/complete', { elicitationId });
      },
    };
    const result = await run(name, args, { signal, context: channel, onProgress: progressTo(() => ctx) });
    over = true;
    // The protocol of this host has an error of its own for it, and hosts look for that.
    if (required.length > 0) throw new UrlElicitationRequiredError([...required]);
    return fitResult(result, 'legacy');
  };

  const callForModern = async (
    name: string,
    args: unknown,
    ctx: ServerContext,
    hostId: string,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const binding = bindingOf(principalOf(ctx), canonicalJson([name, args]));
    const requestState = ctx.mcpReq.requestState<unknown>();
    // The call outlives the request that started it; what it reports goes to the request that is there at the time.
    const step =
      typeof requestState === 'string'
        ? await pending.resume(requestState, binding, ctx.mcpReq.inputResponses ?? {}, ctx, ctx.mcpReq.signal)
        : await pending.start(binding, ctx, ctx.mcpReq.signal, (ask, signal, leg) =>
            run(name, args, { signal, context: modernChannel(leg, hostId, ask), onProgress: progressTo(leg) }),
          );
    switch (step.kind) {
      case 'done':
        return fitResult(step.result, 'modern');
      case 'asks': {
        const { inputRequests, requestState: handle } = step;
        // The parameters are an upstream's; the host's SDK checks them against the protocol.
        return { resultType: 'input_required', inputRequests, requestState: handle } as InputRequiredResult;
      }
      case 'unknown-handle':
      case 'other-call':
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
          reason: 'invalid_request_state',
        });
      default:
        return step satisfies never;
    }
  };

  return {
    createServer({ era }) {
      const server = new Server(options.serverInfo ?? SERVER_INFO, {
        capabilities: { tools: { listChanged: true }, logging: {} },
      });
      server.onerror = (error) => options.onError?.(error);
      const host: LegacyHost = {
        hostId: randomUUID(),
        capabilities: () => (server.getClientCapabilities() ?? {}) as HostCapabilities,
        logLevel: undefined,
        notify: (method, params) => {
          server.notification({ method, params }).catch((error) => options.onError?.(error));
        },
      };
      server.setRequestHandler('tools/list', async (_request, ctx) => {
        const tools = [proxyDefinition(proxy), ...(await direct.list(ctx.mcpReq.signal))];
        return era === 'modern' ? { tools, ttlMs: 0, cacheScope: 'private' as const } : { tools };
      });
      server.setRequestHandler('tools/call', async ({ params }, ctx) => {
        const { name, arguments: args = {} } = params;
        if (name !== MCP_PROXY_TOOL_NAME && !direct.knows(name)) {
          throw new ProtocolError(
            ProtocolErrorCode.InvalidParams,
            `Unknown tool "${name}". The tools are found through "mcp".`,
          );
        }
        return era === 'modern' ? callForModern(name, args, ctx, host.hostId) : callForLegacy(name, args, ctx, host);
      });
      if (era === 'legacy') {
        server.setRequestHandler('logging/setLevel', async ({ params }) => {
          host.logLevel = params.level;
          return {};
        });
      }
      return server;
    },
    toolsChanged,
    onToolsChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get pendingCalls() {
      return pending.size;
    },
    close() {
      stopListening();
      pending.close();
    },
  };
}

interface LegacyHost {
  readonly hostId: string;
  readonly capabilities: () => HostCapabilities;
  logLevel: string | undefined;
  /** Over the session, whatever requests are open. */
  readonly notify: (method: string, params: Record<string, unknown>) => void;
}

function proxyDefinition(proxy: McpProxyTool): Tool {
  const { name, description, parameters } = proxy.asTool();
  return { name, description, inputSchema: parameters as Tool['inputSchema'] };
}

/** The older protocol can ask the host at any time, over the stream of the call. */
function legacyChannel(ctx: ServerContext, host: LegacyHost): HostChannel {
  const ask = (method: HostRequestMethod, params: object, signal: AbortSignal): Promise<unknown> =>
    ctx.mcpReq.send({ method, params: { ...params } }, { signal, timeout: HOST_TIMEOUT_MS });
  return {
    kind: 'interlock:host-channel',
    hostId: host.hostId,
    capabilities: host.capabilities(),
    request: ask,
    ...(host.logLevel !== undefined && { logLevel: host.logLevel }),
    log: ({ level, data, logger }) => notify(ctx, 'notifications/message', { level, data, ...(logger && { logger }) }),
  };
}

/** The newer one says what its host can do, request by request. */
function modernChannel(
  leg: () => ServerContext,
  hostId: string,
  ask: (method: HostRequestMethod, params: object, signal: AbortSignal) => Promise<unknown>,
): HostChannel {
  const envelope: Readonly<Record<string, unknown>> = leg().mcpReq.envelope ?? {};
  const logLevel = envelope[LOG_LEVEL_META_KEY];
  return {
    kind: 'interlock:host-channel',
    // Over HTTP every request has a server of its own; only the principal says that two of them come from one host.
    hostId: leg().http?.authInfo ? principalOf(leg()) : hostId,
    capabilities: (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as HostCapabilities,
    request: ask,
    ...(typeof logLevel === 'string' && { logLevel }),
    log: ({ level, data, logger }) => {
      if (logLevel !== undefined) notify(leg(), 'notifications/message', { level, data, ...(logger && { logger }) });
    },
  };
}

function progressTo(leg: () => ServerContext): NonNullable<IMcpCallOptions['onProgress']> {
  return (progress) => {
    const progressToken = leg().mcpReq._meta?.progressToken;
    if (progressToken !== undefined) notify(leg(), 'notifications/progress', { progressToken, ...progress });
  };
}

/** A host that has gone misses a notification; that is not the call's fault. */
function notify(ctx: ServerContext, method: string, params: Record<string, unknown>): void {
  ctx.mcpReq.notify({ method, params }).catch(() => undefined);
}

function principalOf(ctx: ServerContext): string {
  const auth = ctx.http?.authInfo;
  return auth ? JSON.stringify([auth.clientId, auth.token]) : 'local';
}
