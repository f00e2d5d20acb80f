import type { CallToolResult as CallToolResultV1 } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult as CallToolResultV2 } from '@modelcontextprotocol/server';
import type { EncodeOptions } from '@toon-format/toon';
import { expectTypeOf, test } from 'vitest';
import {
  type ErrorCode,
  type ErrorSeverity,
  error,
  escapeXml,
  escapeXmlAttr,
  required,
  type StringifyFn,
  success,
  TOOL_RESPONSE_BRAND,
  type ToolErrorOptions,
  type ToolResponse,
  type ToolResult,
  toolError,
  toonSuccess,
} from '../src/index.js';

test('every helper of the contract keeps its name, parameters and result', () => {
  expectTypeOf(success).toExtend<(data: string | object, compiledStringify?: StringifyFn) => ToolResponse>();
  expectTypeOf(error).toExtend<(message: string, code?: ErrorCode) => ToolResponse>();
  expectTypeOf(required).toExtend<(field: string) => ToolResponse>();
  expectTypeOf(toonSuccess).toExtend<(data: unknown, options?: EncodeOptions) => ToolResponse>();
  expectTypeOf(toolError).toExtend<(code: ErrorCode, options: ToolErrorOptions) => ToolResponse>();
  expectTypeOf(escapeXml).toExtend<(text: string) => string>();
  expectTypeOf(escapeXmlAttr).toExtend<(text: string) => string>();
});

test('the brand is a unique symbol', () => {
  const marked = { [TOOL_RESPONSE_BRAND]: true as const };
  expectTypeOf(TOOL_RESPONSE_BRAND).toExtend<symbol>();
  expectTypeOf(marked[TOOL_RESPONSE_BRAND]).toEqualTypeOf<true>();
});

test('the types of the contract keep their members', () => {
  expectTypeOf<{
    readonly content: ReadonlyArray<{ readonly type: 'text'; readonly text: string }>;
    readonly isError?: boolean;
  }>().toExtend<ToolResponse>();
  expectTypeOf<ToolResponse['content'][number]>().toExtend<{ readonly type: 'text'; readonly text: string }>();
  expectTypeOf<ToolResult>().toExtend<ToolResponse>();
  expectTypeOf<(value: unknown) => string>().toExtend<StringifyFn>();
  expectTypeOf<ErrorSeverity>().toEqualTypeOf<'warning' | 'error' | 'critical'>();
  expectTypeOf<{
    message: string;
    suggestion: string;
    availableActions: string[];
    severity: ErrorSeverity;
    details: Record<string, string>;
    retryAfter: number;
  }>().toExtend<ToolErrorOptions>();
  expectTypeOf<{ message: string }>().toExtend<ToolErrorOptions>();
});

test('error codes are offered by name and any other string is one too', () => {
  expectTypeOf<'RateLimited'>().toExtend<ErrorCode>();
  expectTypeOf<
    | 'MISSING_DISCRIMINATOR'
    | 'UNKNOWN_ACTION'
    | 'VALIDATION_ERROR'
    | 'MISSING_REQUIRED_FIELD'
    | 'INTERNAL_ERROR'
    | 'RATE_LIMITED'
    | 'UNAUTHORIZED'
    | 'FORBIDDEN'
    | 'NOT_FOUND'
    | 'CONFLICT'
    | 'TIMEOUT'
    | 'SERVER_BUSY'
    | 'DEPRECATED'
    | 'AUTH_REQUIRED'
  >().toExtend<ErrorCode>();
});

test('the results of the contract are results of both SDK generations', () => {
  expectTypeOf<ToolResult>().toExtend<CallToolResultV1>();
  expectTypeOf<ToolResult>().toExtend<CallToolResultV2>();
  for (const result of [success('x'), error('x'), required('x'), toonSuccess([]), toolError('X', { message: 'x' })]) {
    expectTypeOf(result).toExtend<CallToolResultV1>();
    expectTypeOf(result).toExtend<CallToolResultV2>();
  }
});
