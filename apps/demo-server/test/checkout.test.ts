import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import { connectAgent } from '../src/tour/agent.js';
import { aRunningDemo } from './running.js';

describe('a checkout', () => {
  it('shows the tools of each state, tells of changes, and moves on success only', async () => {
    const agent = await (await aRunningDemo()).agent();
    expect(await agent.toolNames()).toEqual(['catalogue_list', 'cart_view', 'cart_add_item', 'payment_result', 'mcp']);

    const changes = agent.listChanges();
    await agent.call('cart_add_item', { sku: 'stool' });
    await agent.listChanged(changes + 1);
    expect(await agent.toolNames()).toContain('cart_checkout');

    expect((await agent.call('cart_add_item', { sku: 'no-such-thing' })).isError).toBe(true);
    await agent.call('cart_checkout');
    expect(await agent.toolNames()).toEqual([
      'catalogue_list',
      'cart_view',
      'cart_cancel_payment',
      'cart_pay',
      'payment_result',
      'mcp',
    ]);
    expect((await agent.call('cart_pay')).structured).toMatchObject({ status: 'paid', amount: 35 });
    expect(await agent.toolNames()).toContain('order_start_over');
  });

  it('refuses a call out of turn with the state, the way out and what is open now', async () => {
    const agent = await (await aRunningDemo()).agent();
    const refused = await agent.call('cart_pay');
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('<tool_error code="FORBIDDEN"');
    expect(refused.text).toMatch(/cart_add_item.*cart_checkout/s);
    expect(refused.text).toContain('<action>cart_add_item</action>');
    expect((await agent.call('cart_view')).structured).toEqual({ items: [], total: 0 });
  });

  it('keeps sessions apart: one agent’s cart and state are not another’s', async () => {
    const running = await aRunningDemo();
    const [first, second] = [await running.agent(), await running.agent()];
    await first.call('cart_add_item', { sku: 'stool' });
    expect(await second.toolNames()).not.toContain('cart_checkout');
    expect((await second.call('cart_view')).structured).toEqual({ items: [], total: 0 });
  });

  it('lets exactly one of two payments at once through', async () => {
    const agent = await (await aRunningDemo()).agent();
    await agent.call('cart_add_item', { sku: 'stool' });
    await agent.call('cart_checkout');
    const answers = await Promise.all([agent.call('cart_pay'), agent.call('cart_pay')]);
    expect(answers.map((answer) => answer.isError).sort()).toEqual([false, true]);
  });

  it('does not keep an agent waiting for ever for a change that does not come', async () => {
    const agent = await connectAgent((await aRunningDemo()).server.url, { withinMs: 1 });
    await expect(agent.listChanged(1)).rejects.toThrow('did not say within 0.001 seconds that its tools changed');
    await agent.close();
  });

  it('serves the client of the v1 SDK alike', async () => {
    const { server } = await aRunningDemo();
    const client = new ClientV1({ name: 'v1', version: '0' });
    const transport = new TransportV1(new URL(`${server.url}/mcp`));
    // The v1 transport's optional fields are declared without exactOptionalPropertyTypes in mind.
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('cart_add_item');
    const result = await client.callTool({ name: 'cart_add_item', arguments: { sku: 'stool' } });
    expect(result.isError).toBeFalsy();
    await transport.terminateSession();
    await client.close();
  });
});

describe('arguments that a model got wrong', () => {
  it.each([
    ['a quantity that is no number', { sku: 'stool', quantity: 'many' }],
    ['no product', {}],
    ['a negative quantity', { sku: 'stool', quantity: -1 }],
    ['a product that is an object', { sku: { $ne: null } }],
  ])('%s gets an error that names the field, and the session goes on', async (_, args) => {
    const agent = await (await aRunningDemo()).agent();
    const answer = await agent
      .call('cart_add_item', args)
      .catch((error: Error) => ({ isError: true, text: error.message }));
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(/quantity|sku/);
    expect((await agent.call('cart_add_item', { sku: 'stool' })).isError).toBe(false);
  });

  it('an unknown category names the valid ones', async () => {
    const agent = await (await aRunningDemo()).agent();
    expect((await agent.call('catalogue_list', { category: '<boats>' })).text).toContain(
      'lamps, chairs, desks, storage',
    );
  });
});

describe('the catalogue', () => {
  it('is shorter as TOON than as compact JSON of the same rows', async () => {
    const agent = await (await aRunningDemo()).agent();
    const toon = await agent.call('catalogue_list', { format: 'toon' });
    const json = await agent.call('catalogue_list', { format: 'json' });
    expect(toon.text.length).toBeLessThan(json.text.length * 0.65);
    expect(JSON.parse(json.text)).toHaveLength(24);
  });
});
