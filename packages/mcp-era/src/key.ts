/** What a verdict belongs to: an HTTP origin, or a command line. */
import type { MCPTransportUnion } from './types.js';

/**
 * The cache key of a transport.
 *
 * Both spellings of Streamable HTTP share a key; HTTP+SSE has one of its own, because it is legacy without being asked.
 * The path does not count: where a gateway holds several servers under one origin, give each a key of its own.
 * A stdio key is the command, its arguments and its working directory, never its environment (which holds credentials).
 *
 * @throws {TypeError} when `url` is no absolute URL, or `command` is missing
 */
export function mcpEraCacheKey(transport: MCPTransportUnion): string {
  if (transport.type === 'stdio') {
    if (!transport.command) throw new TypeError('command is missing');
    return `stdio:${JSON.stringify([transport.command, transport.args ?? [], transport.cwd ?? ''])}`;
  }
  // The value stays out of the message: a URL may carry a token.
  if (!/^https?:/i.test(transport.url) || !URL.canParse(transport.url)) {
    throw new TypeError('url is no http(s) URL');
  }
  const scheme = transport.type === 'http-sse' ? transport.type : 'http';
  return `${scheme}:${new URL(transport.url).origin}`;
}
