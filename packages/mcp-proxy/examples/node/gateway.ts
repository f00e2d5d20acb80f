import { openProxy } from '@mcp-interlock/mcp-proxy/node';
import { approveByAsking, changesSomething, createGateway, serveHttp } from '@mcp-interlock/mcp-proxy/server';

const opened = await openProxy({
  config: 'mcp.json',
  reload: 'watch',
  // What upstreams ask for during a call goes to the host of that call.
  provider: { relay: ['elicitation/create', 'sampling/createMessage', 'roots/list'] },
  proxy: { approve: approveByAsking({ needsApproval: changesSomething }) },
});
const gateway = createGateway({
  proxy: opened.proxy,
  // A few tools that an agent needs all the time, beside the one that finds the others.
  directTools: ['everything/echo'],
});
const { url, close } = await serveHttp(gateway, { port: 0 });
console.log(`hosts of both eras connect to ${url.replace(/:\d+/, ':<port>')}`);

await close();
gateway.close();
await opened.close();
