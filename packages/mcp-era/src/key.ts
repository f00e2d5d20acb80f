/** What a verdict belongs to: an HTTP origin, or a command line. */
import type { MCPTransportUnion } from './types.js';

export interface EraKeyOptions {
  /**
   * How much of an HTTP URL counts. `'origin'` (default) is one verdict for all paths of a host. `'path'` tells apart
   * the servers of a gateway that holds several under one origin.
   */
  readonly scope?: 'origin' | 'path';
}

/**
 * The cache key of a transport.
 *
 * Both spellings of Streamable HTTP share a key; HTTP+SSE has one of its own, because it is legacy without being asked.
 * A stdio key is the command, its arguments and its working directory, never its environment (which holds credentials).
 *
 * @throws {TypeError} when `url` is no absolute URL, or `command` is missing
 */
export function mcpEraCacheKey(transport: MCPTransportUnion, options: EraKeyOptions = {}): string {
  if (transport.type === 'stdio') {
    if (!transport.command) throw new TypeError('command is missing: a stdio server needs one');
    return `stdio:${JSON.stringify([transport.command, transport.args ?? [], transport.cwd ?? ''])}`;
  }
  // The value stays out of the message: a URL may carry a token.
  if (!/^https?:/i.test(transport.url) || !URL.canParse(transport.url)) {
    throw new TypeError('url is no absolute http(s) URL: write it as https://host/path');
  }
  const { origin, pathname } = new URL(transport.url);
  const scheme = transport.type === 'http-sse' ? 'http-sse' : 'http';
  return `${scheme}:${origin}${options.scope === 'path' ? pathname : ''}`;
}
