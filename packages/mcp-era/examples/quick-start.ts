// #region quick-start
import { createEraResolver, mcpEraCacheKey } from '@mcp-interlock/mcp-era';
import { createStdioProbe } from '@mcp-interlock/mcp-era/stdio';

const server = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything', 'stdio'] };

const resolver = createEraResolver(); // one for the process, shared by everything that connects
const { era, evidence } = await resolver.resolve({
  key: mcpEraCacheKey({ type: 'stdio', ...server }),
  probe: createStdioProbe({ ...server, timeoutMs: 60_000 }), // npx may have to fetch it first
});
console.log(era.kind, '-', evidence.rule);
// legacy - not a modern error
// #endregion
