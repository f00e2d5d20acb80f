import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer as McpServerV2, Server as ServerV2 } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import { StateMachineGate } from '../../src/index.js';
import { type AttachableServer, attachGate } from '../../src/mcp.js';
import { type Running, type ServerKind, text } from './harness.js';
import { openShop, shopGate, TOOLS } from './shop.js';
import { V1_KINDS } from './v1.js';
import { V2_KINDS } from './v2.js';

const INFO = { name: 'shop', version: '1.0.0' };
const KINDS: readonly ServerKind[] = [...V1_KINDS, ...V2_KINDS];

let running: Running | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

describe('attachGate takes', () => {
  test.each<[string, () => AttachableServer]>([
    ['McpServer of sdk 1.x', () => new McpServerV1(INFO)],
    ['Server of sdk 1.x', () => new ServerV1(INFO, { capabilities: { tools: {} } })],
    ['McpServer of server 2.x', () => new McpServerV2(INFO)],
    ['Server of server 2.x', () => new ServerV2(INFO, { capabilities: { tools: {} } })],
  ])('%s, once', (_name, make) => {
    const { sessions } = openShop();
    const server = make();
    attachGate(server, sessions);
    expect(() => attachGate(server, sessions)).toThrow(expect.objectContaining({ code: 'ALREADY_ATTACHED' }));
  });

  test('nothing that is no server', () => {
    const { sessions } = openShop();
    const transport = { start: () => {}, send: () => {} } as unknown as AttachableServer;
    expect(() => attachGate(transport, sessions)).toThrow(expect.objectContaining({ code: 'NOT_A_SERVER' }));
  });

  test('no server whose handlers it cannot stand before: it throws instead of protecting nothing', () => {
    const { sessions } = openShop();
    class PrivateHandlers extends ServerV1 {
      constructor() {
        super(INFO, { capabilities: { tools: {} } });
        Object.assign(this, { _requestHandlers: undefined });
      }
    }
    class OtherHandlers extends ServerV1 {
      // An SDK that looks its handlers up elsewhere: the map is there and is never asked.
      override assertCanSetRequestHandler(): void {}
    }
    const unsupported = expect.objectContaining({ code: 'UNSUPPORTED_SDK' });
    expect(() => attachGate(new PrivateHandlers(), sessions)).toThrow(unsupported);
    expect(() => attachGate(new OtherHandlers(INFO, { capabilities: { tools: {} } }), sessions)).toThrow(unsupported);
  });

  test.each([
    [{ listing: 'show' }, '"listing" is "show"; it must be one of auto, hide, static.'],
    [{ onClose: 'drop' }, '"onClose"'],
    [{ check: 'loose' }, '"check"'],
    [{ notifyDelayMs: -1 }, '"notifyDelayMs"'],
  ])('no option that makes no sense: %j', (options, message) => {
    const { sessions } = openShop();
    expect(() => attachGate(new McpServerV1(INFO), sessions, options as object)).toThrow(message);
  });

  test('a server that declared listChanged: false at its word', async () => {
    const shop = openShop();
    running = await V1_KINDS[1]!.start(shop.spec({ attach: { listing: 'hide' } }));
    const client = await running.connect();
    await client.call('cart_add_item');
    shop.timers.run();
    await client.untilChanges(1);
    const silent = new ServerV1(INFO, { capabilities: { tools: { listChanged: false } } });
    attachGate(silent, shop.sessions);
    const { listChanged } = (
      silent as unknown as { getCapabilities(): { tools: { listChanged: boolean } } }
    ).getCapabilities().tools;
    expect(listChanged).toBe(false);
  });
});

describe.each(KINDS)('$name', (kind) => {
  test('a handler that is set later is gated too', async () => {
    const shop = openShop();
    running = await kind.start(
      shop.spec({
        onServer: (server) => {
          const low = server as { server?: ServerV2; setRequestHandler?: unknown };
          const answer = () => ({ content: [{ type: 'text' as const, text: 'later' }] });
          const target = (low.server ?? low) as ServerV2;
          if (kind.name.startsWith('sdk 1')) {
            (target as unknown as ServerV1).setRequestHandler(CallToolRequestSchema, answer);
          } else {
            target.setRequestHandler('tools/call', answer);
          }
        },
      }),
    );
    const client = await running.connect();
    expect(await client.call('cart_pay')).toMatchObject({ isError: true });
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false, text: 'later' });
    expect(shop.moves()).toEqual(['empty → has_items']);
  });

  test('a handler that wraps the gated one is judged once', async () => {
    const shop = openShop();
    running = await kind.start(
      shop.spec({
        onServer: (server) => {
          const target = ((server as { server?: unknown }).server ?? server) as {
            _requestHandlers: Map<string, (request: unknown, context: unknown) => Promise<unknown>>;
          };
          const inner = target._requestHandlers.get('tools/call')!;
          target._requestHandlers.set('tools/call', (request, context) => inner(request, context));
        },
      }),
    );
    const client = await running.connect();
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false });
    expect(await client.call('cart_pay')).toMatchObject({ isError: true });
    expect(shop.decisions.map(({ kind: what }) => what)).toEqual(['reserved', 'committed', 'refused']);
  });

  test('a tool is handed the context as the SDK made it', async () => {
    const shop = openShop();
    const marks: symbol[] = [];
    shop.on('cart_add_item', ({ context }) => {
      marks.push(...Object.getOwnPropertySymbols(context).filter((mark) => String(mark).includes('interlock')));
      return text('added');
    });
    running = await kind.start(shop.spec());
    const client = await running.connect();
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false, text: 'added' });
    expect(marks).toEqual([]);
  });

  test('a call that the fallback handler would answer is gated too', async () => {
    const shop = openShop();
    running = await kind.start(
      shop.spec({
        onServer: (server) => {
          const target = ((server as { server?: unknown }).server ?? server) as ServerV1;
          target.removeRequestHandler('tools/call');
          target.fallbackRequestHandler = async ({ method }) => {
            if (method !== 'tools/call') throw new Error(`no ${method}`);
            return text('fallback');
          };
        },
      }),
    );
    const client = await running.connect();
    expect(await client.call('cart_pay')).toMatchObject({ isError: true });
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false, text: 'fallback' });
    expect(shop.moves()).toEqual(['empty → has_items']);
  });

  test('a name that is no text is judged as the text that it becomes', async () => {
    const shop = openShop();
    let guarded: ((request: unknown, context: unknown) => unknown) | undefined;
    let ran = 0;
    running = await kind.start(
      shop.spec({
        onServer: (server) => {
          const target = ((server as { server?: unknown }).server ?? server) as ServerV1;
          target.removeRequestHandler('tools/call');
          target.fallbackRequestHandler = async () => {
            ran += 1;
            return text('fallback');
          };
          guarded = (target as unknown as { _requestHandlers: Map<string, typeof guarded> })._requestHandlers.get(
            'tools/call',
          );
        },
        attach: { check: 'off' },
      }),
    );
    await running.connect();
    const request = { method: 'tools/call', params: { name: ['cart_pay'], arguments: {} } };
    expect(await guarded?.(request, {})).toMatchObject({ isError: true });
    expect(ran).toBe(0);
  });

  test('bindings that name no registered tool stop every request, at the first one, with the reason', async () => {
    const gate = shopGate().bindTool('cart_adds_item', 'empty', 'ADD_ITEM');
    const shop = openShop({ gate });
    running = await kind.start(shop.spec());
    const client = await running.connect();
    await expect(client.call('catalogue')).rejects.toThrow('cart_adds_item');
    await expect(client.listTools()).rejects.toThrow('cart_adds_item');
  });

  test('with check off, such bindings are nobody else’s trouble', async () => {
    const gate = shopGate().bindTool('cart_adds_item', 'empty', 'ADD_ITEM');
    const shop = openShop({ gate });
    running = await kind.start(shop.spec({ attach: { check: 'off' } }));
    const client = await running.connect();
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false });
  });

  test('the words of a refusal can be replaced', async () => {
    const shop = openShop();
    const refusal = ({ reason, tool }: { reason: string; tool: string }) =>
      ({ content: [{ type: 'text', text: `${tool}: ${reason}` }], isError: true }) as const;
    running = await kind.start(shop.spec({ attach: { refusal } }));
    const client = await running.connect();
    expect(await client.call('cart_pay')).toMatchObject({ isError: true, text: 'cart_pay: closed' });
  });

  test('words that cannot be found are replaced by the default, and a refusal stays an error', async () => {
    const shop = openShop();
    const words = [
      () => {
        throw new Error('no words');
      },
      () => ({ content: [{ type: 'text' as const, text: 'all is well' }] }),
    ];
    running = await kind.start(shop.spec({ attach: { refusal: () => words.shift()!() } }));
    const client = await running.connect();
    const first = await client.call('cart_pay');
    expect(first.isError).toBe(true);
    expect(first.text).toContain('cart_add_item');
    expect(await client.call('cart_pay')).toMatchObject({ isError: true, text: 'all is well' });
    expect(String(shop.errors[0])).toContain('no words');
  });

  test('an effect that could not be recorded says so, and keeps the tool’s answer', async () => {
    const shop = openShop();
    running = await kind.start(shop.spec());
    const client = await running.connect();
    shop.on('cart_add_item', async () => {
      await shop.sessions.reset(shop.decisions[0]!.session, { by: 'ops', reason: 'test' });
      return text('item 7 added');
    });
    const answer = await client.call('cart_add_item');
    expect(answer.isError).toBe(true);
    expect(answer.text).toContain('its effect happened');
    expect(answer.text).toContain('item 7 added');
    expect(shop.errors).toEqual([expect.objectContaining({ code: 'EFFECT_NOT_RECORDED' })]);
  });
});

describe.each(KINDS.filter(({ stateOf }) => stateOf === 'connection'))('a session that ends, $name', (kind) => {
  test('frees its state', async () => {
    const shop = openShop();
    running = await kind.start(shop.spec());
    const client = await running.connect();
    await client.call('cart_add_item');
    await client.close();
    await shop.until('ended');
    const key = shop.decisions[0]!.session;
    expect(shop.decisions.at(-1)).toMatchObject({ kind: 'ended', session: key });
    expect(await shop.sessions.inspect(key)).toMatchObject({ state: 'empty', version: 0 });
  });

  test('keeps it where the application says so', async () => {
    const shop = openShop();
    running = await kind.start(shop.spec({ attach: { onClose: 'keep' } }));
    const client = await running.connect();
    await client.call('cart_add_item');
    await client.close();
    await running.stop();
    expect(await shop.sessions.inspect(shop.decisions[0]!.session)).toMatchObject({ state: 'has_items' });
  });
});

describe.each(KINDS.filter(({ stateOf }) => stateOf === 'principal'))('a principal, $name', (kind) => {
  test('goes on with the same state over another connection', async () => {
    const shop = openShop();
    running = await kind.start(shop.spec());
    const laptop = await running.connect();
    await laptop.call('cart_add_item');
    await laptop.close();
    const phone = await running.connect();
    expect(await phone.call('cart_checkout')).toMatchObject({ isError: false });
    expect(shop.moves()).toEqual(['empty → has_items', 'has_items → payment']);
    expect(shop.decisions.every(({ session }) => session === 'principal:ada')).toBe(true);
  });
});

describe('a hidden list of the modern era', () => {
  test('is not to be cached nor shared', async () => {
    const shop = openShop();
    running = await V2_KINDS.find(({ name }) => name === 'createMcpHandler, modern client')!.start(
      shop.spec({ attach: { listing: 'hide' } }),
    );
    const client = await running.connect();
    expect(await client.listPage()).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
  });

  test.each(KINDS.filter(({ era }) => era === 'legacy'))(
    'carries no cache fields to legacy clients: $name',
    async (kind) => {
      const shop = openShop();
      running = await kind.start(shop.spec({ attach: { listing: 'hide' } }));
      const client = await running.connect();
      const page = await client.listPage();
      expect(page).not.toHaveProperty('ttlMs');
      expect(page).not.toHaveProperty('cacheScope');
    },
  );
});

// Over HTTP, the client of server 2.x repeats the version in a header, and the transport turns it down before anybody is asked.
const CAN_TRY = KINDS.filter(
  ({ name, era, autoHides }) => era === 'legacy' && autoHides && !name.includes('2.x Server over'),
);

test.each(CAN_TRY)('a legacy client cannot pass itself off as a modern one: $name', async (kind) => {
  const shop = openShop();
  running = await kind.start(shop.spec());
  const client = await running.connect();
  const page = await client.listPage(undefined, {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  });
  const { tools } = page as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual(['catalogue', 'cart_add_item']);
  expect(page).not.toHaveProperty('ttlMs');
});

test('a gate without bindings lets everything through', async () => {
  const gate = new StateMachineGate({ initial: 'only', states: { only: {} } });
  const shop = openShop({ gate: gate as unknown as StateMachineGate });
  running = await V1_KINDS[0]!.start(shop.spec());
  const client = await running.connect();
  expect(await client.listTools()).toEqual(TOOLS);
  expect(await client.call('cart_pay')).toMatchObject({ isError: false });
});
