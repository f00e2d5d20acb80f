import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { BoundNames } from '../../src/mcp/names.js';
import { promptName, resourceName } from '../../src/mcp.js';
import type { Running, ServerKind } from './harness.js';
import { openShop, shopGate } from './shop.js';
import { V1_KINDS } from './v1.js';
import { V2_KINDS } from './v2.js';

const KINDS: readonly ServerKind[] = [...V1_KINDS, ...V2_KINDS];
const PROMPTS = ['help', 'payment_help'];
const RESOURCES = ['shop://terms', 'shop://invoice', 'shop://orders/{id}', 'shop://parts/{id}'];

let running: Running | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function open(kind: ServerKind, events = false) {
  const gate = shopGate()
    .bindTool(promptName('payment_help'), 'has_items', events ? 'CHECKOUT' : undefined)
    .bindTool(resourceName('shop://invoice'), 'has_items')
    .bindTool(resourceName('shop://orders/{id}'), 'has_items');
  const shop = openShop({ gate });
  running = await kind.start(shop.spec({ prompts: PROMPTS, resources: RESOURCES, attach: { listing: 'hide' } }));
  return { shop, client: await running.connect() };
}

describe.each(KINDS)('prompts and resources of $name', (kind) => {
  test('are listed in their states only', async () => {
    const { client } = await open(kind);
    expect(await client.listPrompts()).toEqual(kind.hides ? ['help'] : PROMPTS);
    expect(await client.listResources()).toEqual(kind.hides ? ['shop://terms'] : ['shop://terms', 'shop://invoice']);
    expect(await client.listTemplates()).toEqual(
      kind.hides ? ['shop://parts/{id}'] : ['shop://orders/{id}', 'shop://parts/{id}'],
    );
    await client.call('cart_add_item');
    expect(await client.listPrompts()).toEqual(PROMPTS);
    expect(await client.listResources()).toEqual(['shop://terms', 'shop://invoice']);
    expect(await client.listTemplates()).toEqual(['shop://orders/{id}', 'shop://parts/{id}']);
  });

  test('are refused out of their states, with the way in', async () => {
    const { client } = await open(kind);
    await expect(client.getPrompt('payment_help')).rejects.toThrow('cart_add_item');
    await expect(client.readResource('shop://invoice')).rejects.toThrow('cart_add_item');
    await expect(client.readResource('shop://orders/7')).rejects.toThrow('cart_add_item');
    expect(await client.readResource('shop://parts/7')).toMatchObject({ contents: [{ text: 'read' }] });
    expect(await client.getPrompt('help')).toMatchObject({ messages: [{ content: { text: 'help' } }] });
    await client.call('cart_add_item');
    expect(await client.getPrompt('payment_help')).toMatchObject({ messages: [{}] });
    expect(await client.readResource('shop://invoice')).toMatchObject({ contents: [{ text: 'read' }] });
    expect(await client.readResource('shop://orders/7')).toMatchObject({ contents: [{ text: 'read' }] });
  });

  test('move the state where they are bound with an event', async () => {
    const { shop, client } = await open(kind, true);
    await client.call('cart_add_item');
    await client.getPrompt('payment_help');
    expect(shop.moves().at(-1)).toBe('has_items → payment');
  });
});

describe('the name of a resource', () => {
  const bound = (...uris: string[]) => new BoundNames(new Map(uris.map((uri) => [resourceName(uri), {}])));

  test.each([
    ['https://shop.test/a', 'https://shop.test/b/../a'],
    ['https://shop.test/a', 'HTTPS://SHOP.test/a'],
    ['https://shop.test/a', 'https://shop.test:443/a'],
    ['https://shop.test/b/../a', 'https://shop.test/a'],
    ['shop://orders/{id}', 'shop://orders/7'],
    ['shop://orders/{id}', 'SHOP://orders/7'],
    ['shop://orders/{id}/lines{?page}', 'shop://orders/7/lines?page=2'],
    ['shop://files/{+path}', 'shop://files/a/b/c'],
  ])('%s governs %s, however it is spelt', (binding, uri) => {
    expect(bound(binding).resource(uri)).toEqual([resourceName(binding)]);
  });

  test.each([
    ['https://shop.test/a', 'https://shop.test/b'],
    ['shop://orders/{id}', 'shop://parts/7'],
    ['shop://orders/{id}', 'not a uri'],
  ])('%s does not govern %s', (binding, uri) => {
    expect(bound(binding).resource(uri)).toEqual([]);
  });

  test('of which there are several are all found', () => {
    expect(bound('shop://orders/7', 'shop://orders/{id}').resource('shop://orders/7')).toEqual([
      resourceName('shop://orders/7'),
      resourceName('shop://orders/{id}'),
    ]);
  });

  test('is found for tools that were bound later', () => {
    const bindings = new Map([[resourceName('shop://a'), {}]]);
    const names = new BoundNames(bindings);
    expect(names.resource('shop://b')).toEqual([]);
    bindings.set(resourceName('shop://b'), {});
    expect(names.resource('shop://b')).toEqual([resourceName('shop://b')]);
  });

  test('governs every URI that its template can make', () => {
    const segment = fc.stringMatching(/^[A-Za-z0-9._~-]{1,12}$/);
    fc.assert(
      fc.property(segment, segment, segment, (host, fixed, value) => {
        const template = `x://${host}/${fixed}/{v}`;
        expect(bound(template).resource(`x://${host}/${fixed}/${value}`)).toEqual([resourceName(template)]);
      }),
    );
  });
});
