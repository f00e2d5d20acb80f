import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { asAnswer, Counter } from './harness.js';

const MODERN = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const;
const example = (name: string) => new URL(`../../examples/${name}.ts`, import.meta.url);

async function connect(serve: (request: Request) => Promise<Response>, headers: Record<string, string> = {}) {
  const client = new Client({ name: 'host', version: '1.0.0' }, MODERN);
  const transport = new StreamableHTTPClientTransport(new URL('http://shop.test/mcp'), {
    fetch: (url, init) => serve(new Request(url, init)),
    requestInit: { headers },
  });
  await client.connect(transport);
  return client;
}

describe('the example', () => {
  test.each([
    ['legacy', 'legacy', ['cart_add_item']],
    ['modern', MODERN.versionNegotiation.mode, ['cart_add_item', 'cart_pay']],
  ] as const)('of a server over stdio serves a real %s client', async (_era, mode, listed) => {
    const client = new Client({ name: 'host', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: ['--import', 'tsx', fileURLToPath(example('stdio'))],
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
      }),
      { timeout: 120_000 },
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(listed);
    const early = asAnswer(await client.callTool({ name: 'cart_pay', arguments: {} }));
    expect(early.isError).toBe(true);
    expect(early.text).toContain('cart_add_item');
    await client.callTool({ name: 'cart_add_item', arguments: { sku: 'tea' } });
    expect(asAnswer(await client.callTool({ name: 'cart_pay', arguments: {} }))).toMatchObject({ text: 'paid' });
    await client.close();
  });

  test('of modern HTTP hides by principal and tells the principal of changes', async () => {
    const { default: server } = await import(example('modern-http').href);
    const as = (token: string) => connect(server.fetch, { authorization: `Bearer ${token}` });
    const [ada, bob] = [await as('ada'), await as('bob')];
    const changes = new Counter();
    ada.setNotificationHandler('notifications/tools/list_changed', () => changes.increment());
    await ada.listen({ toolsListChanged: true });
    expect((await ada.listTools()).tools.map(({ name }) => name)).toEqual(['submit']);
    await ada.callTool({ name: 'submit', arguments: {} });
    await changes.until(1);
    expect((await ada.listTools()).tools.map(({ name }) => name)).toEqual(['approve']);
    expect((await bob.listTools()).tools.map(({ name }) => name)).toEqual(['submit']);
    await Promise.all([ada.close(), bob.close()]);
  });

  test('of a basket handle keeps two baskets apart', async () => {
    const { default: server } = await import(example('basket-handle').href);
    const client = await connect(server.fetch);
    const basket = async () => asAnswer(await client.callTool({ name: 'basket_create', arguments: {} })).text;
    const call = async (name: string, basket_id: string) =>
      asAnswer(await client.callTool({ name, arguments: { basket_id } }));
    const [one, two] = [await basket(), await basket()];
    await call('basket_add', one);
    expect(await call('basket_pay', two)).toMatchObject({ isError: true });
    expect(await call('basket_pay', one)).toMatchObject({ text: 'paid' });
    await client.close();
  });
});
