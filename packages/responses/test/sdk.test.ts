import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryTransportV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { createMcpHandler, InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyToolResult,
  audio,
  compact,
  embeddedResource,
  image,
  isToolResponse,
  mix,
  parseToolError,
  readCompact,
  resourceLink,
  structured,
  text,
  toolError,
} from '../src/index.js';
import { shapes } from './support/shapes.js';

const forecast = z.object({ city: z.string(), celsius: z.number() });
const rows = shapes[3]!.make(30);

/** Tools that answer with every kind of result. */
const everything = () =>
  mix(
    text('hello', {
      annotations: { audience: ['user'], priority: 0.5, lastModified: new Date(0) },
      _meta: { 'x/y': 1 },
    }),
    image('AQID', 'image/png'),
    audio('AQID', 'audio/wav'),
    resourceLink({ uri: 'file:///a', name: 'a', size: 3 }),
    embeddedResource({ uri: 'file:///b', blob: new Uint8Array([1]), mimeType: 'application/octet-stream' }),
    embeddedResource({ uri: 'file:///c', text: 'c' }),
  );
const weather = ({ city }: { city: string }) =>
  city === 'Atlantis'
    ? toolError('NOT_FOUND', { message: 'No such city.' })
    : structured({ city, celsius: 21 }, { schema: forecast });
const citySchema = { city: z.string() };

function serverV2(): McpServer {
  const server = new McpServer({ name: 's', version: '1' });
  server.registerTool('everything', { inputSchema: z.object({}) }, everything);
  server.registerTool('compact', { inputSchema: z.object({}) }, () => compact(rows));
  server.registerTool('weather', { inputSchema: z.object(citySchema), outputSchema: forecast }, weather);
  return server;
}

interface Caller {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<AnyToolResult>;
  listTools(): Promise<unknown>;
  close(): Promise<void>;
}

const peers: Record<string, () => Promise<Caller>> = {
  'SDK v1': async () => {
    const server = new McpServerV1({ name: 's', version: '1' });
    server.registerTool('everything', { inputSchema: {} }, everything);
    server.registerTool('compact', { inputSchema: {} }, () => compact(rows));
    server.registerTool('weather', { inputSchema: citySchema, outputSchema: forecast.shape }, weather);
    const [near, far] = InMemoryTransportV1.createLinkedPair();
    const client = new ClientV1({ name: 'c', version: '1' });
    await Promise.all([server.connect(far), client.connect(near)]);
    return client as unknown as Caller; // Its callTool also knows a result of 2024-10, which no server here sends.
  },
  'SDK v2, legacy era': async () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'c', version: '1' });
    await Promise.all([serverV2().connect(far), client.connect(near)]);
    return client;
  },
  'SDK v2, modern era': async () => {
    const handler = createMcpHandler(serverV2);
    const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
    await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }));
    expect(client.getProtocolEra()).toBe('modern');
    return client;
  },
};

describe.each(Object.entries(peers))('through %s', (_name, connect) => {
  let client: Caller;
  beforeAll(async () => {
    client = await connect();
    await client.listTools(); // From then on the client checks structuredContent against the schema itself.
  });
  afterAll(() => client.close());

  test('every kind of content arrives as it was built', async () => {
    const result = await client.callTool({ name: 'everything', arguments: {} });
    expect(result.content).toEqual(everything().content);
  });

  test('compact data arrives with its note, and reads back', async () => {
    const result = await client.callTool({ name: 'compact', arguments: {} });
    expect(readCompact(result)).toEqual(rows);
    expect(isToolResponse(result)).toBe(false);
  });

  test('structuredContent matches the output schema, and an error needs none', async () => {
    const found = await client.callTool({ name: 'weather', arguments: { city: 'Bern' } });
    expect(found.structuredContent).toEqual({ city: 'Bern', celsius: 21 });
    const missing = await client.callTool({ name: 'weather', arguments: { city: 'Atlantis' } });
    expect(missing.isError).toBe(true);
    expect(parseToolError(missing)).toMatchObject({ code: 'NOT_FOUND', message: 'No such city.' });
  });
});
