import type { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult as CallToolResultV1 } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult as CallToolResultV2, McpServer } from '@modelcontextprotocol/server';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyToolResult,
  audio,
  compact,
  embeddedResource,
  fit,
  fromError,
  fromZodError,
  guardTool,
  image,
  mix,
  type ParsedToolError,
  parseToolError,
  resourceLink,
  type SchemaLike,
  type StandardSchemaLike,
  type StringifyFn,
  structured,
  structuredAsync,
  success,
  type ToolErrorOptions,
  text,
  unknownAction,
} from '../src/index.js';

test('every result is a result of both SDK generations', () => {
  const results = {
    text: text('x'),
    image: image('', 'image/png'),
    audio: audio('', 'audio/wav'),
    link: resourceLink({ uri: 'file:///a', name: 'a' }),
    resource: embeddedResource({ uri: 'file:///a', text: 'x' }),
    mix: mix('x'),
    structured: structured({ a: 1 }),
    compact: compact([]),
    fit: fit(success('x'), { maxChars: 500 }),
    unknownAction: unknownAction('x', []),
    fromError: fromError(undefined),
    fromZodError: fromZodError({ issues: [] }),
  };
  expectTypeOf(results[keyOf(results)]).toExtend<CallToolResultV1>();
  expectTypeOf(results[keyOf(results)]).toExtend<CallToolResultV2>();
  expectTypeOf(structuredAsync({})).resolves.toExtend<CallToolResultV1>();
  expectTypeOf(structuredAsync({})).resolves.toExtend<CallToolResultV2>();
});

test('results of the SDKs can be mixed and fitted', () => {
  expectTypeOf<CallToolResultV1>().toExtend<AnyToolResult>();
  expectTypeOf<CallToolResultV2>().toExtend<AnyToolResult>();
});

test('handlers that return them can be registered with both', () => {
  const register = (v1: McpServerV1, v2: McpServer): void => {
    v1.registerTool('a', { inputSchema: { id: z.string() } }, ({ id }) => success(id));
    v2.registerTool('a', { inputSchema: z.object({ id: z.string() }) }, ({ id }) => success(id));
    v1.registerTool(
      'b',
      { inputSchema: { id: z.string() } },
      guardTool(async ({ id }: { id: string }) => structured({ id })),
    );
    v2.registerTool(
      'b',
      { inputSchema: z.object({ id: z.string() }) },
      guardTool(async ({ id }: { id: string }) => mix(id, image('', 'image/png'))),
    );
  };
  expectTypeOf(register).toBeFunction();
});

test('any Standard Schema and any JSON Schema is a schema', () => {
  expectTypeOf<StandardSchemaV1>().toExtend<StandardSchemaLike>();
  expectTypeOf(z.object({ a: z.string() })).toExtend<SchemaLike>();
  expectTypeOf({ type: 'object', properties: { a: { type: 'string' } } } as const).toExtend<SchemaLike>();
});

test('what parseToolError gives can be sent again', () => {
  expectTypeOf<ParsedToolError>().toExtend<ToolErrorOptions>();
  expectTypeOf(parseToolError).returns.toEqualTypeOf<ParsedToolError | undefined>();
});

test('JSON.stringify is a StringifyFn', () => {
  expectTypeOf((value: unknown) => JSON.stringify(value)).toExtend<StringifyFn>();
});

declare function keyOf<T>(of: T): keyof T;
