/** Modern HTTP with authorization: what is closed leaves the principal's list, and the principal's listeners hear of changes. */
import { StateMachineGate } from '@mcp-interlock/fsm-gate';
import { attachGate, createPrincipalHandlers } from '@mcp-interlock/fsm-gate/mcp';
import { createGateSessions } from '@mcp-interlock/fsm-gate/sessions';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const gate = new StateMachineGate({
  initial: 'draft',
  states: { draft: { on: { SUBMIT: 'review' } }, review: { on: { APPROVE: 'done' } }, done: { type: 'final' } },
})
  .bindTool('submit', 'draft', 'SUBMIT')
  .bindTool('approve', 'review', 'APPROVE');
const sessions = createGateSessions({ gate });

function buildServer(): McpServer {
  const server = new McpServer({ name: 'reports', version: '1.0.0' });
  for (const name of ['submit', 'approve']) {
    server.registerTool(name, { description: `To ${name} the report.`, inputSchema: z.object({}) }, async () => ({
      content: [{ type: 'text', text: 'done' }],
    }));
  }
  return server;
}

const handlers = createPrincipalHandlers({
  create: (bus, listeners) =>
    createMcpHandler(
      ({ era }) => {
        const server = buildServer();
        attachGate(server, sessions, { era, listing: 'hide', listeners });
        return server;
      },
      { bus },
    ),
});

/** Put your token verification here: the principal is the verified subject, `extra.sub`. */
const authenticate = (request: Request) => {
  const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
  return { token, clientId: 'host', scopes: [], extra: { sub: token } };
};

export default {
  fetch: (request: Request): Promise<Response> => handlers.fetch(request, { authInfo: authenticate(request) }),
};
