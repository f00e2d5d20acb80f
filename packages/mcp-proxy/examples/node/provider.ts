import { McpProxyTool } from '@mcp-interlock/mcp-proxy';
import { createNodeProvider, parseConfig, specsOf } from '@mcp-interlock/mcp-proxy/node';

const { servers, problems } = parseConfig({
  mcpServers: {
    everything: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'], allowedTools: ['echo'] },
    remote: { url: 'https://mcp.example.com/mcp', headers: { Authorization: `Bearer ${process.env.EXAMPLE_TOKEN}` } },
  },
});
for (const { error } of problems) console.error(error.message);

const provider = createNodeProvider(servers);
const proxy = new McpProxyTool(provider, specsOf(servers), {
  approve: ({ serverName, toolName }) =>
    toolName === 'echo' ? { kind: 'allow' } : { kind: 'deny', reason: `${serverName} may only echo` },
});
console.log(await proxy.asTool().execute({ tool: 'echo', server: 'everything', args: { message: 'hello' } }));
await proxy.closeAll();
await provider.closeAll();
