import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createStateHandles, stateKeyOfArgument } from '../../src/mcp.js';
import { type Running, type ServerKind, text } from './harness.js';
import { openShop } from './shop.js';
import { V1_KINDS } from './v1.js';
import { V2_KINDS } from './v2.js';

const KEY = 'k'.repeat(32);
const ada = { principal: 'ada' };

describe('a state handle', () => {
  const handles = createStateHandles({ key: KEY, purpose: 'basket', now: () => 0, ttlSeconds: 60 });

  test('names a session of its own, for its principal', async () => {
    const [one, two] = [await handles.mint(ada), await handles.mint(ada)];
    expect(one).not.toBe(two);
    const check = await handles.verify(one, ada);
    expect(check).toEqual({ kind: 'valid', key: expect.stringMatching(/^handle:basket:.{22}$/), expiresAt: 60_000 });
    expect(await handles.verify(one, ada)).toEqual(check);
  });

  test('is nobody else’s', async () => {
    const handle = await handles.mint(ada);
    expect(await handles.verify(handle, { principal: 'bob' })).toEqual({ kind: 'invalid' });
    expect(await handles.verify(handle, {})).toEqual({ kind: 'invalid' });
    expect(await handles.verify(await handles.mint({}), { principal: '' })).toEqual({ kind: 'invalid' });
    expect(await handles.verify(await handles.mint({}), {})).toMatchObject({ kind: 'valid' });
  });

  test('of another purpose or another key is invalid', async () => {
    const handle = await handles.mint(ada);
    const orders = createStateHandles({ key: KEY, purpose: 'order' });
    const others = createStateHandles({ key: 'x'.repeat(32), purpose: 'basket' });
    expect(await orders.verify(handle, ada)).toEqual({ kind: 'invalid' });
    expect(await others.verify(handle, ada)).toEqual({ kind: 'invalid' });
  });

  test('expires', async () => {
    let time = 0;
    const short = createStateHandles({ key: KEY, purpose: 'basket', now: () => time, ttlSeconds: 60 });
    const handle = await short.mint(ada);
    time = 59_999;
    expect(await short.verify(handle, ada)).toMatchObject({ kind: 'valid' });
    time = 60_000;
    expect(await short.verify(handle, ada)).toEqual({ kind: 'expired' });
  });

  test('of an older key is still good after a rotation', async () => {
    const handle = await handles.mint(ada);
    const rotated = createStateHandles({ key: ['n'.repeat(32), KEY], purpose: 'basket', now: () => 0 });
    expect(await rotated.verify(handle, ada)).toMatchObject({ kind: 'valid' });
    expect(await handles.verify(await rotated.mint(ada), ada)).toEqual({ kind: 'invalid' });
  });

  test('that was changed anywhere is invalid', async () => {
    const handle = await handles.mint(ada);
    await fc.assert(
      fc.asyncProperty(fc.nat(handle.length - 2), fc.constantFrom(...'Aa0_-.~'), async (at, character) => {
        const changed = handle.slice(0, at) + character + handle.slice(at + 1);
        const { kind } = await handles.verify(changed, ada);
        expect(kind).toBe(changed === handle ? 'valid' : 'invalid');
      }),
    );
  });

  test('is checked without an exception, whatever a client sends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (handle) => {
        expect(await handles.verify(handle, ada)).toEqual({ kind: 'invalid' });
      }),
    );
  });

  test.each([
    [{ key: 'short', purpose: 'basket' }, '"key" must have at least 32 bytes'],
    [{ key: [], purpose: 'basket' }, '"key" must hold at least one secret'],
    [{ key: KEY, purpose: '' }, '"purpose"'],
    [{ key: KEY, purpose: 'basket', ttlSeconds: 0 }, '"ttlSeconds"'],
  ])('cannot be minted with options that make no sense: %#', (options, message) => {
    expect(() => createStateHandles(options)).toThrow(message);
  });
});

describe.each<ServerKind>([...V1_KINDS, ...V2_KINDS])('a basket_id as the state key, $name', (kind) => {
  let running: Running | undefined;
  afterEach(async () => {
    await running?.stop();
    running = undefined;
  });

  async function open() {
    const shop = openShop();
    const handles = createStateHandles({ key: KEY, purpose: 'basket' });
    const stateKey = stateKeyOfArgument('basket_id', handles);
    const principal = kind.stateOf === 'principal' ? 'ada' : undefined;
    shop.on('catalogue', async () => text(await handles.mint({ principal })));
    running = await kind.start(shop.spec({ attach: { stateKey, listing: 'hide' } }));
    return { shop, client: await running.connect() };
  }

  test('keeps two baskets of one client apart', async () => {
    const { client } = await open();
    const [one, two] = [(await client.call('catalogue')).text, (await client.call('catalogue')).text];
    expect(await client.call('cart_add_item', { basket_id: one })).toMatchObject({ isError: false });
    expect(await client.call('cart_checkout', { basket_id: one })).toMatchObject({ isError: false });
    expect(await client.call('cart_checkout', { basket_id: two })).toMatchObject({ isError: true });
  });

  test('shows the whole list, since a list has no arguments', async () => {
    const { client } = await open();
    expect(await client.listTools()).toContain('cart_pay');
  });

  test.each([
    ['missing', {}, 'basket_id'],
    ['of a wrong type', { basket_id: 7 }, 'basket_id'],
    [
      'forged',
      { basket_id: 'ih1.AAAAAAAAAAAAAAAAAAAAAA.9999999999.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
      'no valid',
    ],
  ])('that is %s refuses the call and says how to get it right', async (_name, args, words) => {
    const { shop, client } = await open();
    const answer = await client.call('cart_add_item', args);
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toContain(words);
    expect(shop.decisions).toEqual([]);
    expect(shop.errors).toEqual([]);
  });

  test('of somebody else is refused like a forged one', async () => {
    const { shop, client } = await open();
    const theirs = await createStateHandles({ key: KEY, purpose: 'basket' }).mint({ principal: 'mallory' });
    expect(await client.call('cart_add_item', { basket_id: theirs })).toMatchObject({ isError: true });
    expect(shop.decisions).toEqual([]);
  });
});
