import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HostileStdioMode, hostileStdio } from '@mcp-interlock/test-kit/era-hostile-stdio';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ConnectOptions, connectClient, type EraConnection, type EraHeal, type EraTarget } from '../src/client.js';
import {
  createEraResolver,
  createMcpEraCache,
  type EraEvent,
  EraUndeterminedError,
  type McpEra,
  mcpEraCacheKey,
} from '../src/index.js';
import { type SetTimer, StdioTransport } from '../src/stdio.js';
import { aClock, type Clock } from './clock.js';
import { forward, startServer, type TestServer } from './servers.js';

const open: { close(): Promise<unknown> }[] = [];
let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'era-connect-'));
});
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await rm(dir, { recursive: true, force: true });
});

async function aServer(kind: Parameters<typeof startServer>[0]): Promise<TestServer> {
  const server = await startServer(kind);
  open.push(server);
  return server;
}

/** Something to wait for, and how it comes about. */
function aSignal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

interface World {
  readonly clock: Clock;
  readonly events: EraEvent[];
  readonly heals: EraHeal[];
  readonly errors: unknown[];
  readonly pids: number[];
  count(type: EraEvent['type']): number;
  knows(target: EraTarget, era: McpEra): Promise<void>;
  connect(target: EraTarget, options?: Partial<ConnectOptions<Client>>): Promise<EraConnection<Client>>;
}

/** A resolver and a clock that connections share, and everything they tell. */
function aWorld(): World {
  const clock = aClock();
  const events: EraEvent[] = [];
  const heals: EraHeal[] = [];
  const errors: unknown[] = [];
  const cache = createMcpEraCache();
  const resolver = createEraResolver({
    cache,
    now: clock.now,
    random: () => 0,
    onEvent: (event) => events.push(event),
  });
  return {
    clock,
    events,
    heals,
    errors,
    pids: [],
    count: (type) => events.filter((event) => event.type === type).length,
    knows: async (target, era) => {
      if (target.type === 'transport') throw new Error('not in these tests');
      const times = { checkedAt: clock.now(), expiresAt: clock.now() + 3_600_000 };
      await cache.set(mcpEraCacheKey(target), { ...era, ...times });
    },
    connect: async (target, options = {}) => {
      const connection = await connectClient(target, {
        resolver,
        now: clock.now,
        probeTimeoutMs: 60_000,
        onHeal: (heal) => heals.push(heal),
        onError: (error) => errors.push(error),
        ...options,
        client: options.client ?? new Client({ name: 'test', version: '1.0.0' }),
      });
      open.push(connection);
      return connection;
    },
  };
}

/** The time for an answer is up as soon as the question has been sent; nothing else ever times out. */
const patienceEndsAtOnce: SetTimer = (callback, ms) => {
  if (ms === 3000) setImmediate(callback);
  return () => {};
};

const LEGACY: McpEra = { kind: 'legacy', version: '2025-11-25' };
const MODERN: McpEra = { kind: 'modern', version: '2026-07-28' };
const stdio = (mode: HostileStdioMode, note?: string): EraTarget => ({ type: 'stdio', ...hostileStdio(mode, note) });
const httpTo = (server: TestServer): EraTarget => ({ type: 'streamable-http', url: server.url });
const toolNames = async (connection: EraConnection<Client>): Promise<string[]> =>
  (await connection.run((client) => client.listTools())).tools.map(({ name }) => name);

describe('over stdio', () => {
  test.each<[HostileStdioMode, McpEra['kind']]>([
    ['legacy', 'legacy'],
    ['modern', 'modern'],
    ['dual', 'modern'],
    ['beside', 'modern'],
    ['two-answers', 'modern'],
    ['null-id', 'legacy'],
    ['chatty', 'legacy'],
    ['floods-stderr', 'legacy'],
    ['exits-on-question', 'legacy'],
  ])('a %s server is connected to as %s, and works', async (mode, era) => {
    const connection = await aWorld().connect(stdio(mode));
    expect(connection.era.kind).toBe(era);
    expect(await toolNames(connection)).toEqual(['mode']);
  });

  test('a server that exits on the question is started afresh, after the first one has gone', async () => {
    const { connect, count } = aWorld();
    const target = stdio('single-instance', join(dir, 'lock'));
    const first = await connect(target);
    expect(first.resolution.evidence.rule).toBe('an exit');
    expect(await toolNames(first)).toEqual(['mode']);
    await first.close();
    // And the second time it is not asked at all.
    const second = await connect(target);
    expect(await toolNames(second)).toEqual(['mode']);
    expect([count('probe'), count('hit')]).toEqual([1, 1]);
  });

  test('a server may be asked on a sibling instead, which is gone before the connection starts', async () => {
    const { connect, count } = aWorld();
    const target = stdio('single-instance', join(dir, 'lock'));
    const connection = await connect(target, { ask: 'sibling' });
    expect(connection.resolution.evidence).toMatchObject({
      rule: 'an exit',
      received: expect.stringContaining('code 1'),
    });
    expect(await toolNames(connection)).toEqual(['mode']);
    expect(count('probe')).toBe(1);
  });

  test('a server that is silent on the question is legacy when the time is up, on the same process', async () => {
    const { connect } = aWorld();
    let transports = 0;
    const connection = await connect(
      {
        type: 'transport',
        kind: 'stdio',
        key: 'stdio:silent',
        createTransport: () => {
          transports++;
          return new StdioTransport(hostileStdio('silent'));
        },
      },
      { probeTimeoutMs: 3000, setTimer: patienceEndsAtOnce },
    );
    expect(connection).toMatchObject({ era: LEGACY, resolution: { evidence: { rule: 'silence on stdio' } } });
    expect(await toolNames(connection)).toEqual(['mode']);
    expect(transports).toBe(1);
  });

  test('an answer that comes late still counts: the connection turns modern', async () => {
    const { connect, heals } = aWorld();
    const turned = aSignal();
    const connecting = connect(stdio('late'), {
      probeTimeoutMs: 3000,
      setTimer: patienceEndsAtOnce,
      onHeal: (heal) => {
        heals.push(heal);
        turned.resolve();
      },
    });
    const connection = await connecting;
    await turned.promise;
    expect(connection.era).toEqual(MODERN);
    expect(connection.client.getProtocolEra()).toBe('modern');
    expect(heals).toMatchObject([{ from: 'legacy', to: 'modern' }]);
    expect(await toolNames(connection)).toEqual(['mode']);
  });

  test('an `initialize` refused with -32022 turns the connection modern', async () => {
    const { connect, knows, heals, count } = aWorld();
    await knows(stdio('modern'), LEGACY);
    const connection = await connect(stdio('modern'));
    expect(connection.era).toEqual(MODERN);
    expect(await toolNames(connection)).toEqual(['mode']);
    expect(heals).toMatchObject([{ from: 'legacy', to: 'modern' }]);
    expect(count('heal')).toBe(1);
  });

  test('a server that says modern and does not do it is found out at its first refusal', async () => {
    const { connect, heals } = aWorld();
    const connection = await connect(stdio('claims-modern'));
    expect(connection.era).toEqual(MODERN);
    expect(await toolNames(connection)).toEqual(['mode']);
    expect(connection.era.kind).toBe('legacy');
    expect(heals).toMatchObject([{ from: 'modern', to: 'legacy' }]);
  });

  test('what cannot be started is said by its name, and nothing is cached', async () => {
    const { connect, count } = aWorld();
    const target = { type: 'stdio', command: 'no-such-command-anywhere' } as const;
    await expect(connect(target)).rejects.toThrow(/no-such-command-anywhere/);
    await expect(connect(target)).rejects.toBeInstanceOf(EraUndeterminedError);
    expect(count('hit')).toBe(0);
  });

  test('a server that cannot run at all is not remembered as a legacy one', async () => {
    const { connect, count } = aWorld();
    await expect(connect(stdio('exits-at-once'))).rejects.toThrow();
    await expect(connect(stdio('exits-at-once'))).rejects.toThrow();
    expect([count('probe'), count('hit')]).toEqual([2, 0]);
  });

  test('aborting while it is asked ends the process', async () => {
    const { connect } = aWorld();
    const leaving = new AbortController();
    const made: StdioTransport[] = [];
    const connecting = connect(
      {
        type: 'transport',
        kind: 'stdio',
        key: 'stdio:dead',
        createTransport: () => {
          const transport = new StdioTransport(hostileStdio('dead'));
          const send = transport.send.bind(transport);
          transport.send = async (message) => {
            await send(message);
            leaving.abort(new Error('gone'));
          };
          made.push(transport);
          return transport;
        },
      },
      { signal: leaving.signal },
    );
    await expect(connecting).rejects.toThrow('gone');
    await made[0]?.exit;
    expect(made).toHaveLength(1);
  });
});

describe('a transport of the host', () => {
  test('that is made only after the connecting was aborted is never started', async () => {
    const { connect } = aWorld();
    const leaving = new AbortController();
    const transport = new StdioTransport(hostileStdio('modern'));
    const [asked, made] = [aSignal(), aSignal()];
    const connecting = connect(
      {
        type: 'transport',
        kind: 'stdio',
        key: 'stdio:slow-to-make',
        createTransport: async () => {
          asked.resolve();
          await made.promise;
          return transport;
        },
      },
      { signal: leaving.signal },
    );
    await asked.promise;
    leaving.abort(new Error('gone'));
    await expect(connecting).rejects.toThrow('gone');
    made.resolve();
    // Closed without having been started: there is no process.
    await transport.exit;
    expect(transport.pid).toBeUndefined();
  });

  test('is asked over, is the connection, and is only made again after the one before has been closed', async () => {
    const { connect } = aWorld();
    let living = 0;
    const made: string[] = [];
    const connection = await connect({
      type: 'transport',
      kind: 'stdio',
      key: 'stdio:own',
      serverName: 'own',
      createTransport: () => {
        expect(living).toBe(0);
        living++;
        const transport = new StdioTransport(hostileStdio('exits-on-question'));
        transport.exit.then(() => living--);
        made.push('process');
        return transport;
      },
    });
    expect(made).toHaveLength(2);
    expect(await toolNames(connection)).toEqual(['mode']);
  });

  test('may be anything that the SDK takes', async () => {
    const { connect } = aWorld();
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await new McpServer({ name: 'memory', version: '1.0.0' }, { capabilities: { tools: {} } }).connect(theirs);
    const connection = await connect({ type: 'transport', kind: 'http', key: 'memory', createTransport: () => ours });
    expect(connection.era.kind).toBe('legacy');
    expect(connection.client.getServerVersion()).toMatchObject({ name: 'memory' });
  });
});

describe('a server is upgraded under a live client', () => {
  test('at once, when it refuses the old era: one reconnect, and the request goes through', async () => {
    const server = await aServer('v1-stateful');
    const { connect, heals } = aWorld();
    const connection = await connect(httpTo(server));
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(connection.era.kind).toBe('legacy');

    await server.become('v2-modern');
    const answer = await connection.run((client) => client.callTool({ name: 'echo', arguments: { text: 'hi' } }));
    expect(answer.content).toEqual([{ type: 'text', text: 'hi' }]);
    expect(connection.era).toEqual(MODERN);
    expect(connection.client.getProtocolEra()).toBe('modern');
    expect(heals).toMatchObject([{ from: 'legacy', to: 'modern', evidence: { rule: 'a modern version in common' } }]);
  });

  test('within the TTL, when it serves both eras: the old one is used until it has been asked', async () => {
    const server = await aServer('v1-stateless');
    const { connect, heals, clock } = aWorld();
    const connection = await connect(httpTo(server));
    await server.become('v2-dual');
    expect(await toolNames(connection)).toEqual(['echo']);
    clock.advance(3_599_999);
    await toolNames(connection);
    expect(connection.era.kind).toBe('legacy');
    // The first look after the hour asks; one of the next finds the answer.
    while (connection.era.kind === 'legacy') {
      clock.advance(60_000);
      await toolNames(connection);
    }
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(connection.era).toEqual(MODERN);
    expect(heals).toMatchObject([{ from: 'legacy', to: 'modern' }]);
  });

  test('a client that is used directly gets the refusal, and the connection is put right all the same', async () => {
    const server = await aServer('v1-stateful');
    const healed = aSignal();
    const { connect } = aWorld();
    const connection = await connect(httpTo(server), { onHeal: () => healed.resolve() });
    await server.become('v2-modern');
    await expect(connection.client.listTools()).rejects.toThrow();
    await healed.promise;
    expect((await connection.client.listTools()).tools).toHaveLength(1);
  });

  test('many requests at once are put right by one reconnect', async () => {
    const server = await aServer('v1-stateful');
    const { connect, heals, count } = aWorld();
    const connection = await connect(httpTo(server));
    await server.become('v2-modern');
    const call = (text: string) => connection.run((client) => client.callTool({ name: 'echo', arguments: { text } }));
    const texts = Array.from({ length: 10 }, (_, i) => `${i}`);
    const answers = await Promise.all(texts.map(call));
    expect(answers.map(({ content }) => (content as { text: string }[])[0]?.text)).toEqual(texts);
    expect(heals).toHaveLength(1);
    expect(count('heal')).toBe(1);
  });

  test('what was under way when the client was reconnected may have been carried out: it fails, and is not done twice', async () => {
    const [legacy, modern] = [await aServer('v1-stateless'), await aServer('v2-modern')];
    let current = legacy;
    let carriedOut = 0;
    const started = aSignal();
    const server = await aServer(async (request, response, body) => {
      const { method, params } = (body ?? {}) as { method?: string; params?: { arguments?: { text?: string } } };
      if (method !== 'tools/call' || params?.arguments?.text !== 'pay')
        return forward(current, request, response, body);
      // Carried out, and never answered.
      carriedOut++;
      started.resolve();
    });
    const { connect, heals } = aWorld();
    const connection = await connect(httpTo(server));
    const paying = connection.run((client) => client.callTool({ name: 'echo', arguments: { text: 'pay' } }));
    const outcome = paying.catch((error) => error);
    await started.promise;
    current = modern;
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(heals).toMatchObject([{ from: 'legacy', to: 'modern' }]);
    expect(await outcome).toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(carriedOut).toBe(1);
  });

  test('what runs while a verdict is looked at again is not broken off', async () => {
    const [legacy, modern] = [await aServer('v1-stateless'), await aServer('v2-dual')];
    let current = legacy;
    const [started, mayAnswer] = [aSignal(), aSignal()];
    const server = await aServer(async (request, response, body) => {
      const { method } = (body ?? {}) as { method?: string };
      if (method === 'tools/call') {
        started.resolve();
        await mayAnswer.promise;
      }
      await forward(current, request, response, body);
    });
    const { connect, knows, clock } = aWorld();
    const connection = await connect(httpTo(server));
    const calling = connection.run((client) => client.callTool({ name: 'echo', arguments: { text: 'slow' } }));
    await started.promise;
    current = modern;
    await knows(httpTo(server), MODERN);
    clock.advance(60_000);
    expect(await connection.run((client) => client.listTools())).toMatchObject({ tools: [{ name: 'echo' }] });
    mayAnswer.resolve();
    expect((await calling).content).toEqual([{ type: 'text', text: 'slow' }]);
  });

  test('a request that comes in the middle of a change of era waits for it', async () => {
    const server = await aServer('v2-dual');
    const { connect, knows, clock, errors, heals } = aWorld();
    await knows(httpTo(server), LEGACY);
    const connection = await connect(httpTo(server));
    await knows(httpTo(server), MODERN);
    const meanwhile = new Promise<string[]>((resolve, reject) => {
      connection.client.onclose = () => {
        delete connection.client.onclose;
        toolNames(connection).then(resolve, reject);
      };
    });
    clock.advance(60_000);
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(await meanwhile).toEqual(['echo']);
    expect(connection.client.getProtocolEra()).toBe('modern');
    expect(heals).toMatchObject([{ from: 'legacy', to: 'modern' }]);
    expect(errors).toEqual([]);
  });

  test('and goes down in the middle of it: the next `run` connects', async () => {
    const server = await aServer('v2-modern');
    const { connect } = aWorld();
    const connection = await connect(httpTo(server));
    const legacy = await aServer('v1-stateless');
    let handshakes = 0;
    await server.become(async (request, response, body) => {
      const { method } = (body ?? {}) as { method?: string };
      if (method === 'initialize' && handshakes++ === 0) return void response.writeHead(503).end();
      await forward(legacy, request, response, body);
    });
    await expect(toolNames(connection)).rejects.toThrow(/503|POSTing/);
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(connection.era.kind).toBe('legacy');
  });

  test('and downgraded again', async () => {
    const server = await aServer('v2-modern');
    const { connect, heals } = aWorld();
    const connection = await connect(httpTo(server));
    expect(await toolNames(connection)).toEqual(['echo']);
    await server.become('v1-stateful');
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(heals).toMatchObject([{ from: 'modern', to: 'legacy' }]);
  });
});

describe('over HTTP', () => {
  test('a stale legacy verdict on a modern-only server costs one reconnect', async () => {
    const server = await aServer('v2-modern');
    const { connect, knows, heals, count } = aWorld();
    await knows(httpTo(server), LEGACY);
    const connection = await connect(httpTo(server));
    expect(connection.era).toEqual(MODERN);
    expect(heals).toHaveLength(1);
    expect([count('heal'), count('probe')]).toEqual([1, 1]);
    expect(await toolNames(connection)).toEqual(['echo']);
  });

  test('a stale modern verdict on a legacy server is found out at the first request', async () => {
    const server = await aServer('v1-stateful');
    const { connect, knows, heals } = aWorld();
    await knows(httpTo(server), MODERN);
    const connection = await connect(httpTo(server));
    expect(server.requests).toHaveLength(0);
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(heals).toMatchObject([{ from: 'modern', to: 'legacy' }]);
  });

  test('a server that says modern and does not do it is found out at its first refusal', async () => {
    const { connect, heals } = aWorld();
    const connection = await connect(httpTo(await aServer('claims-modern')));
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(heals).toMatchObject([{ from: 'modern', to: 'legacy' }]);
  });

  test("a refusal that is the application's own reconnects nothing", async () => {
    const { connect, heals } = aWorld();
    const connection = await connect(httpTo(await aServer('v2-dual')));
    await toolNames(connection);
    await connection.run((client) => client.callTool({ name: 'no such tool' })).catch(() => {});
    await expect(
      connection.run(() => Promise.reject(Object.assign(new Error('mine'), { code: -32000 }))),
    ).rejects.toThrow('mine');
    expect(heals).toEqual([]);
    expect(await toolNames(connection)).toEqual(['echo']);
  });

  test.each([
    [401, 'ERA_SIGN_IN_NEEDED'],
    [403, 'ERA_SIGN_IN_NEEDED'],
    [429, 'ERA_UNAVAILABLE'],
    [503, 'ERA_UNAVAILABLE'],
    [302, 'ERA_REDIRECTED'],
  ])('%d is no legacy server: %s', async (status, code) => {
    const headers = {
      'www-authenticate': 'Bearer resource_metadata="https://a.example/r"',
      location: 'https://b.example/',
    };
    const server = await aServer((_request, response) => void response.writeHead(status, headers).end());
    const error = await aWorld()
      .connect(httpTo(server))
      .catch((error) => error);
    expect(error).toMatchObject({ name: 'EraUndeterminedError', code });
    if (code === 'ERA_SIGN_IN_NEEDED') expect(error.reason.challenge).toContain('resource_metadata');
    expect(server.count('initialize')).toBe(0);
  });

  test("sign-in goes through a fetch of the host's own, for question and connection", async () => {
    const inner = await startServer('v2-dual');
    open.push(inner);
    const server = await aServer(async (request, response, body) => {
      if (request.headers.authorization !== 'Bearer t') return void response.writeHead(401).end();
      await forward(inner, request, response, body);
    });
    const signedIn: typeof fetch = (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('authorization', 'Bearer t');
      return fetch(url, { ...init, headers });
    };
    const { connect } = aWorld();
    await expect(connect(httpTo(server))).rejects.toMatchObject({ code: 'ERA_SIGN_IN_NEEDED' });
    expect(await toolNames(await connect(httpTo(server), { fetch: signedIn }))).toEqual(['echo']);
  });

  test.each<[string, object]>([
    ['lists as empty objects', { capabilities: { tools: [], prompts: [] } }],
    ['flags that are texts', { capabilities: { tools: { listChanged: 'yes', subscribe: 1 } } }],
    ['capabilities that are true, or null', { capabilities: { tools: true, prompts: null } }],
    [
      'a resultType and times of other types',
      { capabilities: { tools: {} }, resultType: 7, ttlMs: '1h', instructions: {} },
    ],
    ['versions that are not those of the verdict', { capabilities: {}, supportedVersions: ['2025-06-18'] }],
  ])('a DiscoverResult with %s is no hindrance', async (_what, fields) => {
    const server = await aServer('v2-dual');
    const { connect, knows } = aWorld();
    const discover = { supportedVersions: ['2026-07-28'], ...fields };
    await knows(httpTo(server), { ...MODERN, discover } as McpEra);
    const connection = await connect(httpTo(server));
    expect(await toolNames(connection)).toEqual(['echo']);
    expect(server.count('server/discover')).toBe(0);
  });

  test('a pinned era is not asked for', async () => {
    for (const [kind, pin] of [
      ['v2-dual', 'legacy'],
      ['v2-modern', 'modern'],
      ['v2-dual', 'modern'],
    ] as const) {
      const server = await aServer(kind);
      const connection = await aWorld().connect(httpTo(server), { pin });
      expect(connection.era.kind).toBe(pin);
      expect(await toolNames(connection)).toEqual(['echo']);
      expect(server.count('server/discover')).toBe(0);
    }
  });

  test('servers behind one gateway are told apart by keys of their own', async () => {
    const [modern, legacy] = [await aServer('v2-modern'), await aServer('v1-stateless')];
    const gateway = await aServer((request, response, body) =>
      forward(request.url?.startsWith('/a/') ? modern : legacy, request, response, body),
    );
    const { connect } = aWorld();
    const to = (path: string): EraTarget => ({ type: 'streamable-http', url: new URL(path, gateway.url).href });
    for (const [path, era] of [
      ['/a/mcp', 'modern'],
      ['/b/mcp', 'legacy'],
      ['/a/mcp', 'modern'],
    ] as const) {
      const connection = await connect(to(path), { key: `http:gateway${path}` });
      expect(connection.era.kind).toBe(era);
      expect(await toolNames(connection)).toEqual(['echo']);
    }
    expect([modern.count('server/discover'), legacy.count('server/discover')]).toEqual([1, 1]);
  });

  test('an address that is none, and a target that is none, are said by the name of the field', async () => {
    const { connect } = aWorld();
    await expect(connect({ type: 'streamable-http', url: 'nonsense' })).rejects.toThrow(/url/);
    await expect(connect({ type: 'stdio', command: '' })).rejects.toThrow(/command/);
    await expect(connect({ type: 'websocket' } as never)).rejects.toThrow(/target.type is "websocket"/);
  });
});

test('closing ends the session, and twice is once', async () => {
  const server = await aServer('v1-stateful');
  const connection = await aWorld().connect(httpTo(server));
  await connection.close();
  await connection.close();
  expect(server.requests.filter(({ http }) => http === 'DELETE')).toHaveLength(1);
});

describe('the SDK', () => {
  const notFound = (name: string): never => {
    throw Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  };

  test('of 2.x is used where it is installed', async () => {
    const connection = await connectClient(httpTo(await aServer('v2-modern')), { resolver: createEraResolver() });
    open.push(connection);
    expect(connection.client).toBeInstanceOf(Client);
    expect((await connection.run((client) => client.listTools())).tools).toHaveLength(1);
  });

  test('of 1.x is used where only that is installed', async () => {
    const importModule = (name: string): Promise<unknown> =>
      name === '@modelcontextprotocol/client' ? notFound(name) : import(name);
    const connection = await connectClient(httpTo(await aServer('v2-dual')), {
      resolver: createEraResolver(),
      importModule,
    });
    open.push(connection);
    expect(connection.client).not.toHaveProperty('getProtocolEra');
    expect(connection.era.kind).toBe('legacy');
    expect((await connection.client.listTools()).tools).toHaveLength(1);
  });

  test('that is missing is an error that names the package', async () => {
    const connecting = connectClient(stdio('legacy'), { importModule: async (name) => notFound(name) });
    await expect(connecting).rejects.toMatchObject({
      code: 'SDK_MISSING',
      message: expect.stringContaining('npm install @modelcontextprotocol/client'),
    });
  });

  test('that is broken is not taken for missing', async () => {
    const connecting = connectClient(stdio('legacy'), {
      importModule: () => Promise.reject(new SyntaxError('broken')),
    });
    await expect(connecting).rejects.toThrow('broken');
  });
});
