/** Servers and clients of @modelcontextprotocol/server and /client, in both eras. */
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import {
  type CallToolResult,
  createMcpHandler,
  InMemoryTransport,
  McpServer,
  type McpServerFactory,
  ResourceTemplate,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { attachGate, createPrincipalHandlers, type PrincipalListeners, type ProtocolEra } from '../../src/mcp.js';
import { asAnswer, Counter, type Running, type ServerKind, type ServerSpec, type TestClient } from './harness.js';

type Made = McpServer | Server;
/** What the serving entry adds to the spec's attach options. */
interface Extra {
  readonly era?: ProtocolEra;
  readonly listeners?: PrincipalListeners;
}

const INFO = { name: 'shop', version: '1.0.0' };
const MODERN = '2026-07-28';

const gate = (server: Made, spec: ServerSpec, extra: Extra) => {
  const attached = attachGate(server, spec.sessions, { ...extra, ...spec.attach });
  spec.onServer?.(server, attached);
};

function makeV2McpServer(spec: ServerSpec, extra: Extra = {}): McpServer {
  const server = new McpServer(INFO, { capabilities: { tools: {} } });
  if (spec.attachFirst) gate(server, spec, extra);
  for (const tool of spec.tools) {
    server.registerTool(
      tool.name,
      {
        description: tool.name,
        inputSchema: z.looseObject({}),
        ...(tool.checked ? { outputSchema: z.object({ total: z.number() }) } : {}),
      },
      async (args, ctx) => (await tool.run({ args, signal: ctx.mcpReq.signal, context: { ...ctx } })) as CallToolResult,
    );
  }
  for (const prompt of spec.prompts ?? []) {
    server.registerPrompt(prompt, { description: prompt }, () => ({
      messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    }));
  }
  for (const uri of spec.resources ?? []) {
    const read = (at: URL) => ({ contents: [{ uri: at.toString(), text: 'read' }] });
    if (uri.includes('{')) server.registerResource(uri, new ResourceTemplate(uri, { list: undefined }), {}, read);
    else server.registerResource(uri, uri, {}, read);
  }
  if (!spec.attachFirst) gate(server, spec, extra);
  return server;
}

function makeV2Server(spec: ServerSpec, extra: Extra = {}): Server {
  const server = new Server(INFO, {
    capabilities: {
      tools: {},
      ...(spec.prompts ? { prompts: { listChanged: true } } : {}),
      ...(spec.resources ? { resources: { listChanged: true } } : {}),
    },
  });
  if (spec.attachFirst) gate(server, spec, extra);
  const names = spec.tools.map(({ name }) => name);
  server.setRequestHandler('tools/list', ({ params }) => {
    const size = spec.pageSize ?? names.length;
    const start = Number(params?.cursor ?? 0);
    return {
      tools: names
        .slice(start, start + size)
        .map((name) => ({ name, description: name, inputSchema: { type: 'object' as const } })),
      ...(start + size < names.length ? { nextCursor: String(start + size) } : {}),
    };
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const tool = spec.tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new Error(`no tool ${params.name}`);
    const call = { args: params.arguments ?? {}, signal: ctx.mcpReq.signal, context: { ...ctx } };
    return (await tool.run(call)) as CallToolResult;
  });
  if (spec.prompts) {
    server.setRequestHandler('prompts/list', () => ({ prompts: spec.prompts!.map((name) => ({ name })) }));
    server.setRequestHandler('prompts/get', ({ params }) => ({
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: params.name } }],
    }));
  }
  if (spec.resources) {
    const uris = spec.resources.filter((uri) => !uri.includes('{'));
    const templates = spec.resources.filter((uri) => uri.includes('{'));
    server.setRequestHandler('resources/list', () => ({ resources: uris.map((uri) => ({ uri, name: uri })) }));
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
    }));
    server.setRequestHandler('resources/read', ({ params }) => ({ contents: [{ uri: params.uri, text: 'read' }] }));
  }
  if (!spec.attachFirst) gate(server, spec, extra);
  return server;
}

async function connectV2Client(transport: Transport, era: ProtocolEra): Promise<TestClient> {
  const client = new Client(
    { name: 'host', version: '1.0.0' },
    {
      capabilities: { elicitation: {} },
      versionNegotiation: { mode: era === 'modern' ? { pin: MODERN } : 'legacy' },
    },
  );
  const changes = new Counter();
  client.setNotificationHandler('notifications/tools/list_changed', () => changes.increment());
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { ok: true } }));
  await client.connect(transport);
  if (era === 'modern') await client.listen({ toolsListChanged: true });
  return {
    async listTools() {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const result = await client.listTools(cursor === undefined ? undefined : { cursor });
        names.push(...result.tools.map(({ name }) => name));
        cursor = result.nextCursor;
      } while (cursor !== undefined);
      return names;
    },
    // An explicit cursor, even an empty one, asks for one page.
    listPage: async (cursor, _meta) =>
      client.request({
        method: 'tools/list',
        params: { ...(cursor === undefined ? {} : { cursor }), ...(_meta && { _meta }) },
      }),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate),
    getPrompt: (name) => client.getPrompt({ name }),
    readResource: (uri) => client.readResource({ uri }),
    call: async (name, args = {}, options = {}) => asAnswer(await client.callTool({ name, arguments: args }, options)),
    changes: () => changes.count,
    untilChanges: (count) => changes.until(count),
    close: () => client.close(),
  };
}

type Make = (spec: ServerSpec, extra?: Extra) => Made;

const inMemory =
  (make: Make) =>
  async (spec: ServerSpec): Promise<Running> => {
    const servers: Made[] = [];
    return {
      async connect() {
        const [ours, theirs] = InMemoryTransport.createLinkedPair();
        const server = make(spec);
        servers.push(server);
        await server.connect(theirs);
        return connectV2Client(ours, 'legacy');
      },
      stop: async () => {
        await Promise.all(servers.map((server) => server.close()));
      },
    };
  };

const overHttp =
  (make: Make) =>
  async (spec: ServerSpec): Promise<Running> => {
    const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
    const serve = async (request: Request): Promise<Response> => {
      const id = request.headers.get('mcp-session-id');
      const known = id === null ? undefined : sessions.get(id);
      if (known !== undefined) return known.handleRequest(request);
      if (id !== null) return new Response('no such session', { status: 404 });
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (sessionId) => {
          sessions.set(sessionId, transport);
        },
      });
      await make(spec).connect(transport);
      return transport.handleRequest(request);
    };
    return {
      fetch: serve,
      async connect() {
        const transport = new StreamableHTTPClientTransport(new URL('http://shop.test/mcp'), {
          fetch: (url, init) => serve(new Request(url, init)),
        });
        const client = await connectV2Client(transport, 'legacy');
        return {
          ...client,
          close: async () => {
            await transport.terminateSession();
            await client.close();
          },
        };
      },
      stop: async () => {
        await Promise.all([...sessions.values()].map((transport) => transport.close()));
      },
    };
  };

const perRequest =
  (era: ProtocolEra, make: Make) =>
  async (spec: ServerSpec): Promise<Running> => {
    const handlers = createPrincipalHandlers({
      create: (bus, listeners) => createMcpHandler((ctx) => make(spec, { era: ctx.era, listeners }), { bus }),
    });
    const clients: TestClient[] = [];
    return {
      async connect({ principal = 'ada' } = {}) {
        const authInfo = { token: 'secret', clientId: 'host', scopes: [], extra: { sub: principal } };
        const transport = new StreamableHTTPClientTransport(new URL('http://shop.test/mcp'), {
          fetch: (url, init) => handlers.fetch(new Request(url, init), { authInfo }),
        });
        const client = await connectV2Client(transport, era);
        clients.push(client);
        return client;
      },
      stop: async () => {
        await Promise.all(clients.map((client) => client.close()));
        await handlers.close();
      },
    };
  };

const overStdio =
  (era: ProtocolEra, make: Make) =>
  async (spec: ServerSpec): Promise<Running> => {
    const closing: (() => Promise<void>)[] = [];
    return {
      async connect() {
        const [ours, theirs] = InMemoryTransport.createLinkedPair();
        const factory: McpServerFactory = (ctx) => make(spec, { era: ctx.era });
        const handle = serveStdio(factory, { transport: theirs });
        closing.push(() => handle.close());
        return connectV2Client(ours, era);
      },
      stop: async () => {
        await Promise.all(closing.map((close) => close()));
      },
    };
  };

type Traits = Omit<ServerKind, 'name' | 'start'>;
const SESSION: Traits = {
  era: 'legacy',
  stateOf: 'connection',
  autoHides: true,
  hides: true,
  notifies: true,
  lowLevel: false,
};
const PRINCIPAL: Traits = { ...SESSION, era: 'modern', stateOf: 'principal', autoHides: false };

export const V2_KINDS: readonly ServerKind[] = [
  { ...SESSION, name: 'server 2.x McpServer', start: inMemory(makeV2McpServer) },
  { ...SESSION, name: 'server 2.x Server', lowLevel: true, start: inMemory(makeV2Server) },
  { ...SESSION, name: 'server 2.x Server over Streamable HTTP', lowLevel: true, start: overHttp(makeV2Server) },
  { ...SESSION, name: 'serveStdio, legacy client', start: overStdio('legacy', makeV2McpServer) },
  {
    ...SESSION,
    name: 'serveStdio, modern client',
    era: 'modern',
    autoHides: false,
    hides: false,
    notifies: false,
    start: overStdio('modern', makeV2McpServer),
  },
  { ...PRINCIPAL, name: 'createMcpHandler, modern client', start: perRequest('modern', makeV2McpServer) },
  {
    ...PRINCIPAL,
    name: 'createMcpHandler with Server, modern client',
    lowLevel: true,
    start: perRequest('modern', makeV2Server),
  },
  {
    ...PRINCIPAL,
    name: 'createMcpHandler, legacy client without a session',
    era: 'legacy',
    notifies: false,
    start: perRequest('legacy', makeV2McpServer),
  },
];
