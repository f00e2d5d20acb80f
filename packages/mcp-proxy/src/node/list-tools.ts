/** Reads a whole tool list, page by page, without believing that it ends. */
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { IMcpToolInfo } from '../types.js';
import { UpstreamError } from './errors.js';

/** Bounds of one tool list. */
export interface ListLimits {
  readonly maxPages: number;
  readonly maxTools: number;
  /** Characters of all definitions together. */
  readonly maxCharacters: number;
}

const DEFAULT_LIST_LIMITS: ListLimits = { maxPages: 200, maxTools: 10_000, maxCharacters: 32 * 1024 * 1024 };

export interface ToolList {
  readonly tools: IMcpToolInfo[];
  /** How long the server says that the list holds, in milliseconds; absent or 0 = it did not say. */
  readonly ttlMs: number | undefined;
}

// Tools stay unchecked here: the proxy admits each by itself, so that a broken one takes only itself away.
const page = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().nullish(),
  ttlMs: z.number().nonnegative().optional().catch(undefined),
});

/**
 * All pages of `tools/list`.
 *
 * @throws {UpstreamError} `UPSTREAM_CURSOR_REPEATED` when a cursor comes back, `UPSTREAM_LIST_TOO_LONG` beyond a bound.
 */
export async function listAllTools(
  client: Pick<Client, 'request'>,
  serverName: string,
  options: RequestOptions,
  limits: ListLimits = DEFAULT_LIST_LIMITS,
): Promise<ToolList> {
  const tools: IMcpToolInfo[] = [];
  const seen = new Set<string>();
  let ttlMs: number | undefined;
  let characters = 0;
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const result = await client.request({ method: 'tools/list', params }, page, options);
    ttlMs ??= result.ttlMs;
    characters += sizeOf(result.tools, limits.maxCharacters);
    // Unchecked on purpose, see above; `IMcpToolInfo` says of itself that everything in it is untrusted.
    tools.push(...(result.tools as IMcpToolInfo[]));
    cursor = result.nextCursor ?? undefined;
    if (cursor !== undefined && seen.has(cursor)) throw repeated(serverName);
    if (cursor !== undefined) seen.add(cursor);
    if (seen.size >= limits.maxPages || tools.length > limits.maxTools || characters > limits.maxCharacters) {
      throw tooLong(serverName, limits);
    }
  } while (cursor !== undefined);
  return { tools, ttlMs };
}

function repeated(serverName: string): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_CURSOR_REPEATED',
    serverName,
    `Server "${serverName}" repeats a cursor in tools/list, so its list would never end. This is a fault of the server.`,
  );
}

function tooLong(serverName: string, limits: ListLimits): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_LIST_TOO_LONG',
    serverName,
    `Server "${serverName}" lists more than is bearable (over ${limits.maxTools} tools, ${limits.maxPages} pages or ` +
      `${limits.maxCharacters} characters). This is a fault of the server.`,
  );
}

/** About how many characters the JSON has. It may be nested deeper than the stack is, so nothing here calls itself. */
function sizeOf(value: unknown, limit: number): number {
  const open = [value];
  let size = 0;
  while (open.length > 0 && size <= limit) {
    const current = open.pop();
    size += 2;
    if (typeof current === 'string') size += current.length;
    if (typeof current !== 'object' || current === null) continue;
    for (const [key, member] of Object.entries(current)) {
      size += key.length;
      open.push(member);
    }
  }
  return size;
}
