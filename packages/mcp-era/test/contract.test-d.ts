import { expectTypeOf, test } from 'vitest';
import type {
  EraUndeterminedError,
  MCPDiscoverResult,
  MCPEraCache,
  MCPHttpStatusError,
  MCPProtocolError,
  MCPTransportUnion,
  McpEra,
  McpEraProbe,
  McpEraProbeAnswer,
  McpEraResolution,
  McpEraResolutionInput,
  McpLegacyVersion,
  McpModernVersion,
} from '../src/index.js';
import * as era from '../src/index.js';

test('a program written against the contract still compiles: versions and eras', () => {
  expectTypeOf<'2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25'>().toExtend<McpLegacyVersion>();
  expectTypeOf<'2026-07-28'>().toExtend<McpModernVersion>();
  expectTypeOf<{ kind: 'modern'; version: '2026-07-28' }>().toExtend<McpEra>();
  expectTypeOf<{ kind: 'legacy'; version: '2025-11-25' }>().toExtend<McpEra>();
  expectTypeOf<Extract<McpEra, { kind: 'modern' }>['version']>().toExtend<'2026-07-28'>();
});

test('a program written against the contract still compiles: the cache', () => {
  // A cache written for the contract, that knows nothing of ages, is one of ours.
  const own = {
    get: (_key: string): McpEra | undefined => undefined,
    set: (_key: string, _era: McpEra): void => {},
    delete: (_key: string): void => {},
  };
  expectTypeOf(own).toExtend<MCPEraCache>();
  expectTypeOf(era.createMcpEraCache).toBeCallableWith();
  expectTypeOf(era.createMcpEraCache()).toExtend<{
    get(key: string): McpEra | undefined | Promise<McpEra | undefined>;
    set(key: string, era: McpEra): void | Promise<void>;
    delete(key: string): void | Promise<void>;
  }>();
  expectTypeOf(era.defaultMcpEraCache).toExtend<MCPEraCache>();
});

test('a program written against the contract still compiles: classifiers and keys', () => {
  expectTypeOf(era.isRecognizedModernError).toExtend<(error: unknown) => boolean>();
  expectTypeOf(era.isRecognizedModernError).guards.toEqualTypeOf<MCPProtocolError>();
  expectTypeOf(era.classifyModernHttpFailure).toExtend<
    (
      status: number,
      bodyText: string,
    ) => { readonly kind: 'modern'; readonly error: MCPProtocolError } | { readonly kind: 'legacy' }
  >();
  expectTypeOf(era.mcpEraCacheKey).toExtend<(transport: MCPTransportUnion) => string>();
  expectTypeOf(era.serverInfoFromDiscover).toExtend<
    (discover: MCPDiscoverResult | undefined) => { name: string; version?: string } | undefined
  >();
  expectTypeOf<{
    type: 'stdio';
    command: string;
    args?: string[];
    env?: Record<string, string>;
    cwd?: string;
  }>().toExtend<MCPTransportUnion>();
  expectTypeOf<{ type: 'http-sse'; url: string; headers?: Record<string, string> }>().toExtend<MCPTransportUnion>();
  expectTypeOf<{ type: 'streamable_http'; url: string }>().toExtend<MCPTransportUnion>();
  expectTypeOf<{ type: 'streamable-http'; url: string }>().toExtend<MCPTransportUnion>();
  expectTypeOf<{
    supportedVersions?: readonly string[];
    capabilities?: Record<string, unknown>;
    instructions?: string;
    ttlMs?: number;
    cacheScope?: 'public' | 'private';
    _meta?: Record<string, unknown>;
  }>().toExtend<MCPDiscoverResult>();
});

test('a program written against the contract still compiles: probe and resolver', () => {
  expectTypeOf<{ kind: 'result'; result: unknown }>().toExtend<McpEraProbeAnswer>();
  expectTypeOf<{ kind: 'error'; error: unknown }>().toExtend<McpEraProbeAnswer>();
  expectTypeOf<{ kind: 'timeout' }>().toExtend<McpEraProbeAnswer>();
  expectTypeOf<(version: McpModernVersion) => Promise<McpEraProbeAnswer>>().toExtend<McpEraProbe>();
  expectTypeOf<McpEraProbe>().toBeCallableWith('2026-07-28');
  expectTypeOf<{
    probe: McpEraProbe;
    cache: MCPEraCache;
    key: string;
    probeSupported: boolean;
    serverName: string;
  }>().toExtend<McpEraResolutionInput>();
  expectTypeOf(era.resolveMcpEra).toExtend<(input: McpEraResolutionInput) => Promise<McpEraResolution>>();
  expectTypeOf<McpEraResolution>().toExtend<{
    readonly era: McpEra;
    readonly discover?: MCPDiscoverResult;
    readonly probes: number;
    readonly fromCache: boolean;
  }>();
});

test('a program written against the contract still compiles: errors', () => {
  expectTypeOf(era.MCPProtocolError).toBeConstructibleWith(-32022, 'message', {});
  expectTypeOf<MCPProtocolError>().toExtend<Error & { readonly code: number; readonly data?: unknown }>();
  expectTypeOf(era.MCPHttpStatusError).toBeConstructibleWith(404, 'body', { allow: 'POST' });
  expectTypeOf(era.MCPHttpStatusError).toBeConstructibleWith(404, 'body');
  expectTypeOf<MCPHttpStatusError>().toExtend<
    Error & { readonly status: number; readonly bodyText: string; readonly headers: Record<string, string> }
  >();
  expectTypeOf<EraUndeterminedError>().toExtend<Error & { readonly code: string }>();
});
