/** All servers of a proxy and the tools that are known of them, with the search index over the visible ones. */

import { mergeSpecs } from './aggregate.js';
import type { ListedTool, SearchAnswer, SkippedServer, ToolHit } from './answers.js';
import { abortable } from './connection/abort.js';
import { ServerEntry } from './connection/server-entry.js';
import type { Settings } from './connection/settings.js';
import { McpProxyError } from './errors.js';
import { searchByOr } from './search/or-search.js';
import type { SearchSettings } from './search/settings.js';
import { createToolIndex, type IndexSearchResult, type ToolIndex } from './search/tool-index.js';
import { reasonOf } from './text/clean.js';
import type { IMcpServerProvider, IMcpServerSpec } from './types.js';

export interface SearchRequest {
  readonly query: string;
  /** Only these servers. Default: all. */
  readonly entries?: readonly ServerEntry[];
  readonly limit?: number;
}

export class Catalog {
  readonly #provider: IMcpServerProvider;
  readonly #settings: Settings;
  readonly #search: SearchSettings;
  readonly #listeners = new Set<(serverName: string) => void>();
  #entries = new Map<string, ServerEntry>();
  #byResourceId = new Map<string, ServerEntry>();
  #index: ToolIndex | undefined;

  constructor(
    provider: IMcpServerProvider,
    specs: readonly IMcpServerSpec[],
    settings: Settings,
    search: SearchSettings,
  ) {
    this.#provider = provider;
    this.#settings = settings;
    this.#search = search;
    this.#setEntries(specs);
  }

  entries(): readonly ServerEntry[] {
    return [...this.#entries.values()];
  }

  /** A server by its name, else by a resource id. */
  find(server: string): ServerEntry | undefined {
    return this.#entries.get(server) ?? this.#byResourceId.get(server);
  }

  findByResourceId(resourceId: string): ServerEntry | undefined {
    return this.#byResourceId.get(resourceId);
  }

  /** Takes other specs: new servers appear, missing ones are closed, the others keep their connection. */
  async setSpecs(specs: readonly IMcpServerSpec[]): Promise<void> {
    const before = this.#entries;
    this.#setEntries(specs);
    const gone = [...before.values()].filter((entry) => this.#entries.get(entry.serverName) !== entry);
    await Promise.all(gone.map((entry) => entry.retire()));
  }

  onToolsChanged(listener: (serverName: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads what is stored of servers that nothing is known of yet. */
  async loadStored(signal?: AbortSignal): Promise<void> {
    if (this.#settings.metadata === undefined) return;
    await abortable(Promise.all(this.entries().map((entry) => entry.tools.loadStored())), signal);
  }

  /**
   * Makes the tools of the given servers known: from the store where it is fresh, else by connecting side by side. What fails
   * is named; the tools that are known of it from before stay searchable.
   */
  async makeKnown(entries: readonly ServerEntry[], signal: AbortSignal | undefined): Promise<readonly SkippedServer[]> {
    const reasons = await Promise.all(entries.map((entry) => this.#makeKnown(entry, signal)));
    return reasons.filter((reason) => reason !== undefined);
  }

  async #makeKnown(entry: ServerEntry, signal: AbortSignal | undefined): Promise<SkippedServer | undefined> {
    await abortable(entry.tools.loadStored(), signal);
    if (entry.tools.isFresh()) return undefined;
    const ensured = await entry.ensure('known', signal);
    return ensured.kind === 'failed' ? { serverName: entry.serverName, reason: ensured.reason } : undefined;
  }

  /** Every known tool of this name. */
  named(toolName: string, entries: Iterable<ServerEntry> = this.#entries.values()): ListedTool[] {
    const found: ListedTool[] = [];
    for (const entry of entries) {
      const tool = entry.tools.visible()?.get(toolName);
      if (tool !== undefined) found.push({ serverName: entry.serverName, tool });
    }
    return found;
  }

  /** Searches what is known; connects nothing. */
  similar(query: string, limit: number, entries: readonly ServerEntry[] = this.entries()): readonly ToolHit[] {
    return this.#find(query, entries, limit).hits;
  }

  async search(request: SearchRequest, signal: AbortSignal | undefined): Promise<SearchAnswer> {
    const entries = request.entries ?? this.entries();
    const limit = request.limit ?? this.#search.limit;
    const skipped = await this.makeKnown(entries, signal);
    const startedAt = this.#settings.now();
    const wanted = this.#search.rank === undefined ? limit : candidateCount(this.#search, limit);
    const found = this.#find(request.query, entries, wanted);
    const hits = await this.#ranked(request.query, found.hits, limit, signal);
    const searched = entries.reduce((sum, entry) => sum + (entry.tools.visible()?.size ?? 0), 0);
    this.#settings.emit({ type: 'search', durationMs: this.#settings.now() - startedAt, hits: hits.length });
    return { kind: 'hits', query: request.query, hits, matched: found.matched, searched, skipped };
  }

  async #ranked(
    query: string,
    matches: readonly ToolHit[],
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly ToolHit[]> {
    const { rank, rankCandidates } = this.#search;
    if (rank === undefined) return matches.slice(0, limit);
    const candidates = rankCandidates === 'all' ? this.#withUnmatched(matches) : matches;
    try {
      const ranked = await abortable(Promise.resolve(rank({ query, candidates, limit }, { signal })), signal);
      const known = new Set(candidates);
      const own = [...new Set(ranked)].filter((hit) => known.has(hit));
      if (own.length === 0 && ranked.length > 0)
        throw new Error('it returned none of its candidates, but other objects');
      return own.slice(0, limit);
    } catch (error) {
      signal?.throwIfAborted();
      this.#settings.debugLog(`search: the rank hook failed, the order stays: ${reasonOf(error)}`);
      return matches.slice(0, limit);
    }
  }

  #withUnmatched(matches: readonly ToolHit[]): readonly ToolHit[] {
    const key = ({ serverName, tool }: ListedTool): string => `${serverName}\n${tool.name}`;
    const matched = new Set(matches.map(key));
    const rest = this.#tools().filter((listed) => !matched.has(key(listed)));
    return [...matches, ...rest.map((listed) => ({ ...listed, score: 0 }))];
  }

  #find(query: string, entries: readonly ServerEntry[], limit: number): IndexSearchResult {
    const servers = new Set(entries.map((entry) => entry.serverName));
    if (this.#search.mode === 'or') {
      const found = searchByOr(this.#tools(), query).filter((hit) => servers.has(hit.serverName));
      return { hits: found.slice(0, limit), matched: found.length };
    }
    this.#index ??= createToolIndex(this.#tools(), this.#search.options);
    return this.#index.search(query, { limit, servers });
  }

  #tools(): ListedTool[] {
    return this.entries().flatMap((entry) =>
      [...(entry.tools.visible()?.values() ?? [])].map((tool) => ({ serverName: entry.serverName, tool })),
    );
  }

  #setEntries(specs: readonly IMcpServerSpec[]): void {
    for (const spec of specs) checkSpec(spec);
    const before = this.#entries;
    const entries = mergeSpecs(specs).map((spec) => {
      const entry = before.get(spec.serverName);
      entry?.tools.setSpec(spec);
      return entry ?? new ServerEntry(spec, this.#provider, this.#settings, (name) => this.#changed(name));
    });
    this.#entries = new Map(entries.map((entry) => [entry.serverName, entry]));
    this.#byResourceId = new Map();
    for (const entry of entries) {
      for (const id of entry.spec.resourceIds) {
        if (this.#byResourceId.has(id)) this.#settings.debugLog(`resource id "${id}" is declared by two servers`);
        else this.#byResourceId.set(id, entry);
      }
    }
    this.#index = undefined;
  }

  #changed(serverName: string): void {
    this.#index = undefined;
    for (const listener of this.#listeners) {
      try {
        listener(serverName);
      } catch (error) {
        this.#settings.debugLog(`a listener for changed tools threw: ${reasonOf(error)}`);
      }
    }
  }
}

function candidateCount({ rankCandidates }: SearchSettings, limit: number): number {
  return rankCandidates === 'all' ? Number.MAX_SAFE_INTEGER : Math.max(rankCandidates, limit);
}

function checkSpec(spec: IMcpServerSpec): void {
  if (typeof spec?.serverName !== 'string' || spec.serverName.trim() === '') {
    throw new McpProxyError(
      'INVALID_OPTIONS',
      'A server spec has no serverName. Give each one a name that is not blank.',
    );
  }
  const { resourceIds, allowedTools, blockedTools, idempotentTools, connectTimeoutMs } = spec;
  for (const [field, names] of Object.entries({ resourceIds, allowedTools, blockedTools, idempotentTools })) {
    if (names === undefined && field !== 'resourceIds') continue;
    if (Array.isArray(names) && names.every((name) => typeof name === 'string')) continue;
    const way = field === 'allowedTools' ? ' (leave it out to allow all)' : '';
    const what = `${field} of server "${spec.serverName}" must be a list of strings${way}.`;
    throw new McpProxyError('INVALID_OPTIONS', what);
  }
  if (connectTimeoutMs !== undefined && !(connectTimeoutMs > 0)) {
    const what = `connectTimeoutMs of server "${spec.serverName}" must be a number above 0, not ${connectTimeoutMs}.`;
    throw new McpProxyError('INVALID_OPTIONS', what);
  }
}
