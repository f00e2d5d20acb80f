import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const challenge = 'Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"';
const server = createServer((_request, response) => {
  response.writeHead(401, { 'www-authenticate': challenge }).end();
}).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;

// #region undetermined
import { EraUndeterminedError } from '@mcp-interlock/mcp-era';
import { connectClient } from '@mcp-interlock/mcp-era/client';

try {
  await connectClient({ type: 'streamable-http', url });
} catch (error) {
  if (!(error instanceof EraUndeterminedError)) throw error;
  const { reason } = error;
  if (reason.kind === 'sign-in-needed') console.log('start OAuth with:', reason.challenge);
  else if (reason.kind === 'unavailable') console.log('try again in', reason.retryAfterMs ?? 1000, 'ms');
  else console.log(error.message);
}
// start OAuth with: Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"
// #endregion

server.close();
