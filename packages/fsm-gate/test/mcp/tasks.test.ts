import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AttachedGate, attachGate, type McpTimers } from '../../src/mcp.js';
import { text } from './harness.js';
import { openShop, type Shop, TOOLS } from './shop.js';
import { V2_KINDS } from './v2.js';

interface TaskShop {
  readonly shop: Shop;
  readonly client: Client;
  readonly store: InMemoryTaskStore;
  /** Calls `cart_add_item` as a task, which then runs until the test ends it. */
  begin(ttl?: number): Promise<string>;
}

/** A server of the v1 SDK with its experimental tasks, whose tools never end by themselves. */
async function openTaskShop(): Promise<TaskShop> {
  const shop = openShop({ contention: 'refuse' });
  const store = new InMemoryTaskStore();
  const server = new McpServer(
    { name: 'shop', version: '1.0.0' },
    {
      taskStore: store,
      capabilities: { tools: {}, tasks: { cancel: {}, list: {}, requests: { tools: { call: {} } } } },
    },
  );
  for (const name of TOOLS) {
    server.experimental.tasks.registerToolTask(
      name,
      { description: name, inputSchema: z.looseObject({}), execution: { taskSupport: 'required' } },
      {
        createTask: async (_args, { taskStore, taskRequestedTtl }) => ({
          task: await taskStore.createTask(taskRequestedTtl === undefined ? {} : { ttl: taskRequestedTtl }),
        }),
        getTask: async (_args, { taskId, taskStore }) => taskStore.getTask(taskId),
        getTaskResult: async (_args, { taskId, taskStore }) =>
          (await taskStore.getTaskResult(taskId)) as z.infer<typeof CallToolResultSchema>,
      },
    );
  }
  attachGate(server, shop.sessions, shop.spec().attach);
  const client = new Client({ name: 'host', version: '1.0.0' }, { capabilities: { tasks: {} } });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return {
    shop,
    client,
    store,
    begin: async (ttl = 60_000) => {
      const stream = client.experimental.tasks.callToolStream(
        { name: 'cart_add_item', arguments: {} },
        CallToolResultSchema,
        {
          task: { ttl },
        },
      );
      for await (const message of stream) if (message.type === 'taskCreated') return message.task.taskId;
      throw new Error('no task was created');
    },
  };
}

describe('a task of the sdk 1.x', () => {
  test('holds the session until it is completed, then moves it', async () => {
    const { shop, store, begin, client } = await openTaskShop();
    const taskId = await begin();
    expect(shop.moves()).toEqual([]);
    const stream = client.experimental.tasks.callToolStream(
      { name: 'cart_add_item', arguments: {} },
      CallToolResultSchema,
      {
        task: { ttl: 60_000 },
      },
    );
    const first = await stream.next();
    expect(JSON.stringify(first.value)).toContain('busy');
    expect(shop.decisions.at(-1)).toMatchObject({ kind: 'refused', reason: expect.stringContaining('busy') });
    await store.storeTaskResult(taskId, 'completed', text('added'));
    expect(shop.moves()).toEqual(['empty → has_items']);
    await client.close();
  });

  test.each([
    ['failed', 'failed', text('out of stock')],
    ['completed with isError', 'completed', { ...text('out of stock'), isError: true }],
  ] as const)('that has %s leaves the state and frees the session', async (_name, status, result) => {
    const { shop, store, begin, client } = await openTaskShop();
    const taskId = await begin();
    await store.storeTaskResult(taskId, status, result);
    expect(shop.decisions.at(-1)).toMatchObject({ kind: 'rolled_back' });
    await store.storeTaskResult(await begin(), 'completed', text('added'));
    expect(shop.moves()).toEqual(['empty → has_items']);
    await client.close();
  });

  test('that the client cancels leaves the state', async () => {
    const { shop, begin, client } = await openTaskShop();
    const taskId = await begin();
    await client.experimental.tasks.cancelTask(taskId);
    expect(shop.decisions.at(-1)).toMatchObject({ kind: 'rolled_back', reason: 'task cancelled' });
    await client.close();
  });

  test('that nobody ends frees the session when its time to live is over', async () => {
    const { shop, begin, client } = await openTaskShop();
    await begin(60_000);
    shop.timers.run();
    await shop.until('rolled_back');
    expect(shop.decisions.at(-1)).toMatchObject({ reason: 'task expired' });
    await client.close();
  });
});

describe.each(V2_KINDS.filter(({ lowLevel, era }) => lowLevel && era === 'modern'))('a task of $name', (kind) => {
  /** The tasks extension of 2026-07-28: the SDK has the vocabulary, the author the handlers. */
  async function open(
    status: () => Record<string, unknown>,
    { ttlMs, timers }: { ttlMs?: number; timers?: McpTimers } = {},
  ) {
    const shop = openShop();
    const attached: AttachedGate[] = [];
    shop.on('cart_add_item', () => ({ resultType: 'task', taskId: 't1', status: 'working', ttlMs }));
    const running = await kind.start(
      shop.spec({
        ...(timers && { attach: { timers } }),
        onServer: (server, gate) => {
          attached.push(gate);
          const low = server as { setRequestHandler(method: string, schemas: unknown, handler: unknown): void };
          low.setRequestHandler('tasks/get', { params: z.looseObject({ taskId: z.string() }) }, () => ({
            taskId: 't1',
            ...status(),
          }));
        },
      }),
    );
    const client = await running.connect();
    await client.call('cart_add_item').catch(() => 'the client of today does not know task results');
    await shop.until('reserved');
    return { shop, running, attached };
  }

  test('that may last longer than a timer can count holds the session all the same', async () => {
    const delays: number[] = [];
    const month = 30 * 24 * 3_600_000;
    const timers = {
      setTimeout: (_fire: () => void, ms: number) => void delays.push(ms),
      clearTimeout: () => undefined,
    };
    const { shop, running } = await open(() => ({ status: 'working' }), { ttlMs: month, timers });
    // Node fires a longer one at once, and the session would be free while the task runs.
    expect(delays).toEqual([2_147_483_647]);
    expect(shop.decisions.map(({ kind: what }) => what)).toEqual(['reserved']);
    await running.stop();
  });

  test('holds the session until the author settles it', async () => {
    const { shop, running, attached } = await open(() => ({ status: 'working' }));
    expect(shop.moves()).toEqual([]);
    for (const gate of attached) await gate.settleTask('t1', 'completed', text('added'));
    expect(shop.moves()).toEqual(['empty → has_items']);
    await running.stop();
  });
});
