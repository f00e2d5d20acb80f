import { guardTool, structured } from '@mcp-interlock/responses';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const forecast = z.object({ city: z.string(), celsius: z.number() });

const handler = guardTool(async ({ city }: { city: string }) =>
  structured({ city, celsius: 21 }, { schema: forecast }),
);

// The same results are results of either SDK generation.
const modern = new McpServer({ name: 'weather', version: '1.0.0' });
modern.registerTool('forecast', { inputSchema: z.object({ city: z.string() }), outputSchema: forecast }, handler);

const legacy = new McpServerV1({ name: 'weather', version: '1.0.0' });
legacy.registerTool('forecast', { inputSchema: { city: z.string() }, outputSchema: forecast.shape }, handler);

console.log(JSON.stringify(await handler({ city: 'Bern' })));
