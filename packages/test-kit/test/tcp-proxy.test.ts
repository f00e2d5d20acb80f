import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mentions, startTcpProxy, type TcpProxy } from '../src/tcp-proxy.js';

let server: Server;
let proxy: TcpProxy;
let seen: string[];

beforeEach(async () => {
  seen = [];
  server = createServer((socket) => {
    socket.on('data', (bytes) => {
      seen.push(bytes.toString());
      socket.write(`re:${bytes.toString()}`);
    });
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  proxy = await startTcpProxy({ target: { host: '127.0.0.1', port: address.port } });
});

afterEach(async () => {
  await proxy.stop();
  await new Promise((resolve) => server.close(resolve));
});

test('without a fault every byte passes', async () => {
  expect(await ask(aClient(), 'hello')).toBe('re:hello');
});

test('a cut request never reaches the target and the client sees a reset', async () => {
  const struck = proxy.arm({ at: 'request', effect: 'cut' }, { when: mentions('TAKE') });
  const client = aClient();
  expect(await ask(client, 'peek')).toBe('re:peek');
  client.write('take');
  await Promise.all([struck, closed(client)]);
  expect(seen).toEqual(['peek']);
});

test('a cut reply leaves the target having acted', async () => {
  const struck = proxy.arm({ at: 'reply', effect: 'cut' });
  const client = aClient();
  client.write('take');
  await Promise.all([struck, closed(client)]);
  expect(seen).toEqual(['take']);
  expect(await ask(aClient(), 'again')).toBe('re:again');
  expect(proxy.accepted).toBe(2);
});

test('a torn reply delivers exactly the bytes before the tear', async () => {
  void proxy.arm({ at: 'reply', effect: 'cut', afterReplyBytes: 4 });
  const client = aClient();
  const got: Buffer[] = [];
  client.on('data', (bytes) => got.push(bytes));
  client.write('take');
  await closed(client);
  expect(Buffer.concat(got).toString()).toBe('re:t');
});

test('a held reply arrives when released and not before', async () => {
  const struck = proxy.arm({ at: 'reply', effect: 'hold' });
  const client = aClient();
  const answer = ask(client, 'take');
  await struck;
  // Another connection's round trip proves that the held one had its chance.
  expect(await ask(aClient(), 'other')).toBe('re:other');
  expect(client.bytesRead).toBe(0);
  proxy.release();
  expect(await answer).toBe('re:take');
});

test('a held request reaches the target when released', async () => {
  const struck = proxy.arm({ at: 'request', effect: 'hold' });
  const answer = ask(aClient(), 'take');
  await struck;
  expect(seen).toEqual([]);
  proxy.release();
  expect(await answer).toBe('re:take');
});

test('a silenced connection stays open on the client and carries nothing', async () => {
  const struck = proxy.arm({ at: 'reply', effect: 'silence' });
  const client = aClient();
  client.write('take');
  await struck;
  client.write('more');
  expect(await ask(aClient(), 'other')).toBe('re:other');
  expect(client.bytesRead).toBe(0);
  expect(client.destroyed).toBe(false);
  expect(seen).not.toContain('more');
});

test('a fault strikes as often as asked', async () => {
  void proxy.arm({ at: 'request', effect: 'cut' }, { times: 2 });
  for (let i = 0; i < 2; i += 1) {
    const client = aClient();
    client.write('take');
    await closed(client);
  }
  expect(proxy.struck).toBe(2);
  expect(await ask(aClient(), 'third')).toBe('re:third');
});

test('it counts how often a client waited for an answer before it went on', async () => {
  const client = aClient();
  await ask(client, 'one');
  await ask(client, 'two');
  expect(proxy.roundTrips).toBe(2);
});

test('while it refuses, a new connection is reset; afterwards it is served', async () => {
  proxy.refuse();
  await closed(aClient());
  proxy.accept();
  expect(await ask(aClient(), 'hello')).toBe('re:hello');
});

function aClient(): Socket {
  const client = connect(proxy.port, proxy.host);
  client.on('error', () => client.destroy());
  return client;
}

async function ask(client: Socket, text: string): Promise<string> {
  const answered = once(client, 'data');
  client.write(text);
  const [bytes] = await answered;
  return String(bytes);
}

function closed(client: Socket): Promise<void> {
  // Not `once`, which rejects with the reset that these tests ask for.
  return new Promise((resolve) => (client.closed ? resolve() : client.once('close', () => resolve())));
}
