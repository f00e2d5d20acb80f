import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HostileHttp, type HostileHttpMode, startHostileHttp } from '@mcp-interlock/test-kit/era-hostile-http';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { answerFromHttp, createHttpProbe } from '../src/http.js';
import { classifyEraAnswer, type McpEraProbeAnswer } from '../src/index.js';
import { DISCOVER, refusal, result } from './answers.js';
import { aClock } from './clock.js';

const open: HostileHttp[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});
async function aHostile(mode: HostileHttpMode, elsewhere?: string): Promise<HostileHttp> {
  const server = await startHostileHttp(mode, elsewhere ? { elsewhere } : {});
  open.push(server);
  return server;
}
const verdictOf = (answer: McpEraProbeAnswer): ReturnType<typeof classifyEraAnswer> =>
  classifyEraAnswer(answer, { transport: 'http' });

describe('the HTTP probe survives', () => {
  test.each(['silent', 'silent-body', 'slow-drip'] as const)(
    'a %s server: when the time is up, the answer is a timeout',
    async (mode) => {
      const server = await aHostile(mode);
      const clock = aClock();
      const asking = createHttpProbe({ url: server.url, setTimer: clock.setTimer })('2026-07-28');
      await server.nextRequest();
      server.drip();
      clock.advance(9_999);
      server.drip();
      clock.advance(1);
      expect(await asking).toEqual({ kind: 'timeout' });
    },
  );

  test.each(['endless-body', 'endless-events', 'zip-bomb'] as const)(
    'a %s: it reads no more than its cap',
    async (mode) => {
      const server = await aHostile(mode);
      const clock = aClock();
      const answer = await createHttpProbe({ url: server.url, maxBodyBytes: 100_000, setTimer: clock.setTimer })(
        '2026-07-28',
      );
      expect(verdictOf(answer)).toMatchObject({ kind: 'undetermined', reason: { kind: 'not-mcp', status: 200 } });
      expect((answer as { error: { bodyText: string } }).error.bodyText.length).toBeLessThan(400_000);
      // What was in the sockets' buffers had left already.
      expect(server.sent).toBeLessThan(50_000_000);
    },
  );

  test.each([
    ['wrong-id', 'undetermined', 'no JSON-RPC'],
    ['two-answers', 'modern', 'a modern version in common'],
    ['cut-off', 'undetermined', 'out of reach'],
    ['reset', 'undetermined', 'out of reach'],
    ['redirect-loop', 'undetermined', 'a redirect'],
    ['web-page', 'undetermined', 'no JSON-RPC'],
    ['empty-success', 'undetermined', 'no JSON-RPC'],
    ['bad-json', 'undetermined', 'no JSON-RPC'],
    ['deep-json', 'undetermined', 'no JSON-RPC'],
  ] as const)('%s → %s: %s', async (mode, kind, rule) => {
    const server = await aHostile(mode);
    const answer = await createHttpProbe({ url: server.url })('2026-07-28');
    expect(verdictOf(answer)).toMatchObject({ kind, evidence: { rule } });
  });

  test('nobody at the port', async () => {
    const server = await aHostile('silent');
    await server.close();
    const verdict = verdictOf(await createHttpProbe({ url: server.url })('2026-07-28'));
    expect(verdict).toMatchObject({ kind: 'undetermined', reason: { kind: 'unavailable' } });
    expect(verdict.evidence.received).toContain('ECONNREFUSED');
  });

  test('headers that never come', async () => {
    const clock = aClock();
    const headers = (): Promise<never> => new Promise(() => {});
    const asking = createHttpProbe({ url: 'http://a.example/mcp', headers, setTimer: clock.setTimer })('2026-07-28');
    clock.advance(10_000);
    expect(await asking).toEqual({ kind: 'timeout' });
  });

  test('a body of events without end: what is parsed is bounded', () => {
    const parse = vi.spyOn(JSON, 'parse');
    try {
      for (const event of ['\n\n', '\r', 'data:x\n\n', 'data:{\n\n', ': x\n\n']) {
        parse.mockClear();
        const body = event.repeat(1_048_576 / event.length);
        const headers = { 'content-type': 'text/event-stream' };
        expect(verdictOf(answerFromHttp({ status: 200, headers, body }))).toMatchObject({ kind: 'undetermined' });
        expect(parse.mock.calls.length).toBeLessThan(3000);
      }
    } finally {
      parse.mockRestore();
    }
  });

  test('a notification before the error that counts', () => {
    const body = `data: {"jsonrpc":"2.0","method":"notifications/message"}\n\ndata: ${refusal(-32020)}\n\n`;
    const answer = answerFromHttp({ status: 400, headers: { 'content-type': 'text/event-stream' }, body });
    expect(verdictOf(answer)).toMatchObject({ kind: 'modern', evidence: { rule: 'a modern error' } });
  });

  test('a fetch that ignores its signal', async () => {
    const clock = aClock();
    const asking = createHttpProbe({
      url: 'http://a.example/mcp',
      fetch: () => new Promise(() => {}),
      setTimer: clock.setTimer,
    })('2026-07-28');
    clock.advance(10_000);
    expect(await asking).toEqual({ kind: 'timeout' });
  });
});

describe('the HTTP probe and redirects', () => {
  const listen = async (handler: Parameters<typeof createServer>[1]): Promise<{ url: string; close(): void }> => {
    const server = createServer(handler as never);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
  };

  test('follows a 307 and a 308 within the origin, with the question and its headers', async () => {
    for (const status of [307, 308]) {
      const seen: unknown[] = [];
      const server = await listen((request, response) => {
        if (request.url === '/mcp') return void response.writeHead(status, { location: '/mcp/' }).end();
        seen.push([request.method, request.headers['mcp-method'], request.headers.authorization]);
        response.writeHead(200, { 'content-type': 'application/json' }).end(result(DISCOVER));
      });
      const probe = createHttpProbe({ url: `${server.url}/mcp`, headers: { authorization: 'Bearer t' } });
      expect((await probe('2026-07-28')).kind).toBe('result');
      expect(seen).toEqual([['POST', 'server/discover', 'Bearer t']]);
      server.close();
    }
  });

  test('never follows to another origin: no header gets there', async () => {
    const elsewhere = await aHostile('empty-success');
    const server = await aHostile('redirect-away', elsewhere.url);
    const answer = await createHttpProbe({ url: server.url, headers: { authorization: 'Bearer t' } })('2026-07-28');
    expect(verdictOf(answer)).toMatchObject({ reason: { kind: 'redirected', status: 307, location: elsewhere.url } });
    expect(elsewhere.requests).toEqual([]);
  });

  test('follows none where none is wanted', async () => {
    const server = await aHostile('redirect-loop');
    await createHttpProbe({ url: server.url, redirect: 'none' })('2026-07-28');
    expect(server.requests).toHaveLength(1);
  });

  test('a loop within the origin ends after three', async () => {
    const server = await aHostile('redirect-loop');
    await createHttpProbe({ url: server.url })('2026-07-28');
    expect(server.requests).toHaveLength(4);
  });
});

describe('what the HTTP probe sends', () => {
  test('is a complete modern request, whose own headers cannot be overridden', async () => {
    const server = await aHostile('web-page');
    const headers = {
      'MCP-Protocol-Version': '2025-06-18',
      'mcp-method': 'x',
      Accept: '*/*',
      'Mcp-Session-Id': 's',
      'X-Api-Key': 'k',
    };
    await createHttpProbe({
      url: server.url,
      headers,
      clientInfo: { name: 'host', version: '3.0.0' },
      capabilities: { sampling: {} },
    })('2026-07-28');
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
      'x-api-key': 'k',
    });
    expect(request?.headers).not.toHaveProperty('mcp-session-id');
    expect(JSON.parse(request?.body ?? '')).toEqual({
      jsonrpc: '2.0',
      id: expect.any(String),
      method: 'server/discover',
      params: {
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'host', version: '3.0.0' },
          'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
        },
      },
    });
  });

  test('may have headers that are asked for each time', async () => {
    const server = await aHostile('web-page');
    let token = 0;
    const probe = createHttpProbe({ url: server.url, headers: async () => ({ authorization: `Bearer ${++token}` }) });
    await probe('2026-07-28');
    await probe('2026-07-28');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });

  test('ends when the caller has gone', async () => {
    const server = await aHostile('silent');
    const leaving = new AbortController();
    const asking = createHttpProbe({ url: server.url })('2026-07-28', { signal: leaving.signal });
    await server.nextRequest();
    const gone = new Error('gone');
    leaving.abort(gone);
    expect(await asking).toEqual({ kind: 'error', error: gone });
    expect(await createHttpProbe({ url: server.url })('2026-07-28', { signal: AbortSignal.abort(gone) })).toEqual({
      kind: 'error',
      error: gone,
    });
  });

  test('bad options are refused by the name of the field, and no value gets into the message', () => {
    expect(() => createHttpProbe({ url: 'mcp' })).toThrow(/url/);
    expect(() => createHttpProbe({ url: 'file:///etc/passwd' })).toThrow(/url/);
    expect(() => createHttpProbe({ url: 'https://user:hunter2@a.example' })).toThrow(/url must not carry credentials/);
    expect(() => createHttpProbe({ url: 'https://user:hunter2@a.example' })).not.toThrow(/hunter2/);
    const headers = { 'x-api-key': 'hunter2\n' };
    headers['x-api-key'] = 'hunter2\u0000';
    expect(() => createHttpProbe({ url: 'https://a.example', headers })).toThrow(/"x-api-key"/);
    expect(() => createHttpProbe({ url: 'https://a.example', headers })).not.toThrow(/hunter2/);
  });
});
