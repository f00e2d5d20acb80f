import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';

async function superviseServer(): Promise<InMemoryTransport> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await new McpServer({ name: 'supervised', version: '1.0.0' }, { capabilities: { tools: {} } }).connect(theirs);
  return ours;
}

// #region own-transport
import { connectClient } from '@mcp-interlock/mcp-era/client';

const connection = await connectClient(
  {
    type: 'transport',
    kind: 'stdio', // silence and an exit are read as over stdio
    key: 'stdio:supervised',
    // Asked over and then used: one process. A second is made only after the first has ended.
    createTransport: () => superviseServer(),
  },
  { client: new Client({ name: 'my-host', version: '1.0.0' }) },
);
console.log(connection.era.kind, connection.client.getServerVersion()?.name);
// legacy supervised
await connection.close();
// #endregion
