import { describe, expect, it } from 'vitest';
import { createGuardedFetch } from '../../src/node/guarded-fetch.js';
import { addressKind } from '../../src/node/private-address.js';
import { listen } from '../fixtures/http-upstreams.js';
import { providerOf } from '../fixtures/scripted-proxy.js';

function aFetch(url: string, addresses: Record<string, string[]> = {}) {
  const requests: { url: string; headers: Headers; redirect: RequestInit['redirect'] }[] = [];
  const guarded = createGuardedFetch({
    serverName: 'up',
    url,
    ownHeaders: { Authorization: 'Bearer mine', 'X-Key': 'k' },
    resolve: async (hostname) => addresses[hostname] ?? ['93.184.216.34'],
    fetch: async (input, init) => {
      requests.push({ url: String(input), headers: new Headers(init?.headers), redirect: init?.redirect });
      return new Response('ok');
    },
  });
  return { guarded, requests };
}

describe('a remote server', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://127.0.0.1:8080/',
    'http://[::1]/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://[fd00::1]/',
    'http://100.64.0.1/',
    'http://0.0.0.0/',
    'http://inside.example/',
    'http://mixed.example/',
    'file:///etc/passwd',
  ])('cannot lead us to %s', async (target) => {
    const { guarded, requests } = aFetch('https://mcp.example.com/mcp', {
      'inside.example': ['10.1.2.3'],
      'mixed.example': ['93.184.216.34', '127.0.0.1'],
    });
    await expect(guarded(target)).rejects.toMatchObject({ code: 'UPSTREAM_ADDRESS_REFUSED', serverName: 'up' });
    expect(requests).toEqual([]);
  });

  it('may point to another public host, which does not get the configured headers', async () => {
    const { guarded, requests } = aFetch('https://mcp.example.com/mcp');
    await guarded('https://login.example.org/token', {
      headers: { Authorization: 'Bearer mine', 'X-Key': 'k', Accept: 'application/json' },
    });
    expect([...(requests[0]?.headers.keys() ?? [])]).toEqual(['accept']);
  });

  it('that the configuration places inside is reached as it is written', async () => {
    const { guarded, requests } = aFetch('http://10.0.0.5:3000/mcp');
    await guarded('http://10.0.0.5:3000/mcp', { headers: { 'X-Key': 'k' } });
    expect(requests[0]?.headers.get('x-key')).toBe('k');
  });

  it('on this machine may point to this machine, but not into the network', async () => {
    const { guarded } = aFetch('http://localhost:3000/mcp', { localhost: ['127.0.0.1', '::1'] });
    expect((await guarded('http://127.0.0.1:9000/authorize')).status).toBe(200);
    await expect(guarded('http://192.168.0.1/')).rejects.toMatchObject({ code: 'UPSTREAM_ADDRESS_REFUSED' });
  });

  it('that resolves to another address once it was checked is not reached there', async () => {
    const inside = await listen((_request, response) => void response.end('the secret'));
    const outside = await listen((request, response) => void response.end(`${request.method} ${request.headers.host}`));
    // Both are on this machine, where tests live; what differs is the port's owner, and the name says only "rebinding".
    const { port } = new URL(outside.origin);
    let asked = 0;
    const guarded = createGuardedFetch({
      serverName: 'up',
      url: inside.origin,
      resolve: async () => {
        asked += 1;
        return ['127.0.0.1'];
      },
    });
    const response = await guarded(`http://rebinding.invalid:${port}/token`, {
      method: 'POST',
      body: new URLSearchParams({ a: 'b' }),
    });
    // The name does not exist: only the address that was checked can have been used.
    expect(await response.text()).toBe(`POST rebinding.invalid:${port}`);
    expect(asked).toBe(1);
    await inside.close();
    await outside.close();
  });

  it('never has a redirect followed behind our back', async () => {
    const { guarded, requests } = aFetch('https://mcp.example.com/mcp');
    await guarded('https://mcp.example.com/mcp', { redirect: 'follow' });
    expect(requests[0]?.redirect).toBe('manual');
  });

  it('can stream events for ever, but no single one beyond the bound', async () => {
    const bodyOf = (chunks: string[]): Response =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
            controller.close();
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      );
    const fetchOf = (chunks: string[]) =>
      createGuardedFetch({
        serverName: 'up',
        url: 'https://a.example/',
        maxBodyBytes: 100,
        fetch: async () => bodyOf(chunks),
      });
    const small = await fetchOf(Array.from({ length: 50 }, () => 'data: 1234567890\n\n'))('https://a.example/');
    expect((await small.text()).length).toBe(900);
    const large = await fetchOf(Array.from({ length: 50 }, () => 'data: 1234567890\n'))('https://a.example/');
    await expect(large.text()).rejects.toMatchObject({ code: 'UPSTREAM_MESSAGE_TOO_LARGE' });
  });
});

describe('a server that redirects us', () => {
  const addresses: Record<string, string[]> = {
    'inside.example': ['10.1.2.3'],
    'metadata.example': ['169.254.169.254'],
    'mapped.example': ['::ffff:10.0.0.1'],
    'both.example': ['93.184.216.34', 'fd00::1'],
    'nowhere.example': [],
  };

  it.each([
    'http://inside.example/mcp',
    'http://metadata.example/latest',
    'http://mapped.example/',
    'http://both.example/',
    'http://nowhere.example/',
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b:1::a9fe:a9fe]/',
    'http://[2002:a00:1::]/',
    'http://[::10.0.0.1]/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
    'http://0251.0376.0251.0376/',
    'http://10.1/',
    'http://169.254.169.254./',
    '//inside.example/mcp',
  ])('to %s is refused, at every step', async (location) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const { origin, close } = await listen(
        (_request, response) => void response.writeHead(status, { location }).end(),
      );
      const provider = providerOf(
        { up: { url: `${origin}/mcp`, protocol: 'legacy', type: 'http' } },
        { resolve: async (hostname) => addresses[hostname] ?? [hostname === 'localhost' ? '127.0.0.1' : hostname] },
      );
      const error: unknown = await provider.connect('up').catch((reason: unknown) => reason);
      await close();
      // Whether the SDK would follow this kind of redirect or not, nobody went there.
      expect(error).toMatchObject({ message: expect.stringMatching(/private network|has no address|redirect/i) });
    }
  });
});

describe('addressKind', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['127.1.2.3', 'loopback'],
    ['::1', 'loopback'],
    ['[::1]', 'loopback'],
    ['172.15.255.255', 'public'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
    ['224.0.0.1', 'private'],
    ['255.255.255.255', 'private'],
    ['2606:4700:4700::1111', 'public'],
    ['fe80::1%eth0', 'private'],
    ['fc00::1', 'private'],
    ['::', 'private'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['2002:7f00:1::', 'loopback'],
    ['2001:db8::1', 'private'],
    ['3fff:1::', 'private'],
    ['64:ff9b:1::808:808', 'private'],
    ['64:ff9b::808:808', 'public'],
    ['not an address', 'private'],
  ])('%s is %s', (address, kind) => {
    expect(addressKind(address)).toBe(kind);
  });
});
