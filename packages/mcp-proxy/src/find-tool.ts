/** From a tool name (and perhaps a server) to the one tool that is meant. Never guesses between two. */
import type { ListedTool, ProxyFailure, SkippedServer } from './answers.js';
import type { Catalog } from './catalog.js';
import type { ServerEntry } from './connection/server-entry.js';

export type FoundTool =
  | { readonly kind: 'found'; readonly entry: ServerEntry; readonly listed: ListedTool }
  | ProxyFailure;

export interface ToolQuery {
  readonly tool: string;
  readonly server?: string | undefined;
}

const SIMILAR_TOOLS = 5;
/** How models write a tool together with its server. */
const SEPARATORS = ['/', '__', ':', '.', '-', '_'];

/**
 * With a server, only that one is asked (and connected if need be). Without, what is known is looked at first, and only when
 * the name is not there are the other servers connected, side by side.
 */
export async function findTool(
  catalog: Catalog,
  query: ToolQuery,
  signal: AbortSignal | undefined,
): Promise<FoundTool> {
  if (query.server !== undefined) return findOnServer(catalog, query.tool, query.server, signal);
  await catalog.loadStored(signal);
  const known = catalog.named(query.tool);
  if (known.length > 0) return oneOf(catalog, query.tool, known, []);
  const prefixed = splitName(catalog, query.tool);
  if (prefixed !== undefined) {
    const found = await findOnServer(catalog, prefixed.tool, prefixed.server, signal);
    if (found.kind === 'found') return found;
  }
  const skipped = await catalog.makeKnown(catalog.entries(), signal);
  return oneOf(catalog, query.tool, catalog.named(query.tool), skipped);
}

async function findOnServer(
  catalog: Catalog,
  tool: string,
  server: string,
  signal: AbortSignal | undefined,
): Promise<FoundTool> {
  const entry = catalog.find(server);
  if (entry === undefined) return unknownServer(catalog, server);
  const skipped = entry.tools.isFresh() ? [] : await catalog.makeKnown([entry], signal);
  const name = nameWithoutPrefix(entry, tool);
  const listed = catalog.named(name, [entry])[0];
  if (listed !== undefined) return { kind: 'found', entry, listed };
  const held = entry.tools.held().find(({ toolName }) => toolName === name);
  if (held !== undefined) return { kind: 'held', serverName: entry.serverName, held };
  if (skipped.length > 0) return { kind: 'server_failed', status: entry.status(), reason: skipped[0]!.reason };
  return {
    kind: 'unknown_tool',
    tool,
    server: entry.serverName,
    similar: catalog.similar(tool, SIMILAR_TOOLS, [entry]),
    skipped,
  };
}

export function unknownServer(catalog: Catalog, server: string): ProxyFailure {
  return { kind: 'unknown_server', server, known: catalog.entries().map((entry) => entry.serverName) };
}

function oneOf(
  catalog: Catalog,
  tool: string,
  candidates: readonly ListedTool[],
  skipped: readonly SkippedServer[],
): FoundTool {
  const only = candidates.length === 1 ? candidates[0] : undefined;
  const entry = only && catalog.find(only.serverName);
  if (only !== undefined && entry !== undefined) return { kind: 'found', entry, listed: only };
  if (candidates.length > 1) return { kind: 'ambiguous', tool, candidates, skipped };
  for (const { serverName } of catalog.entries()) {
    const held = catalog
      .find(serverName)
      ?.status()
      .held.find(({ toolName }) => toolName === tool);
    if (held !== undefined) return { kind: 'held', serverName, held };
  }
  return { kind: 'unknown_tool', tool, server: undefined, similar: catalog.similar(tool, SIMILAR_TOOLS), skipped };
}

/** `mcp__fs__read` and `fs/read` name a server too; only names of servers that exist are split off. */
function splitName(catalog: Catalog, name: string): { server: string; tool: string } | undefined {
  const bare = name.replace(/^mcp__/, '');
  for (const { serverName } of catalog.entries()) {
    const tool = afterPrefix(bare, serverName);
    if (tool !== undefined) return { server: serverName, tool };
  }
  return undefined;
}

function nameWithoutPrefix(entry: ServerEntry, name: string): string {
  if (entry.tools.visible()?.has(name)) return name;
  return afterPrefix(name.replace(/^mcp__/, ''), entry.serverName) ?? name;
}

function afterPrefix(name: string, serverName: string): string | undefined {
  const separator = SEPARATORS.find((candidate) => name.startsWith(serverName + candidate));
  const tool = separator === undefined ? '' : name.slice(serverName.length + separator.length);
  return tool === '' ? undefined : tool;
}
