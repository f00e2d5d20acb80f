import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  InMemoryTransport as InMemoryV2,
  McpServer as McpServerV2,
  Server as ServerV2,
} from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  attachGate,
  firstStateKey,
  principalKey,
  type RequestFacts,
  stateKeyOfPrincipal,
  stateKeyOfSession,
  subjectOf,
} from '../../src/mcp.js';
import { deferred, type Running, type ServerKind } from './harness.js';
import { openShop, TOOLS } from './shop.js';
import { V1_KINDS } from './v1.js';
import { V2_KINDS } from './v2.js';

const KINDS: readonly ServerKind[] = [...V1_KINDS, ...V2_KINDS];
const INFO = { name: 'shop', version: '1.0.0' };

/** A client of either SDK, connected. */
async function connectTo<C extends { connect(transport: never): Promise<void> }>(
  client: C,
  transport: unknown,
): Promise<C> {
  await client.connect(transport as never);
  return client;
}

let running: Running | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

describe.each(KINDS)('what the application gives to $name', (kind) => {
  test.each([
    ['throws', () => Promise.reject(new Error('secret-host is down'))],
    [
      'throws at once',
      () => {
        throw new Error('secret-host is down');
      },
    ],
    ['is a number', () => 7 as unknown as string],
    ['is empty', () => ''],
  ])('a state key that %s refuses the call and tells no details', async (_name, stateKey) => {
    const shop = openShop();
    running = await kind.start(shop.spec({ attach: { stateKey } }));
    const client = await running.connect();
    const answer = await client.call('cart_add_item');
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain('cannot be read');
    expect(answer.text).not.toContain('secret-host');
    expect(shop.errors).toHaveLength(1);
    expect(shop.decisions).toEqual([]);
  });

  test('a hook that fails itself fails no request', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const shop = openShop();
    const onError = () => {
      throw new Error('the log is full');
    };
    running = await kind.start(shop.spec({ attach: { stateKey: () => Promise.reject(new Error('down')), onError } }));
    const client = await running.connect();
    expect(await client.call('cart_add_item')).toMatchObject({ isError: true });
    expect(String(reported.mock.calls[0])).toContain('the log is full');
    reported.mockRestore();
  });

  test('keys in an order of preference', async () => {
    const shop = openShop();
    running = await kind.start(
      shop.spec({ attach: { stateKey: firstStateKey(stateKeyOfPrincipal, async () => undefined, stateKeyOfSession) } }),
    );
    const client = await running.connect();
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false });
    const owner = kind.stateOf === 'principal' ? principalKey('ada') : /^(session|connection):/;
    expect(shop.decisions[0]!.session).toMatch(owner);
  });
});

describe.each(KINDS.filter(({ stateOf }) => stateOf === 'connection'))('a connection of $name', (kind) => {
  test('what fails while the client cancels is told to onError all the same', async () => {
    const shop = openShop();
    const asked = deferred<void>();
    const failed = deferred<void>();
    const stateKey = ({ signal }: RequestFacts) =>
      new Promise<string>((_resolve, reject) => {
        const fail = () => reject(new Error('secret-host is down'));
        if (signal?.aborted) return fail();
        signal?.addEventListener('abort', fail);
        asked.resolve();
      });
    const onError = (error: unknown) => {
      shop.errors.push(error);
      failed.resolve();
    };
    running = await kind.start(shop.spec({ attach: { stateKey, onError, listing: 'static' } }));
    const client = await running.connect();
    const controller = new AbortController();
    const call = client.call('cart_add_item', {}, { signal: controller.signal }).catch(() => 'cancelled');
    await asked.promise;
    controller.abort();
    await call;
    await failed.promise;
    expect(shop.errors.map(String)).toEqual(['Error: secret-host is down']);
  });
});

describe.each(KINDS.filter(({ stateOf }) => stateOf === 'principal'))('who it is for, $name', (kind) => {
  test('is what the application says', async () => {
    const shop = openShop();
    running = await kind.start(shop.spec({ attach: { principal: ({ clientId }) => clientId } }));
    const client = await running.connect();
    await client.call('cart_add_item');
    expect(shop.decisions[0]!.session).toBe('principal:host');
  });

  test('cannot be told: nothing is done, and no details are told', async () => {
    const shop = openShop();
    const principal = () => {
      throw new Error('secret-host is down');
    };
    running = await kind.start(shop.spec({ attach: { principal } }));
    const client = await running.connect();
    const failure = await client.call('cart_add_item').catch((error: unknown) => String(error));
    expect(failure).toContain('cannot be told');
    expect(failure).not.toContain('secret-host');
    expect(shop.decisions).toEqual([]);
  });

  test('is nobody where the token names nobody: bound tools are refused', async () => {
    const shop = openShop();
    running = await kind.start(shop.spec({ attach: { principal: () => '' } }));
    const client = await running.connect();
    expect(await client.listTools()).toEqual(TOOLS);
    expect(await client.call('cart_add_item')).toMatchObject({ isError: true });
    expect(await client.call('catalogue')).toMatchObject({ isError: false });
  });
});

test.each([
  ['sdk 1.x', V1_KINDS[1]!],
  ['server 2.x', V2_KINDS[1]!],
])('%s: a connection follows a bounded number of lists, the last ones', async (_name, kind) => {
  const shop = openShop();
  let key = 0;
  running = await kind.start(shop.spec({ attach: { stateKey: () => `list ${key}` } }));
  const client = await running.connect();
  for (key = 0; key <= 100; key += 1) await client.listPage();
  const note = { by: 'ops', reason: 'test' };
  await shop.sessions.force('list 0', 'payment', note);
  expect(shop.timers.pending).toBe(0);
  await shop.sessions.force('list 100', 'payment', note);
  expect(shop.timers.pending).toBe(1);
});

test.each([
  ['sdk 1.x', () => new McpServerV1(INFO), InMemoryV1, (t: InMemoryV1) => connectTo(new ClientV1(INFO), t)],
  ['server 2.x', () => new McpServerV2(INFO), InMemoryV2, (t: InMemoryV2) => connectTo(new ClientV2(INFO), t)],
])('%s: a server that is connected already can be gated', async (_name, make, InMemory, connect) => {
  const shop = openShop();
  const server = make() as McpServerV2;
  for (const { name } of shop.spec().tools) {
    server.registerTool(name, { inputSchema: z.looseObject({}) }, async () => ({ content: [] }));
  }
  const [ours, theirs] = InMemory.createLinkedPair();
  await server.connect(theirs as InMemoryV2);
  const client = await connect(ours as InMemoryV1 & InMemoryV2);
  attachGate(server, shop.sessions, shop.spec().attach);
  expect(await client.callTool({ name: 'cart_pay', arguments: {} })).toMatchObject({ isError: true });
  expect(await client.callTool({ name: 'cart_add_item', arguments: {} })).not.toHaveProperty('isError', true);
  await client.close();
  await shop.until('ended');
});

test('a tool that is registered late mends what the check found', async () => {
  const shop = openShop();
  let registerRest = () => {};
  running = await V1_KINDS[0]!.start(
    shop.spec({
      tools: shop.spec().tools.slice(0, -1),
      onServer: (server) => {
        registerRest = () =>
          (server as McpServerV1).registerTool('cart_reset', { inputSchema: z.object({}) }, () => ({ content: [] }));
      },
    }),
  );
  const client = await running.connect();
  await expect(client.call('cart_add_item')).rejects.toThrow('cart_reset');
  registerRest();
  expect(await client.call('cart_add_item')).toMatchObject({ isError: false });
});

test.each([
  ['sdk 1.x', (capabilities: object) => new ServerV1(INFO, { capabilities })],
  ['server 2.x', (capabilities: object) => new ServerV2(INFO, { capabilities })],
])('%s: a low-level server is made to say that its tools change, if it has tools', (_name, make) => {
  const { sessions } = openShop();
  const declared = (capabilities: object, listing: 'auto' | 'static' = 'auto') => {
    const server = make(capabilities);
    attachGate(server, sessions, { listing });
    return (server as unknown as { getCapabilities(): unknown }).getCapabilities();
  };
  expect(declared({ tools: {} })).toEqual({ tools: { listChanged: true } });
  expect(declared({ tools: { listChanged: false } })).toEqual({ tools: { listChanged: false } });
  expect(declared({ prompts: {} })).toEqual({ prompts: {} });
  expect(declared({ tools: {} }, 'static')).toEqual({ tools: {} });
});

test('no issuer and subject read like another pair', () => {
  const one = subjectOf({ extra: { iss: 'https://a|b', sub: 'c' } });
  const other = subjectOf({ extra: { iss: 'https://a', sub: 'b|c' } });
  expect(one).not.toBe(other);
  expect(subjectOf({ extra: { iss: 'https://a', sub: 'auth0|7' } })).toBe('https://a|auth0|7');
});
