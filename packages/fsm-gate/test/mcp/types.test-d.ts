import type { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import type { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult as ResultV1 } from '@modelcontextprotocol/sdk/types.js';
import {
  createMcpHandler,
  type McpHandlerRequestOptions,
  type McpServer as McpServerV2,
  type CallToolResult as ResultV2,
  type ServerEventBus,
  type Server as ServerV2,
} from '@modelcontextprotocol/server';
import { describe, expectTypeOf, test } from 'vitest';
import {
  type AttachableServer,
  type AttachedGate,
  attachGate,
  createPrincipalHandlers,
  type ListenBus,
  type PrincipalListeners,
  type RefusalResult,
} from '../../src/mcp.js';

describe('the types of fsm-gate/mcp', () => {
  test('take the servers of both SDK generations without a cast', () => {
    expectTypeOf<McpServerV1>().toExtend<AttachableServer>();
    expectTypeOf<ServerV1>().toExtend<AttachableServer>();
    expectTypeOf<McpServerV2>().toExtend<AttachableServer>();
    expectTypeOf<ServerV2>().toExtend<AttachableServer>();
    expectTypeOf(attachGate).returns.toEqualTypeOf<AttachedGate>();
    expectTypeOf<{ listTools(): void }>().not.toExtend<AttachableServer>();
  });

  test('take the tool results of both as refusals', () => {
    const text = { type: 'text', text: '' } as const;
    expectTypeOf<ResultV1 & { content: { type: 'text'; text: string }[] }>().toExtend<RefusalResult>();
    expectTypeOf<ResultV2 & { content: { type: 'text'; text: string }[] }>().toExtend<RefusalResult>();
    expectTypeOf({ content: [text], isError: true as const }).toExtend<RefusalResult>();
  });

  test('fit createMcpHandler', () => {
    expectTypeOf<ListenBus>().toExtend<ServerEventBus>();
    const handlers = createPrincipalHandlers({
      create: (bus, listeners) => {
        expectTypeOf(listeners).toExtend<PrincipalListeners>();
        return createMcpHandler(() => null as unknown as McpServerV2, { bus });
      },
    });
    expectTypeOf(handlers.fetch).parameter(1).toEqualTypeOf<McpHandlerRequestOptions | undefined>();
  });

  test('let the listing be one of three modes', () => {
    expectTypeOf(attachGate).parameter(2).extract<object>().toHaveProperty('listing');
    // @ts-expect-error there is no such mode
    attachGate(null as unknown as McpServerV1, null as never, { listing: 'show' });
  });
});
