/** A `fetch` that connects to one address, whatever the name resolves to by then: what was checked is what is used. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';

export interface PinnedRequest {
  readonly url: URL;
  /** An IP address that `url.hostname` resolved to. */
  readonly address: string;
  readonly init: RequestInit;
  readonly maxBodyBytes: number;
}

/**
 * Sends one small request (a document, a form) and reads the whole answer. Follows no redirect. TLS is checked against the name.
 *
 * @throws what the network throws; an `Error` when the answer is larger than `maxBodyBytes`.
 */
export function pinnedFetch({ url, address, init, maxBodyBytes }: PinnedRequest): Promise<Response> {
  const body = bodyOf(init.body);
  const headers = new Headers(init.headers);
  if (init.body instanceof URLSearchParams && !headers.has('content-type')) {
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
  }
  if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)));
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(headers),
        // A connection of its own: a pooled one may lead elsewhere.
        agent: false,
        lookup: (_hostname, options, callback) => {
          const family = isIP(address);
          if (options.all) callback(null, [{ address, family }]);
          else callback(null, address, family);
        },
        ...(init.signal && { signal: init.signal }),
      },
      (response) => readAll(response, maxBodyBytes).then((bytes) => resolve(toResponse(url, response, bytes)), reject),
    );
    request.once('error', reject);
    request.end(body);
  });
}

function bodyOf(body: RequestInit['body']): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new TypeError('Only text and forms are sent to a server that the configuration does not name.');
}

async function readAll(response: IncomingMessage, maxBodyBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) {
      response.destroy();
      throw new Error(`the answer has more than ${maxBodyBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toResponse(url: URL, { statusCode = 500, statusMessage, headers }: IncomingMessage, bytes: Buffer): Response {
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value ?? []].flat()) copied.append(name, each);
  }
  const empty = statusCode === 204 || statusCode === 304;
  const response = new Response(empty ? null : new Uint8Array(bytes), {
    status: statusCode,
    headers: copied,
    ...(statusMessage && { statusText: statusMessage }),
  });
  Object.defineProperty(response, 'url', { value: url.href });
  return response;
}
