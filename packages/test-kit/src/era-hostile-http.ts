/** HTTP peers that answer as no server should, for whoever must survive them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export type HostileHttpMode =
  | 'silent' // takes the request and never answers
  | 'silent-body' // sends the head and never a body
  | 'slow-drip' // one byte, then one byte more each time `drip()` is called
  | 'endless-body' // JSON that never ends
  | 'endless-events' // events that never answer
  | 'zip-bomb' // a small body that unpacks to 64 MiB
  | 'wrong-id'
  | 'two-answers'
  | 'cut-off' // closes the connection in the middle of the body
  | 'reset' // closes the connection without an answer
  | 'redirect-loop'
  | 'redirect-away' // to `elsewhere`
  | 'web-page'
  | 'empty-success'
  | 'bad-json'
  | 'deep-json'; // an answer nested a hundred thousand deep

export interface HostileHttp {
  readonly url: string;
  /** Every request so far: its path, headers and body. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
  /** Resolves when the next request has come in whole. */
  nextRequest(): Promise<void>;
  drip(): void;
  /** Bytes of body handed to the network so far. */
  readonly sent: number;
  close(): Promise<void>;
}

export interface HostileHttpOptions {
  readonly elsewhere?: string;
}

export async function startHostileHttp(mode: HostileHttpMode, options: HostileHttpOptions = {}): Promise<HostileHttp> {
  const requests: HostileHttp['requests'] = [];
  const waiting: (() => void)[] = [];
  const drips: (() => void)[] = [];
  let sent = 0;

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    answer(request, response, body);
    for (const resolve of waiting.splice(0)) resolve();
  });

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const id: unknown = body ? JSON.parse(body).id : null;
    const good = (other: unknown = id): string =>
      JSON.stringify({ jsonrpc: '2.0', id: other, result: { supportedVersions: ['2026-07-28'], capabilities: {} } });
    const json = (text: string): void => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    };
    const pour = (type: string, chunk: string): void => {
      response.writeHead(200, { 'content-type': type });
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    switch (mode) {
      case 'silent':
        return;
      case 'silent-body':
        response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
        return;
      case 'slow-drip': {
        response.writeHead(200, { 'content-type': 'application/json' });
        const text = good();
        let at = 0;
        const one = (): void => void response.write(text.charAt(at++ % (text.length - 1)));
        drips.push(one);
        one();
        return;
      }
      case 'endless-body':
        pour('application/json', ' '.repeat(65_536));
        return;
      case 'endless-events':
        pour('text/event-stream', `data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n`.repeat(500));
        return;
      case 'zip-bomb':
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')));
        return;
      case 'wrong-id':
        json(good('somebody-else'));
        return;
      case 'two-answers':
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(
          `data: ${good()}\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } })}\n\n`,
        );
        return;
      case 'cut-off':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"jsonrpc":"2.0",', () => response.destroy());
        return;
      case 'reset':
        request.socket.destroy();
        return;
      case 'redirect-loop':
        response.writeHead(307, { location: '/again' }).end();
        return;
      case 'redirect-away':
        response.writeHead(307, { location: options.elsewhere ?? 'http://127.0.0.1:9/' }).end();
        return;
      case 'web-page':
        response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Hello</title>');
        return;
      case 'empty-success':
        response.writeHead(200).end();
        return;
      case 'bad-json':
        json('{"jsonrpc":"2.0","id":');
        return;
      case 'deep-json':
        json('['.repeat(100_000) + ']'.repeat(100_000));
        return;
      default:
        throw new Error(`no such mode: ${mode satisfies never}`);
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    drip: () => {
      for (const one of drips) one();
    },
    get sent() {
      return sent;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
