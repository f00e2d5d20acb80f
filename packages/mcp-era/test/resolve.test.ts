import { describe, expect, test } from 'vitest';
import {
  createMcpEraCache,
  EraUndeterminedError,
  type MCPEraCache,
  MCPHttpStatusError,
  MCPProtocolError,
  type McpEraProbe,
  type McpEraProbeAnswer,
  mcpEraCacheKey,
  resolveMcpEra,
} from '../src/index.js';
import { DISCOVER } from './answers.js';

const STDIO_KEY = mcpEraCacheKey({ type: 'stdio', command: 'weather' });
const HTTP_KEY = mcpEraCacheKey({ type: 'streamable-http', url: 'https://a.example/mcp' });
const unsupported = (...supported: string[]): McpEraProbeAnswer => ({
  kind: 'error',
  error: new MCPProtocolError(-32022, 'Unsupported protocol version', { supported, requested: '2026-07-28' }),
});
const http = (status: number, body = ''): McpEraProbeAnswer => ({
  kind: 'error',
  error: new MCPHttpStatusError(status, body),
});

/** Answers in turn, and counts. */
function aProbe(...answers: (McpEraProbeAnswer | Error)[]): { probe: McpEraProbe; asked: string[] } {
  const asked: string[] = [];
  const probe: McpEraProbe = async (version) => {
    const answer = answers[asked.push(version) - 1];
    if (!answer) throw new Error('asked more often than expected');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { probe, asked };
}

const resolve = (probe: McpEraProbe, cache: MCPEraCache = createMcpEraCache(), key = HTTP_KEY, probeSupported = true) =>
  resolveMcpEra({ probe, cache, key, probeSupported, serverName: 'weather' });

describe('resolveMcpEra', () => {
  test('a DiscoverResult is modern, is handed out, and costs one question', async () => {
    const cache = createMcpEraCache();
    const { probe, asked } = aProbe({ kind: 'result', result: DISCOVER });
    const resolution = await resolve(probe, cache);
    expect(resolution).toMatchObject({ era: { kind: 'modern', version: '2026-07-28' }, probes: 1, fromCache: false });
    expect(resolution.discover?.capabilities).toEqual({ tools: {} });
    expect(asked).toEqual(['2026-07-28']);
    expect(await cache.get(HTTP_KEY)).toEqual({ kind: 'modern', version: '2026-07-28' });
  });

  test('a cached verdict of either era costs no question', async () => {
    for (const era of [
      { kind: 'modern', version: '2026-07-28' },
      { kind: 'legacy', version: '2025-06-18' },
    ] as const) {
      const cache = createMcpEraCache();
      await cache.set(HTTP_KEY, era);
      expect(await resolve(aProbe().probe, cache)).toEqual({ era, probes: 0, fromCache: true });
    }
  });

  test('a transport that is legacy by itself is never asked, and is remembered', async () => {
    const cache = createMcpEraCache();
    const resolution = await resolve(aProbe().probe, cache, 'http-sse:https://a.example', false);
    expect(resolution).toEqual({ era: { kind: 'legacy', version: '2024-11-05' }, probes: 0, fromCache: false });
    expect(await cache.get('http-sse:https://a.example')).toEqual({ kind: 'legacy', version: '2024-11-05' });
  });

  test('a server that offers another modern version is asked a second time, and no third', async () => {
    const twice = aProbe(unsupported('2026-07-28'), { kind: 'result', result: DISCOVER });
    expect(await resolve(twice.probe)).toMatchObject({ era: { kind: 'modern' }, probes: 2 });

    const stubborn = aProbe(unsupported('2026-07-28'), unsupported('2026-07-28'));
    await expect(resolve(stubborn.probe)).rejects.toBeInstanceOf(EraUndeterminedError);
    expect(stubborn.asked).toHaveLength(2);
  });

  test('-32022 that offers only legacy versions is legacy, at the newest in common, without another question', async () => {
    const { probe, asked } = aProbe(unsupported('2024-11-05', '2025-06-18'));
    expect(await resolve(probe)).toEqual({
      era: { kind: 'legacy', version: '2025-06-18' },
      probes: 1,
      fromCache: false,
    });
    expect(asked).toHaveLength(1);
  });

  test('-32022 with nothing in common names the server and both lists', async () => {
    const error = await resolve(aProbe(unsupported('2030-01-01')).probe).catch((error) => error);
    expect(error).toBeInstanceOf(EraUndeterminedError);
    expect(error.code).toBe('ERA_VERSIONS_DISJOINT');
    for (const part of ['weather', '2030-01-01', '2026-07-28', '2024-11-05']) expect(error.message).toContain(part);
  });

  test('a modern error without a DiscoverResult is modern', async () => {
    const { probe } = aProbe({ kind: 'error', error: new MCPProtocolError(-32021, 'no') });
    const resolution = await resolve(probe);
    expect(resolution).toEqual({ era: { kind: 'modern', version: '2026-07-28' }, probes: 1, fromCache: false });
    expect(resolution).not.toHaveProperty('discover');
  });

  test('silence is legacy on every transport, and remembered on stdio only', async () => {
    for (const key of [STDIO_KEY, HTTP_KEY]) {
      const cache = createMcpEraCache();
      const resolution = await resolve(aProbe({ kind: 'timeout' }).probe, cache, key);
      expect(resolution).toMatchObject({ era: { kind: 'legacy', version: '2025-11-25' }, probes: 1 });
      expect((await cache.get(key)) !== undefined).toBe(key === STDIO_KEY);
    }
  });

  test.each([
    ['no connection', new TypeError('fetch failed')],
    ['401', http(401)],
    ['403', http(403)],
    ['429', http(429)],
    ['500', http(500)],
    ['503', http(503)],
  ])('%s says nothing of the era: an error, never cached', async (_name, answer) => {
    const cache = createMcpEraCache();
    const error = await resolve(aProbe(answer).probe, cache).catch((error) => error);
    expect(error).toBeInstanceOf(EraUndeterminedError);
    expect(error.cause).toBe(answer instanceof Error ? answer : (answer as { error: unknown }).error);
    expect(await cache.get(HTTP_KEY)).toBeUndefined();
  });

  test('a probe that throws at once is an answer too', async () => {
    const probe = (() => {
      throw new Error('broken probe');
    }) as McpEraProbe;
    await expect(resolve(probe)).rejects.toThrow('broken probe');
  });

  test.each([400, 404, 405])('%d goes through classifyModernHttpFailure', async (status) => {
    expect((await resolve(aProbe(http(status, 'nothing here')).probe)).era.kind).toBe('legacy');
    const modern = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32020, message: 'x' } });
    expect((await resolve(aProbe(http(status, modern)).probe)).era.kind).toBe('modern');
  });

  test('a success without a usable version list is legacy, never modern', async () => {
    for (const result of [{}, null, [], { supportedVersions: [] }, { supportedVersions: ['DRAFT-2027'] }, 'ok']) {
      expect((await resolve(aProbe({ kind: 'result', result }).probe)).era.kind).toBe('legacy');
    }
  });
});

describe('mcpEraCacheKey', () => {
  test('the path and query of a URL do not count', () => {
    expect(mcpEraCacheKey({ type: 'streamable-http', url: 'https://A.example:443/mcp?token=1' })).toBe(HTTP_KEY);
  });

  test('both spellings of Streamable HTTP share a key, and HTTP+SSE has its own', () => {
    const url = 'https://a.example/mcp';
    expect(mcpEraCacheKey({ type: 'streamable_http', url })).toBe(mcpEraCacheKey({ type: 'streamable-http', url }));
    expect(mcpEraCacheKey({ type: 'http-sse', url })).not.toBe(mcpEraCacheKey({ type: 'streamable-http', url }));
  });

  test('another scheme, host or port is another server', () => {
    const urls = ['https://a.example', 'http://a.example', 'https://b.example', 'https://a.example:8443'];
    expect(new Set(urls.map((url) => mcpEraCacheKey({ type: 'streamable-http', url }))).size).toBe(4);
  });

  test('a stdio key is command, arguments and folder, however they are split, and holds no environment', () => {
    const keys = [
      mcpEraCacheKey({ type: 'stdio', command: 'npx', args: ['a b'] }),
      mcpEraCacheKey({ type: 'stdio', command: 'npx', args: ['a', 'b'] }),
      mcpEraCacheKey({ type: 'stdio', command: 'npx a', args: ['b'] }),
      mcpEraCacheKey({ type: 'stdio', command: 'npx', args: ['a b'], cwd: '/srv' }),
    ];
    expect(new Set(keys).size).toBe(4);
    const env = { API_KEY: 'hunter2' };
    expect(mcpEraCacheKey({ type: 'stdio', command: 'npx', args: ['a b'], env })).toBe(keys[0]);
  });

  test('what is no server is refused by the name of the field, and the URL stays out of the message', () => {
    expect(() => mcpEraCacheKey({ type: 'stdio', command: '' })).toThrow(/command/);
    for (const url of ['', '/mcp', 'ftp://a.example', 'https://?token=hunter2', 'nonsense hunter2']) {
      expect(() => mcpEraCacheKey({ type: 'streamable-http', url })).toThrow(/url/);
      expect(() => mcpEraCacheKey({ type: 'streamable-http', url })).not.toThrow(/hunter2/);
    }
  });
});
