import { openProxy } from '@mcp-interlock/mcp-proxy/node';

const { proxy, close } = await openProxy({ config: 'mcp.json' });
console.log(await proxy.asTool().execute({ search: 'echo a message' }));
console.log(await proxy.asTool().execute({ tool: 'echo', args: { message: 'hello' } }));
await close();
