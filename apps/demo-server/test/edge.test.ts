import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { HttpSessions } from '../src/http-sessions.js';
import { aParkedPayment, aRunningDemo } from './running.js';

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } },
};
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

describe('the HTTP edge', () => {
  it('turns away a foreign Host and a foreign Origin, as a rebinding page would send them', async () => {
    const { server } = await aRunningDemo();
    expect(await statusOf(`${server.url}/mcp`, { host: 'evil.test' })).toBe(403);
    expect(await statusOf(`${server.url}/mcp`, { origin: 'https://evil.test' })).toBe(403);
    expect(await statusOf(`${server.url}/mcp`, { origin: server.url })).toBe(405);
  });

  it.each(['127.0.0.1', '0.0.0.0'])('names an address that a browser can open when it listens on %s', async (host) => {
    const { server } = await aRunningDemo({ host });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(server.url)).status).toBe(200);
  });

  it('answers a request of an unknown session with 404, so that the client starts anew', async () => {
    const { server } = await aRunningDemo();
    const response = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, 'mcp-session-id': crypto.randomUUID() },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('initialize') } });
  });

  it.each([
    ['no JSON', '{'],
    ['no request', '"hello"'],
    ['a call without a session', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })],
    ['an empty batch', '[]'],
  ])('refuses %s with a 4xx and goes on serving', async (_, body) => {
    const running = await aRunningDemo();
    const response = await fetch(`${running.server.url}/mcp`, { method: 'POST', headers, body });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(await (await running.agent()).toolNames()).toContain('cart_add_item');
  });

  it('lets only the operator see and decide payments', async () => {
    const running = await aRunningDemo();
    const runId = await aParkedPayment(await running.agent());
    for (const authorization of ['', 'Bearer ', 'Bearer wrong', `Bearer ${running.server.operatorToken}x`]) {
      const response = await fetch(`${running.server.url}/operator/payments/${runId}`, { headers: { authorization } });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain('desk');
    }
    expect((await fetch(`${running.server.url}/operator`)).status).toBe(401);
  });
});

describe('a decision by cookie', () => {
  it.each([
    ['without an Origin', {}],
    ['from a page on another port of this host', { origin: 'http://127.0.0.1:1' }],
    ['from another name of this host', { origin: 'http://localhost' }],
  ])('%s is refused, and the payment still waits', async (_, sent) => {
    const running = await aRunningDemo();
    const runId = await aParkedPayment(await running.agent());
    const decide = (origin: Record<string, string>) =>
      fetch(`${running.server.url}/operator/payments/${runId}`, {
        method: 'POST',
        headers: { cookie: `interlock_operator=${running.server.operatorToken}`, ...origin },
        body: new URLSearchParams({ decision: 'approve' }),
      });
    expect((await decide(sent)).status).toBe(403);
    expect((await running.operator('GET', runId)).status).toBe(200);
    expect((await decide({ origin: running.server.url })).status).toBe(200);
  });

  it('of any length is not read to its end', async () => {
    const { server } = await aRunningDemo();
    const endless = new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(16_384)) });
    const response = await fetch(`${server.url}/operator/payments/any`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.operatorToken}` },
      body: endless,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
  });
});

describe('sessions', () => {
  it('end after they were silent too long, and what was kept for them goes', async () => {
    let now = 1_000;
    const ended: string[] = [];
    const { demo } = await aRunningDemo();
    const sessions = new HttpSessions({
      createServer: (id) => demo.createServer(id),
      onEnd: async (id) => void ended.push(id),
      onError: (error) => expect.unreachable(String(error)),
      idleMs: 500,
      now: () => now,
    });
    const opened = await sessions.handle(post(initialize));
    const id = opened.headers.get('mcp-session-id');
    await opened.text();
    now += 499;
    await sessions.endIdle();
    expect(sessions.size).toBe(1);
    now += 1;
    await sessions.endIdle();
    expect(sessions.size).toBe(0);
    expect(ended).toEqual([id]);
  });

  it('are bounded: the one that was silent longest makes room', async () => {
    let now = 0;
    const { demo } = await aRunningDemo();
    const sessions = new HttpSessions({
      createServer: (id) => demo.createServer(id),
      onEnd: async () => {},
      onError: (error) => expect.unreachable(String(error)),
      idleMs: 60_000,
      maxSessions: 3,
      now: () => now++,
    });
    for (let opened = 0; opened < 10; opened++) await (await sessions.handle(post(initialize))).text();
    expect(sessions.size).toBe(3);
    await sessions.closeAll();
  });

  it('end when the client says so', async () => {
    const running = await aRunningDemo();
    const agent = await running.agent();
    await agent.call('cart_add_item', { sku: 'stool' });
    await agent.close();
    expect(running.logged).toEqual([]);
  });

  it('leave nothing of themselves in the gate or in the carts', async () => {
    const { demo } = await aRunningDemo();
    const sessions = new HttpSessions({
      createServer: (id) => demo.createServer(id),
      onEnd: (id) => demo.endSession(id),
      onError: (error) => expect.unreachable(String(error)),
      idleMs: 60_000,
    });
    const opened = await sessions.handle(post(initialize));
    await opened.text();
    const id = opened.headers.get('mcp-session-id') ?? '';
    const added = await sessions.handle(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { ...headers, 'mcp-session-id': id },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 2, method: 'tools/call' },
          params: { name: 'cart_add_item', arguments: { sku: 'stool' } },
        }),
      }),
    );
    await added.text();
    expect(await demo.sessions.inspect(id)).toMatchObject({ state: 'has_items', version: 1 });
    await sessions.closeAll();
    expect(await demo.sessions.inspect(id)).toMatchObject({ state: 'empty', version: 0 });
  });
});

function post(body: unknown): Request {
  return new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Status of a GET with headers that `fetch` would not send. */
function statusOf(url: string, sent: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers: sent }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
