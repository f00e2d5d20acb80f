import { afterEach, describe, expect, test } from 'vitest';
import { deferred, type Running, type ServerKind, type ServerSpec, type TestClient, text } from './harness.js';
import { openShop, type Shop, TOOLS } from './shop.js';
import { V1_KINDS } from './v1.js';
import { V2_KINDS } from './v2.js';

const KINDS: readonly ServerKind[] = [...V1_KINDS, ...V2_KINDS];
const OPEN_WHEN_EMPTY = ['catalogue', 'cart_add_item'];
const OPEN_WITH_ITEMS = ['catalogue', 'cart_add_item', 'cart_checkout'];

let running: Running | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function serve(kind: ServerKind, shop: Shop, more: Partial<ServerSpec> = {}): Promise<TestClient> {
  running = await kind.start(shop.spec(more));
  return running.connect();
}

describe.each(KINDS)('$name', (kind) => {
  const HIDE = { attach: { listing: 'hide' } } as const;

  test('in mode hide, a closed tool is not in the list, and appears once its state is reached', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    expect(await client.listTools()).toEqual(kind.hides ? OPEN_WHEN_EMPTY : TOOLS);
    await client.call('cart_add_item');
    expect(await client.listTools()).toEqual(kind.hides ? OPEN_WITH_ITEMS : TOOLS);
  });

  test('in mode auto, legacy sessions see the open tools and everybody else sees all', async () => {
    const client = await serve(kind, openShop());
    expect(await client.listTools()).toEqual(kind.autoHides ? OPEN_WHEN_EMPTY : TOOLS);
  });

  test('in mode static, the list never changes and nothing is notified', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, { attach: { listing: 'static' } });
    expect(await client.listTools()).toEqual(TOOLS);
    await client.call('cart_add_item');
    expect(shop.timers.pending).toBe(0);
    expect(await client.listTools()).toEqual(TOOLS);
  });

  test.each(['auto', 'hide', 'static'] as const)(
    'in mode %s, a call out of turn is refused with the way in',
    async (listing) => {
      const shop = openShop();
      const client = await serve(kind, shop, { attach: { listing } });
      let ran = false;
      shop.on('cart_pay', () => {
        ran = true;
        return text('paid');
      });
      const answer = await client.call('cart_pay');
      expect(answer.isError).toBe(true);
      expect(answer.text).toContain('cart_add_item');
      expect(answer.text).toContain('cart_checkout');
      expect(ran).toBe(false);
      expect(shop.moves()).toEqual([]);
    },
  );

  test('each success moves the state, and the next call finds it moved', async () => {
    const shop = openShop();
    const client = await serve(kind, shop);
    for (const tool of ['cart_add_item', 'cart_checkout', 'cart_pay', 'cart_reset']) {
      expect(await client.call(tool)).toMatchObject({ isError: false });
    }
    expect(shop.moves()).toEqual([
      'empty → has_items',
      'has_items → payment',
      'payment → confirmed',
      'confirmed → empty',
    ]);
  });

  test('a tool that is not bound is always open and needs no session', async () => {
    const client = await serve(kind, openShop(), { attach: { stateKey: () => undefined } });
    expect(await client.call('catalogue')).toMatchObject({ isError: false, text: 'ok' });
  });

  test('a call that belongs to no session is refused, and the list is whole', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, { attach: { listing: 'hide', stateKey: () => undefined } });
    expect(await client.listTools()).toEqual(TOOLS);
    expect(await client.call('cart_add_item')).toMatchObject({ isError: true });
    expect(shop.decisions).toEqual([]);
  });

  test('a result with isError leaves the state', async () => {
    const shop = openShop();
    const client = await serve(kind, shop);
    shop.on('cart_add_item', () => ({ ...text('sold out'), isError: true }));
    expect(await client.call('cart_add_item')).toMatchObject({ isError: true, text: 'sold out' });
    expect(shop.decisions.map(({ kind: what }) => what)).toEqual(['reserved', 'rolled_back']);
  });

  test('a tool that throws leaves the state', async () => {
    const shop = openShop();
    const client = await serve(kind, shop);
    shop.on('cart_add_item', () => {
      throw new Error('database is down');
    });
    const answer = await client.call('cart_add_item').catch((error: unknown) => String(error));
    expect(JSON.stringify(answer)).toContain('database is down');
    expect(shop.decisions.map(({ kind: what }) => what)).toEqual(['reserved', 'rolled_back']);
  });

  test('a result that the SDK finds invalid leaves the state', async () => {
    const shop = openShop();
    const client = await serve(kind, shop);
    await client.call('cart_add_item');
    await client.call('cart_checkout');
    shop.on('cart_pay', () =>
      kind.lowLevel ? { content: 'not a list' } : { ...text('paid'), structuredContent: { total: 'much' } },
    );
    const failed = await client.call('cart_pay').then(
      ({ isError }) => isError,
      () => true,
    );
    expect(failed).toBe(true);
    expect(shop.decisions.at(-1)).toMatchObject({ kind: 'rolled_back', tool: 'cart_pay' });
    shop.on('cart_pay', () => ({ ...text('paid'), structuredContent: { total: 1 } }));
    expect(await client.call('cart_pay')).toMatchObject({ isError: false });
  });

  test('a success after the client cancelled moves the state, for the effect has happened', async () => {
    const shop = openShop();
    const client = await serve(kind, shop);
    const started = deferred();
    const aborted = deferred();
    const goOn = deferred();
    shop.on('cart_add_item', async ({ signal }) => {
      signal.addEventListener('abort', () => aborted.resolve());
      started.resolve();
      await goOn.promise;
      return text('added');
    });
    const controller = new AbortController();
    const call = client.call('cart_add_item', {}, { signal: controller.signal }).catch(() => 'cancelled');
    await started.promise;
    controller.abort();
    expect(await call).toBe('cancelled');
    // A legacy client without a session cannot be heard: each of its messages comes to another server.
    if (kind.era === 'modern' || kind.stateOf === 'connection') await aborted.promise;
    goOn.resolve();
    await shop.until('committed');
    expect(shop.moves()).toEqual(['empty → has_items']);
  });

  test('of two calls at once, one moves the session and the other is told to wait', async () => {
    const shop = openShop({ contention: 'refuse' });
    const client = await serve(kind, shop);
    await client.call('cart_add_item');
    const started = deferred();
    const goOn = deferred();
    shop.on('cart_checkout', async () => {
      started.resolve();
      await goOn.promise;
      return text('checked out');
    });
    const first = client.call('cart_checkout');
    await started.promise;
    const second = await client.call('cart_checkout');
    goOn.resolve();
    expect(second).toMatchObject({ isError: true });
    expect(second.text).toContain('cart_checkout');
    expect(await first).toMatchObject({ isError: false });
    expect(shop.moves()).toEqual(['empty → has_items', 'has_items → payment']);
  });

  test('the gate holds whether it was attached before the tools were registered or after', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, { ...HIDE, attachFirst: true });
    expect(await client.listTools()).toEqual(kind.hides ? OPEN_WHEN_EMPTY : TOOLS);
    expect(await client.call('cart_pay')).toMatchObject({ isError: true });
    expect(await client.call('cart_add_item')).toMatchObject({ isError: false });
  });

  test('one client never sees or moves the state of another', async () => {
    const shop = openShop();
    const ada = await serve(kind, shop, HIDE);
    const bob = await running!.connect({ principal: 'bob' });
    await bob.listTools();
    await ada.call('cart_add_item');
    expect(await bob.call('cart_checkout')).toMatchObject({ isError: true });
    expect(await bob.listTools()).toEqual(kind.hides ? OPEN_WHEN_EMPTY : TOOLS);
    expect(bob.changes()).toBe(0);
  });

  test('a state that cannot be read lists nothing, runs nothing, and tells no details', async () => {
    const shop = openShop();
    const broken = {
      ...shop.sessions,
      inspect: () => Promise.reject(new Error('redis://secret-host is down')),
      admit: () => Promise.reject(new Error('redis://secret-host is down')),
    };
    const client = await serve(kind, shop, { sessions: broken, ...HIDE });
    const listed = await client.listTools().catch((error: unknown) => String(error));
    if (kind.hides) expect(listed).toContain('cannot be read');
    const answer = await client
      .call('cart_add_item')
      .catch((error: unknown) => ({ isError: true, text: String(error) }));
    expect(answer.isError).toBe(true);
    expect(JSON.stringify([listed, answer])).not.toContain('secret-host');
    expect(String(shop.errors[0])).toContain('secret-host');
  });
});

describe.each(KINDS.filter(({ notifies }) => notifies))('list_changed with $name', (kind) => {
  const HIDE = { attach: { listing: 'hide' } } as const;

  test('reaches the client whose visible tools changed', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    await client.listTools();
    await client.call('cart_add_item');
    expect(shop.timers.pending).toBe(1);
    shop.timers.run();
    await client.untilChanges(1);
    expect(await client.listTools()).toEqual(OPEN_WITH_ITEMS);
  });

  test('reaches the client whose session the application ended, and goes on with the next session of that key', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    await client.listTools();
    await client.call('cart_add_item');
    shop.timers.run();
    await client.untilChanges(1);
    await shop.sessions.end(shop.decisions[0]!.session);
    shop.timers.run();
    await client.untilChanges(2);
    await client.call('cart_add_item');
    expect(shop.timers.pending).toBe(1);
    shop.timers.run();
    await client.untilChanges(3);
  });

  test('reaches a client that never listed', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    await client.call('cart_add_item');
    shop.timers.run();
    await client.untilChanges(1);
  });

  test('is not sent when the state moves and the visible tools stay', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    await client.call('cart_add_item');
    shop.timers.run();
    await client.untilChanges(1);
    await client.call('cart_add_item');
    expect(shop.timers.pending).toBe(0);
  });

  test('is sent once for a burst', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    await client.listTools();
    for (const tool of ['cart_add_item', 'cart_checkout', 'cart_pay']) await client.call(tool);
    expect(shop.timers.pending).toBe(1);
    shop.timers.run();
    await client.untilChanges(1);
    await client.listTools();
    expect(client.changes()).toBe(1);
  });

  test('is not sent when a burst ends where it began, or when the client has listed since', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    await client.listTools();
    for (const tool of ['cart_add_item', 'cart_checkout', 'cart_pay', 'cart_reset']) await client.call(tool);
    shop.timers.run();
    await client.call('cart_add_item');
    await client.listTools();
    shop.timers.run();
    await client.call('cart_checkout');
    shop.timers.run();
    await client.untilChanges(1);
    await client.listTools();
    expect(client.changes()).toBe(1);
  });

  test('is sent when an operator moves the session', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    await client.call('cart_add_item');
    shop.timers.run();
    await client.untilChanges(1);
    const key = shop.decisions[0]!.session;
    await shop.sessions.force(key, 'payment', { by: 'ops', reason: 'stuck' });
    shop.timers.run();
    await client.untilChanges(2);
    expect(await client.listTools()).toEqual(['catalogue', 'cart_pay']);
  });

  test('that nobody can receive any more is no unhandled rejection', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, HIDE);
    await client.call('cart_add_item');
    await client.close();
    await running!.stop();
    shop.timers.run();
    await shop.sessions.inspect('anything');
  });
});

describe.each(KINDS.filter(({ lowLevel }) => lowLevel))('low-level handlers of $name', (kind) => {
  test('pages are filtered one by one and keep their cursor', async () => {
    const shop = openShop();
    const client = await serve(kind, shop, { pageSize: 2, attach: { listing: 'hide' } });
    const first = await client.listPage();
    expect(first.nextCursor).toBe('2');
    expect(await client.listTools()).toEqual(OPEN_WHEN_EMPTY);
  });
});
