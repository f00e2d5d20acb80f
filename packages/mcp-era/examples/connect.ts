import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';

const handler = createMcpHandler(
  () => new McpServer({ name: 'weather', version: '1.0.0' }, { capabilities: { tools: {} } }),
);
const serve = toNodeHandler(handler);
const server = createServer((request, response) => void serve(request as never, response)).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

// #region connect
import { connectClient } from '@mcp-interlock/mcp-era/client';
import { Client } from '@modelcontextprotocol/client';

const connection = await connectClient(
  { type: 'streamable-http', url },
  { client: new Client({ name: 'my-host', version: '1.0.0' }) },
);
// Retried once in the other era, should the server's refusal show that it changed.
const { tools } = await connection.run((client) => client.listTools());
console.log(connection.era.kind, connection.client.getServerVersion()?.name, tools.length);
// modern weather 0
await connection.close();
// #endregion

server.close();
