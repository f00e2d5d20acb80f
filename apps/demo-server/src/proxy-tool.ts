/** Puts the one `mcp` tool of the proxy on a session's server. */
import type { McpProxyTool } from '@mcp-interlock/mcp-proxy';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

export function registerProxyTool(server: McpServer, proxy: McpProxyTool): void {
  const tool = proxy.asTool();
  server.registerTool(
    tool.name,
    { description: tool.description, inputSchema: advisory(tool.parameters) },
    async (args, extra) => (await tool.run(args, { signal: extra.signal })) as CallToolResult,
  );
}

/**
 * The proxy's own schema, shown to the model and not enforced: the proxy reads untidy arguments better than a validator,
 * and answers with what it did not understand.
 */
function advisory(schema: Record<string, unknown>) {
  const properties = (schema.properties ?? {}) as Record<string, Record<string, unknown>>;
  const shape = Object.entries(properties).map(([name, property]) => [name, z.unknown().optional().meta(property)]);
  return z.looseObject(Object.fromEntries(shape));
}
