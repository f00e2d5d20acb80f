/** Servers and clients of @modelcontextprotocol/sdk (2025 era). */
import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ElicitRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { attachGate } from '../../src/mcp.js';
import { asAnswer, Counter, type Running, type ServerKind, type ServerSpec, type TestClient } from './harness.js';

type Made = { readonly connect: (transport: Transport) => Promise<void>; readonly close: () => Promise<void> };

const INFO = { name: 'shop', version: '1.0.0' };
const page = (items: readonly string[], cursor: string | undefined, size: number) => {
  const start = Number(cursor ?? 0);
  const next = start + size < items.length ? { nextCursor: String(start + size) } : {};
  return { items: items.slice(start, start + size), next };
};

const gate = (server: McpServer | Server, spec: ServerSpec) => {
  const attached = attachGate(server, spec.sessions, spec.attach);
  spec.onServer?.(server, attached);
};

function makeV1McpServer(spec: ServerSpec): McpServer {
  const server = new McpServer(INFO, { taskStore: new InMemoryTaskStore(), capabilities: { tools: {} } });
  const attach = () => gate(server, spec);
  if (spec.attachFirst) attach();
  for (const tool of spec.tools) {
    server.registerTool(
      tool.name,
      {
        description: tool.name,
        inputSchema: z.looseObject({}),
        ...(tool.checked ? { outputSchema: z.object({ total: z.number() }) } : {}),
      },
      async (args, extra) => (await tool.run({ args, signal: extra.signal, context: { ...extra } })) as CallToolResult,
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
  if (!spec.attachFirst) attach();
  return server;
}

function makeV1Server(spec: ServerSpec): Server {
  const server = new Server(INFO, {
    taskStore: new InMemoryTaskStore(),
    capabilities: {
      tools: {},
      ...(spec.prompts ? { prompts: { listChanged: true } } : {}),
      ...(spec.resources ? { resources: { listChanged: true } } : {}),
    },
  });
  const attach = () => gate(server, spec);
  if (spec.attachFirst) attach();
  const names = spec.tools.map(({ name }) => name);
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const { items, next } = page(names, params?.cursor, spec.pageSize ?? names.length);
    return {
      tools: items.map((name) => ({ name, description: name, inputSchema: { type: 'object' as const } })),
      ...next,
    };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = spec.tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new Error(`no tool ${params.name}`);
    return (await tool.run({
      args: params.arguments ?? {},
      signal: extra.signal,
      context: { ...extra },
    })) as CallToolResult;
  });
  if (spec.prompts) {
    server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: spec.prompts!.map((name) => ({ name })) }));
    server.setRequestHandler(GetPromptRequestSchema, ({ params }) => ({
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: params.name } }],
    }));
  }
  if (spec.resources) {
    const [templates, uris] = [true, false].map((is) => spec.resources!.filter((uri) => uri.includes('{') === is));
    server.setRequestHandler(ListResourcesRequestSchema, () => ({
      resources: uris!.map((uri) => ({ uri, name: uri })),
    }));
    server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: templates!.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
    }));
    server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({
      contents: [{ uri: params.uri, text: 'read' }],
    }));
  }
  if (!spec.attachFirst) attach();
  return server;
}

async function connectV1Client(transport: Transport): Promise<TestClient> {
  const client = new Client({ name: 'host', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  const changes = new Counter();
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: {} }));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changes.increment());
  await client.connect(transport);
  return {
    async listTools() {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const result = await client.listTools(cursor === undefined ? {} : { cursor });
        names.push(...result.tools.map(({ name }) => name));
        cursor = result.nextCursor;
      } while (cursor !== undefined);
      return names;
    },
    listPage: (cursor, _meta) =>
      client.listTools({ ...(cursor === undefined ? {} : { cursor }), ...(_meta && { _meta }) }),
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate),
    getPrompt: (name) => client.getPrompt({ name }),
    readResource: (uri) => client.readResource({ uri }),
    call: async (name, args = {}, options = {}) =>
      asAnswer(await client.callTool({ name, arguments: args }, undefined, options)),
    changes: () => changes.count,
    untilChanges: (count) => changes.until(count),
    close: () => client.close(),
  };
}

const kindOf = (name: string, lowLevel: boolean, start: ServerKind['start']): ServerKind => ({
  name,
  era: 'legacy',
  stateOf: 'connection',
  autoHides: true,
  hides: true,
  notifies: true,
  lowLevel,
  start,
});

const inMemory =
  (make: (spec: ServerSpec) => Made) =>
  async (spec: ServerSpec): Promise<Running> => {
    const servers: Made[] = [];
    return {
      async connect() {
        const [ours, theirs] = InMemoryTransport.createLinkedPair();
        const server = make(spec);
        servers.push(server);
        await server.connect(theirs);
        return connectV1Client(ours);
      },
      stop: async () => {
        await Promise.all(servers.map((server) => server.close()));
      },
    };
  };

/** Sessions over Streamable HTTP, without a socket: the client's fetch is the server. */
const overHttp =
  (make: (spec: ServerSpec) => Made) =>
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
      await make(spec).connect(transport as Transport);
      return transport.handleRequest(request);
    };
    return {
      fetch: serve,
      async connect() {
        const transport = new StreamableHTTPClientTransport(new URL('http://shop.test/mcp'), {
          fetch: (url, init) => serve(new Request(url, init)),
        });
        const client = await connectV1Client(transport as Transport);
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

export const V1_KINDS: readonly ServerKind[] = [
  kindOf('sdk 1.x McpServer', false, inMemory(makeV1McpServer)),
  kindOf('sdk 1.x Server', true, inMemory(makeV1Server)),
  kindOf('sdk 1.x McpServer over Streamable HTTP', false, overHttp(makeV1McpServer)),
];
