import { Client } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryTransportV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type GuardedFailure, guardTool, parseToolError, success, ToolFailure } from '../src/index.js';
import { expectAcceptedByBothSdks } from './support/sdk.js';

function guarded(handler: (...args: unknown[]) => unknown) {
  const failures: GuardedFailure[] = [];
  const run = guardTool(handler, {
    tool: 'load',
    onError: (failure) => failures.push(failure),
    newId: () => 'id-1',
    now: () => 0,
  });
  return { run, failures };
}

describe('guardTool', () => {
  test('lets answers through untouched, with their arguments', async () => {
    const answer = success('fine');
    const { run, failures } = guarded((a, b) => (a === 1 && b === 2 ? answer : undefined));
    expect(await run(1, 2)).toBe(answer);
    expect(failures).toEqual([]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('hunter2');
      },
    ],
    ['rejects', () => Promise.reject(new Error('hunter2'))],
    [
      'throws a string',
      () => {
        throw 'hunter2';
      },
    ],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
    ],
  ])('a handler that %s still answers, and the log hears the rest under the same id', async (_name, handler) => {
    const { run, failures } = guarded(handler as () => unknown);
    const result = await run();
    expectAcceptedByBothSdks(result);
    expect(parseToolError(result)).toMatchObject({ code: 'INTERNAL_ERROR', details: { correlation_id: 'id-1' } });
    expect(JSON.stringify(result)).not.toContain('hunter2');
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({ correlationId: 'id-1', tool: 'load' });
  });

  test('every kind of failure carries the id', async () => {
    for (const error of [
      new ToolFailure('X', { message: 'm' }),
      z.string().safeParse(5).error,
      { status: 429 },
      { code: 'ENOENT' },
    ]) {
      const { run } = guarded(() => Promise.reject(error));
      expect(parseToolError(await run())?.details.correlation_id).toBe('id-1');
    }
  });

  test('a log that rejects, or an id that cannot be made, does not cost the answer either', async () => {
    const handler = () => {
      throw new Error('x');
    };
    const rejecting = guardTool(handler, { onError: () => Promise.reject(new Error('disk full')) });
    expect(parseToolError(await rejecting())?.code).toBe('INTERNAL_ERROR');
    const noId = guardTool(handler, {
      onError: () => undefined,
      newId: () => {
        throw new Error('no randomness');
      },
    });
    expect(parseToolError(await noId())?.details.correlation_id).toBe('none');
  });

  test('a log that throws does not cost the answer', async () => {
    const run = guardTool(
      () => {
        throw new Error('x');
      },
      {
        onError: () => {
          throw new Error('disk full');
        },
      },
    );
    expect(parseToolError(await run())?.code).toBe('INTERNAL_ERROR');
  });

  test('without a hook the error goes to stderr, under an id that cannot be guessed', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const error = new Error('x');
    const result = await guardTool(() => {
      throw error;
    })();
    const id = parseToolError(result)!.details.correlation_id!;
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(log).toHaveBeenCalledWith(expect.stringContaining(id), error);
    log.mockRestore();
  });

  test('errors of the protocol are thrown on, and others if told so', async () => {
    for (const code of [-32042, -32021])
      await expect(guarded(() => Promise.reject({ code })).run()).rejects.toEqual({ code });
    expect(parseToolError(await guarded(() => Promise.reject({ code: -32603 })).run())?.code).toBe('INTERNAL_ERROR');
    const own = guardTool(() => Promise.reject(new RangeError('mine')), {
      passThrough: (error) => error instanceof RangeError,
    });
    await expect(own()).rejects.toThrow('mine');
  });
});

test('its results reach clients of both SDK generations', async () => {
  const handler = guardTool(
    async ({ id }: { id: string }) => {
      if (id === 'none') throw new ToolFailure('NOT_FOUND', { message: 'No such id.', suggestion: 'List them.' });
      return success(`found ${id}`);
    },
    { onError: () => undefined },
  );
  const config = { description: 'Loads one', inputSchema: z.object({ id: z.string() }) };

  const server = new McpServer({ name: 's', version: '1' });
  server.registerTool('load', config, handler);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'c', version: '1' });
  await Promise.all([server.connect(far), client.connect(near)]);

  const serverV1 = new McpServerV1({ name: 's', version: '1' });
  serverV1.registerTool('load', { description: 'Loads one', inputSchema: { id: z.string() } }, handler);
  const [nearV1, farV1] = InMemoryTransportV1.createLinkedPair();
  const clientV1 = new ClientV1({ name: 'c', version: '1' });
  await Promise.all([serverV1.connect(farV1), clientV1.connect(nearV1)]);

  for (const peer of [client, clientV1]) {
    const found = await peer.callTool({ name: 'load', arguments: { id: 'p1' } });
    expect(found.content).toEqual([{ type: 'text', text: 'found p1' }]);
    const failed = await peer.callTool({ name: 'load', arguments: { id: 'none' } });
    expect(failed.isError).toBe(true);
    expect(parseToolError(failed)).toMatchObject({ code: 'NOT_FOUND', suggestion: 'List them.' });
    await peer.close();
  }
});
