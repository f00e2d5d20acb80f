import { Client as V2Client } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, describe, expect, test } from 'vitest';
import { connectClient } from '../src/client.js';
import { createHttpProbe } from '../src/http.js';
import {
  createEraResolver,
  createMcpEraCache,
  type EraEvent,
  type EraRuleName,
  mcpEraCacheKey,
  resolveMcpEra,
  serverInfoFromDiscover,
} from '../src/index.js';
import { createStdioProbe } from '../src/stdio.js';
import { type HttpServerKind, publishedServer, startServer, stdioFixture, type TestServer } from './servers.js';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
async function aServer(kind: HttpServerKind): Promise<TestServer> {
  const server = await startServer(kind);
  open.push(server);
  return server;
}

/** A resolver that counts. */
function counted(): { resolver: ReturnType<typeof createEraResolver>; count(type: EraEvent['type']): number } {
  const events: EraEvent[] = [];
  return {
    resolver: createEraResolver({ onEvent: (event) => events.push(event) }),
    count: (type) => events.filter((event) => event.type === type).length,
  };
}

const SERVERS: [kind: HttpServerKind, era: 'modern' | 'legacy', rule: EraRuleName][] = [
  ['v1-stateful', 'legacy', '400, 404 or 405 without a modern error'],
  ['v1-stateless', 'legacy', '400, 404 or 405 without a modern error'],
  ['v2-dual', 'modern', 'a modern version in common'],
  ['v2-modern', 'modern', 'a modern version in common'],
  ['hand-wired', 'modern', 'a modern version in common'],
];

describe('real servers over HTTP', () => {
  test.each(SERVERS)('%s is %s: %s', async (kind, era, rule) => {
    const { url } = await aServer(kind);
    const key = mcpEraCacheKey({ type: 'streamable-http', url });
    const probe = createHttpProbe({ url });
    expect(await createEraResolver().resolve({ key, probe })).toMatchObject({ era: { kind: era }, evidence: { rule } });
    const plain = await resolveMcpEra({
      probe,
      cache: createMcpEraCache(),
      key,
      probeSupported: true,
      serverName: kind,
    });
    expect(plain).toMatchObject({ era: { kind: era }, probes: 1 });
    if (era === 'modern') expect(serverInfoFromDiscover(plain.discover)).toEqual({ name: 'v2', version: '2.0.0' });
  });

  test.each(SERVERS)('%s is connected to as %s, by a client of 2.x, and its tool works', async (kind, era) => {
    const { url } = await aServer(kind);
    const client = new V2Client({ name: 'test', version: '1.0.0' });
    const connection = await connectClient({ type: 'streamable-http', url }, { client, resolver: createEraResolver() });
    open.push(connection);
    expect(connection.era.kind).toBe(era);
    expect(connection.client.getProtocolEra()).toBe(era);
    const answer = await connection.run((client) => client.callTool({ name: 'echo', arguments: { text: 'hi' } }));
    expect(answer.content).toEqual([{ type: 'text', text: 'hi' }]);
  });

  test.each(['v1-stateful', 'v1-stateless', 'v2-dual', 'hand-wired'] as const)(
    '%s is connected to by a client of 1.x, without a question',
    async (kind) => {
      const server = await aServer(kind);
      const client = new V1Client({ name: 'test', version: '1.0.0' });
      const connection = await connectClient(
        { type: 'streamable-http', url: server.url },
        { client, resolver: createEraResolver() },
      );
      open.push(connection);
      expect(connection.era.kind).toBe('legacy');
      const answer = await connection.client.callTool({ name: 'echo', arguments: { text: 'hi' } });
      expect(answer.content).toEqual([{ type: 'text', text: 'hi' }]);
      expect(server.count('server/discover')).toBe(0);
    },
  );

  test('a modern-only server and a client of 1.x: the error says what is needed', async () => {
    const { url } = await aServer('v2-modern');
    const client = new V1Client({ name: 'test', version: '1.0.0' });
    const connecting = connectClient({ type: 'streamable-http', url }, { client, resolver: createEraResolver() });
    await expect(connecting).rejects.toThrow(/@modelcontextprotocol\/client/);
  });

  test.each([
    ['1.x', V1Client],
    ['2.x', V2Client],
  ])(
    'a server of the older HTTP+SSE transport is reached at a Streamable HTTP address, by a client of %s',
    async (_generation, Client) => {
      const { url } = await aServer('v1-sse');
      const client = new Client({ name: 'test', version: '1.0.0' }) as V2Client;
      const connection = await connectClient(
        { type: 'streamable-http', url },
        { client, resolver: createEraResolver() },
      );
      open.push(connection);
      expect((await connection.client.listTools()).tools).toHaveLength(1);
    },
  );

  test('a server of the older transport is not asked, where the address says so', async () => {
    const server = await aServer('v1-sse');
    const client = new V2Client({ name: 'test', version: '1.0.0' });
    const connection = await connectClient(
      { type: 'http-sse', url: server.url },
      { client, resolver: createEraResolver() },
    );
    open.push(connection);
    expect(connection.era).toEqual({ kind: 'legacy', version: '2024-11-05' });
    expect(server.count('server/discover')).toBe(0);
    expect((await connection.client.listTools()).tools).toHaveLength(1);
  });
});

describe('a warm connect costs no extra round trip', () => {
  test.each(SERVERS)('to %s', async (kind) => {
    const server = await aServer(kind);
    const { resolver, count } = counted();
    const connect = async (): Promise<string[]> => {
      const before = server.requests.length;
      const client = new V2Client({ name: 'test', version: '1.0.0' });
      const connection = await connectClient({ type: 'streamable-http', url: server.url }, { client, resolver });
      await connection.client.listTools();
      const seen = server.requests.slice(before).filter(({ http }) => http === 'POST');
      await connection.close();
      return seen.map(({ rpc }) => rpc ?? '');
    };
    const opening = (await connect())[0];
    expect(opening).toBe('server/discover');
    const warm = await connect();
    expect(warm).toEqual(
      kind.startsWith('v1') ? ['initialize', 'notifications/initialized', 'tools/list'] : ['tools/list'],
    );
    expect([count('probe'), count('hit')]).toEqual([1, 1]);
  });

  test('a hundred clients at once ask once', async () => {
    const server = await aServer('v2-dual');
    const { resolver } = counted();
    const target = { type: 'streamable-http', url: server.url } as const;
    const connections = await Promise.all(
      Array.from({ length: 100 }, () =>
        connectClient(target, { client: new V2Client({ name: 'test', version: '1.0.0' }), resolver }),
      ),
    );
    expect(server.count('server/discover')).toBe(1);
    expect(connections.every(({ era }) => era.kind === 'modern')).toBe(true);
    await Promise.all(connections.map((connection) => connection.close()));
  });
});

describe('real servers over stdio', () => {
  test.each([
    ['v1-stdio', 'legacy', 'not a modern error'],
    ['v2-stdio', 'modern', 'a modern version in common'],
  ] as const)('%s is %s: %s, as the probe and as a connection find', async (name, era, rule) => {
    const probe = createStdioProbe({ ...stdioFixture(name), timeoutMs: 60_000 });
    const key = mcpEraCacheKey({ type: 'stdio', ...stdioFixture(name) });
    expect(await createEraResolver().resolve({ key, probe })).toMatchObject({ era: { kind: era }, evidence: { rule } });
    const { resolver, count } = counted();
    for (let i = 0; i < 2; i++) {
      const client = new V2Client({ name: 'test', version: '1.0.0' });
      const connection = await connectClient(
        { type: 'stdio', ...stdioFixture(name) },
        { client, resolver, probeTimeoutMs: 60_000 },
      );
      expect(connection.client.getProtocolEra()).toBe(era);
      const answer = await connection.client.callTool({ name: 'echo', arguments: { text: 'hi' } });
      expect(answer.content).toEqual([{ type: 'text', text: 'hi' }]);
      await connection.close();
    }
    expect([count('probe'), count('hit')]).toEqual([1, 1]);
  });

  test.each([
    ['server-everything', 'stdio'],
    ['server-filesystem', '/'],
    ['server-memory', ''],
    ['server-sequential-thinking', ''],
  ])('the published %s is legacy, and lists its tools', async (name, arg) => {
    const server = publishedServer(name, ...(arg ? [arg] : []));
    const client = new V2Client({ name: 'test', version: '1.0.0' });
    const connection = await connectClient(
      { type: 'stdio', ...server },
      { client, resolver: createEraResolver(), probeTimeoutMs: 60_000 },
    );
    open.push(connection);
    expect(connection).toMatchObject({
      era: { kind: 'legacy' },
      resolution: { evidence: { rule: 'not a modern error' } },
    });
    expect((await connection.client.listTools()).tools.length).toBeGreaterThan(0);
  });

  test('a client of 1.x connects too', async () => {
    const client = new V1Client({ name: 'test', version: '1.0.0' });
    const connection = await connectClient(
      { type: 'stdio', ...stdioFixture('v2-stdio') },
      { client, resolver: createEraResolver() },
    );
    open.push(connection);
    expect((await connection.client.listTools()).tools).toHaveLength(1);
  });
});
