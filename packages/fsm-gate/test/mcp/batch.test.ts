import { describe, expect, test } from 'vitest';
import { deferred, type ServerKind, text } from './harness.js';
import { openShop } from './shop.js';
import { V1_KINDS } from './v1.js';
import { V2_KINDS } from './v2.js';

const OVER_HTTP: readonly ServerKind[] = [...V1_KINDS, ...V2_KINDS].filter(({ name }) =>
  name.includes('over Streamable'),
);

describe.each(OVER_HTTP)('a JSON-RPC batch (2025-03-26) to $name', (kind) => {
  test('with two calls at once moves the session once', async () => {
    const shop = openShop({ contention: 'refuse' });
    const running = await kind.start(shop.spec());
    let session = '';
    const post = async (body: unknown): Promise<Response> => {
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === '' ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-03-26' }),
      };
      return running.fetch!(
        new Request('http://shop.test/mcp', { method: 'POST', headers, body: JSON.stringify(body) }),
      );
    };
    const clientInfo = { name: 'host', version: '1.0.0' };
    const hello = await post({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo },
    });
    session = hello.headers.get('mcp-session-id') ?? '';
    await hello.text();
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' });

    const goOn = deferred();
    shop.on('cart_add_item', async () => {
      await goOn.promise;
      return text('added');
    });
    const call = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'cart_add_item', arguments: {} },
    });
    const batch = post([call(2), call(3)]);
    await shop.until('refused');
    goOn.resolve();
    const answers = (await (await batch).text())
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as { result: { isError?: boolean } });
    expect(answers.map(({ result }) => result.isError === true).sort()).toEqual([false, true]);
    expect(shop.moves()).toEqual(['empty → has_items']);
    await running.stop();
  });
});
