/** Many MCP servers behind one tool: lazy connections, ranked search, isolated failures, and one path for every call. */
import type { ProxyAnswer, ProxyRequest } from './answers.js';
import { type CallSettings, callTool, type RunOptions } from './call-tool.js';
import { Catalog } from './catalog.js';
import type { ServerEntry } from './connection/server-entry.js';
import { readSettings, type Settings } from './connection/settings.js';
import { MCP_PROXY_TOOL_NAME, proxyDescription, proxyParameters } from './definition.js';
import { McpProxyError } from './errors.js';
import { findTool, unknownServer } from './find-tool.js';
import type { IMcpProxyToolOptions } from './options.js';
import { renderAnswer } from './render/render-answer.js';
import { toProxyResult } from './render/to-result.js';
import { readRequest } from './request.js';
import { BoundedOutput } from './result/output.js';
import { readSearchSettings, type SearchSettings } from './search/settings.js';
import { isAllowed } from './security/admit.js';
import type {
  IAgentToolDescriptor,
  IMcpCallOptions,
  IMcpProxyResult,
  IMcpServerProvider,
  IMcpServerSpec,
  IMcpToolHandle,
  IMcpToolInfo,
  IMcpToolRegistry,
} from './types.js';

/** The one tool. `execute` answers with bounded text; `run` with MCP content for hosts that take it. */
export interface IMcpProxyToolDescriptor extends IAgentToolDescriptor {
  execute(args: unknown, signal?: AbortSignal, options?: IMcpCallOptions): Promise<string>;
  run(args: unknown, options?: RunOptions): Promise<IMcpProxyResult>;
}

/**
 * The `mcp` tool over any number of servers.
 *
 * Constructing it connects nothing. Each server is connected when it is first needed, once for all who wait for it; one that
 * fails is named in the answers, left alone for a growing while, and never keeps the others from answering. What goes wrong
 * is answered in text for the model; only an abort rejects, with the signal's reason.
 *
 * @example
 * const proxy = new McpProxyTool(provider, [{ serverName: 'files', resourceIds: [] }]);
 * const tool = proxy.asTool();
 * await tool.execute({ search: 'read a text file' });
 * await proxy.closeAll();
 */
export class McpProxyTool implements IMcpToolRegistry {
  readonly #catalog: Catalog;
  readonly #settings: Settings;
  readonly #search: SearchSettings;
  readonly #calls: CallSettings;
  readonly #output: BoundedOutput;

  /** @throws McpProxyError `INVALID_OPTIONS` when a spec or an option cannot be used; the message names the field. */
  constructor(provider: IMcpServerProvider, specs: IMcpServerSpec[], options: IMcpProxyToolOptions = {}) {
    this.#settings = readSettings(options);
    this.#search = readSearchSettings(options);
    this.#calls = { settings: this.#settings, approve: options.approve };
    this.#output = new BoundedOutput(options.output ?? {}, this.#settings);
    this.#catalog = new Catalog(provider, specs, this.#settings, this.#search);
  }

  /** The tool for an agent loop. Its description names the servers that there are now. */
  asTool(): IMcpProxyToolDescriptor {
    return {
      name: MCP_PROXY_TOOL_NAME,
      description: proxyDescription(this.#catalog.entries().map((entry) => entry.serverName)),
      parameters: proxyParameters(),
      execute: (args, signal, options) => this.#execute(args, { ...options, signal }),
      run: (args, options) => this.run(args, options),
    };
  }

  /**
   * The answer as MCP content: the upstream's own result for a call (images, links, structured content, `isError` and
   * `input_required` included), one text block for everything else.
   */
  async run(args: unknown, options: RunOptions = {}): Promise<IMcpProxyResult> {
    const { answer, notes } = await this.#answer(args, options);
    return toProxyResult(answer, () => this.#text(answer, notes));
  }

  /** The same as data in and data out, for code rather than for a model. */
  async perform(request: ProxyRequest, options: RunOptions = {}): Promise<ProxyAnswer> {
    options.signal?.throwIfAborted();
    switch (request.kind) {
      case 'status':
        return this.#status();
      case 'connect':
        return this.#list(request.server, 'fresh', options.signal);
      case 'list':
        return this.#list(request.server, 'known', options.signal);
      case 'search':
        return this.#find(request, options.signal);
      case 'describe': {
        const found = await findTool(this.#catalog, request, options.signal);
        return found.kind === 'found' ? { kind: 'described', tool: found.listed } : found;
      }
      case 'call': {
        const found = await findTool(this.#catalog, request, options.signal);
        if (found.kind !== 'found') return found;
        return callTool(
          { entry: found.entry, toolName: found.listed.tool.name, args: request.args },
          this.#calls,
          options,
        );
      }
      case 'read': {
        const text = this.#output.read(request.cursor);
        return text === undefined ? { kind: 'unknown_cursor', cursor: request.cursor } : { kind: 'page', text };
      }
      default:
        return request satisfies never;
    }
  }

  /**
   * One tool of a declared resource, to call from code. Connects the server if need be; undefined when the id is unknown,
   * the tool is not there or not allowed, or the server cannot be had. Rejects only with the signal's reason.
   */
  async resolve(resourceId: string, toolName: string, signal?: AbortSignal): Promise<IMcpToolHandle | undefined> {
    const entry = this.#catalog.findByResourceId(resourceId);
    if (entry === undefined) return undefined;
    if (!isAllowed(entry.spec, toolName)) return undefined;
    const ensured = await entry.ensure('known', signal);
    const tool = ensured.kind === 'failed' ? undefined : this.#catalog.named(toolName, [entry])[0]?.tool;
    if (tool === undefined) return undefined;
    return {
      ...tool,
      serverName: entry.serverName,
      call: (args, callSignal, options) =>
        this.#callFromCode(entry, toolName, args, { ...options, signal: callSignal }),
    };
  }

  /** The tools of a server that may be seen and called; undefined when nothing is known of it yet. Connects nothing. */
  visibleTools(server: string): readonly IMcpToolInfo[] | undefined {
    const tools = this.#catalog.find(server)?.tools.visible();
    return tools && [...tools.values()];
  }

  /** Called with the server's name when its visible tools may be others than before. Returns the way to stop listening. */
  onToolsChanged(listener: (serverName: string) => void): () => void {
    return this.#catalog.onToolsChanged(listener);
  }

  /** Takes other specs: new servers appear, missing ones are closed, the others keep their connection. */
  async setSpecs(specs: IMcpServerSpec[]): Promise<void> {
    await this.#catalog.setSpecs(specs);
  }

  /** Closes and forgets one server, for example because its command changed; the next use connects anew. */
  async reset(server: string): Promise<void> {
    await this.#catalog.find(server)?.close('forget-tools');
  }

  /**
   * Trusts the definitions that a server lists now: those of `toolNames`, or all of them and its instructions. Resolves to
   * the tools that are no longer held back. No argument of the `mcp` tool leads here: it is for the person in charge.
   */
  async approvePins(
    server: string,
    options: { readonly toolNames?: readonly string[] } = {},
  ): Promise<readonly string[]> {
    const entry = this.#catalog.find(server);
    if (entry === undefined)
      throw new McpProxyError('UNKNOWN_SERVER', renderAnswer(unknownServer(this.#catalog, server)));
    const ensured = await entry.ensure('known');
    if (ensured.kind === 'failed') {
      throw new McpProxyError('CALL_FAILED', `"${entry.serverName}" cannot be connected: ${ensured.reason}`);
    }
    return entry.tools.approve(options.toolNames);
  }

  /** Closes every connection, those in the making too. Never rejects; the next use connects again. */
  async closeAll(): Promise<void> {
    this.#output.clear();
    await Promise.all(this.#catalog.entries().map((entry) => entry.close()));
  }

  async #execute(args: unknown, options: RunOptions): Promise<string> {
    const { answer, notes } = await this.#answer(args, options);
    return this.#text(answer, notes);
  }

  async #answer(args: unknown, options: RunOptions): Promise<{ answer: ProxyAnswer; notes: readonly string[] }> {
    const read = readRequest(args);
    if (read.kind === 'invalid') return { answer: read, notes: read.notes };
    return { answer: await this.perform(read.request, options), notes: read.notes };
  }

  async #text(answer: ProxyAnswer, notes: readonly string[]): Promise<string> {
    const text = renderAnswer(answer, { notes, maxSearchTokens: this.#search.maxTokens });
    // A page is already bounded, and its rest has its cursor.
    if (answer.kind === 'page') return text;
    const tool = 'tool' in answer && typeof answer.tool === 'object' ? answer.tool : undefined;
    return this.#output.bound(text, tool && { serverName: tool.serverName, toolName: tool.tool.name });
  }

  async #status(): Promise<ProxyAnswer> {
    await this.#catalog.loadStored();
    return { kind: 'status', servers: this.#catalog.entries().map((entry) => entry.status()) };
  }

  async #list(server: string, need: 'known' | 'fresh', signal: AbortSignal | undefined): Promise<ProxyAnswer> {
    const entry = this.#catalog.find(server);
    if (entry === undefined) return unknownServer(this.#catalog, server);
    if (need === 'known') await this.#catalog.makeKnown([entry], signal);
    const ensured = need === 'fresh' ? await entry.ensure('fresh', signal) : undefined;
    const visible = entry.tools.visible();
    if (ensured !== undefined && ensured.kind !== 'ready') {
      return { kind: 'server_failed', status: entry.status(), reason: ensured.reason };
    }
    if (visible === undefined) return { kind: 'server_failed', status: entry.status(), reason: entry.reason() };
    const tools = [...visible.values()].map((tool) => ({ serverName: entry.serverName, tool }));
    return { kind: need === 'fresh' ? 'connected' : 'list', status: entry.status(), tools };
  }

  async #find(
    request: Extract<ProxyRequest, { kind: 'search' }>,
    signal: AbortSignal | undefined,
  ): Promise<ProxyAnswer> {
    const { query, limit } = request;
    const entry = request.server === undefined ? undefined : this.#catalog.find(request.server);
    if (request.server !== undefined && entry === undefined) return unknownServer(this.#catalog, request.server);
    return this.#catalog.search(
      { query, ...(entry && { entries: [entry] }), ...(limit !== undefined && { limit }) },
      signal,
    );
  }

  async #callFromCode(entry: ServerEntry, toolName: string, args: unknown, options: RunOptions): Promise<unknown> {
    options.signal?.throwIfAborted();
    const answer = await callTool({ entry, toolName, args }, this.#calls, options);
    if (answer.kind === 'result') return answer.result;
    const refused = answer.kind === 'refused' || answer.kind === 'held' || answer.kind === 'unknown_tool';
    const cause = answer.kind === 'call_failed' ? { cause: answer.error } : undefined;
    throw new McpProxyError(refused ? 'CALL_REFUSED' : 'CALL_FAILED', renderAnswer(answer), cause);
  }
}
