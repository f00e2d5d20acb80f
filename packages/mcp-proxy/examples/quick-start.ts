import { type IMcpServerProvider, McpProxyTool } from '@mcp-interlock/mcp-proxy';

// Who holds the connections is up to you; `@mcp-interlock/mcp-proxy/node` does it for real servers.
const provider: IMcpServerProvider = {
  connect: async (serverName) => ({
    listTools: async () => [
      {
        name: 'get_forecast',
        description: 'Weather forecast for a city.',
        inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ],
    callTool: async (toolName, args) => ({
      content: [{ type: 'text', text: `${serverName}/${toolName} ${JSON.stringify(args)}: sunny` }],
    }),
    close: async () => {},
  }),
};

const proxy = new McpProxyTool(provider, [{ serverName: 'weather', resourceIds: [] }]);
const tool = proxy.asTool(); // name, description, parameters, execute: for your agent loop

console.log(await tool.execute({ search: 'will it rain in Oslo' }));
console.log(await tool.execute({ tool: 'get_forecast', args: { city: 'Oslo' } }));
await proxy.closeAll();
