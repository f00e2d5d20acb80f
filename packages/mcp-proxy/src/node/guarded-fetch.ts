/** The `fetch` of one remote server: trusts the URL that the configuration names, and nothing that the server points to. */
import { lookup } from 'node:dns/promises';
import type { FetchLike } from '@modelcontextprotocol/client';
import { UpstreamError } from './errors.js';
import { pinnedFetch } from './pinned-fetch.js';
import { addressKind } from './private-address.js';

export interface GuardedFetchOptions {
  readonly serverName: string;
  /** The URL as the configuration has it. */
  readonly url: string;
  /** Headers of the server's configuration; they never leave its origin. */
  readonly ownHeaders?: Readonly<Record<string, string>>;
  /** The most bytes that one answer may have; in a stream of events, that one event may have. Default 16 MiB. */
  readonly maxBodyBytes?: number;
  readonly fetch?: FetchLike;
  /** All addresses of a host name. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

const DEFAULT_MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * Requests to the configured origin go out as they are. Any other origin comes from the server (a redirect, an OAuth document)
 * and must not lead into this network: private, loopback and link-local targets are refused, by address and by name. Only where
 * the configured server is itself on this machine may it point to this machine. Redirects are never followed here.
 *
 * @throws {UpstreamError} `UPSTREAM_ADDRESS_REFUSED`
 */
export function createGuardedFetch(options: GuardedFetchOptions): FetchLike {
  const trusted = new URL(options.url);
  const resolve = options.resolve ?? systemResolve;
  return async (input, init = {}) => {
    const url = new URL(input);
    const own = { ...init, redirect: 'manual' as const };
    if (url.origin === trusted.origin) return bounded(await (options.fetch ?? fetch)(url, own), options);
    const address = await publicAddress(url, trusted, options.serverName, resolve);
    const foreign = { ...own, headers: withoutOwn(init.headers, options.ownHeaders ?? {}) };
    if (options.fetch) return bounded(await options.fetch(url, foreign), options);
    // A name may resolve to something else a moment later; the address that was checked does not.
    return pinnedFetch({ url, address, init: foreign, maxBodyBytes: options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES });
  };
}

/** The SDK adds the configured headers to OAuth requests too, which go to somebody else. Its own values of a name stay. */
function withoutOwn(headers: RequestInit['headers'], own: Readonly<Record<string, string>>): Headers {
  const kept = new Headers(headers);
  for (const [name, value] of Object.entries(own)) {
    if (kept.get(name) === value.trim()) kept.delete(name);
  }
  return kept;
}

/** An address of `url` to connect to; throws when it leads into the network of this machine. */
async function publicAddress(
  url: URL,
  trusted: URL,
  serverName: string,
  resolve: (hostname: string) => Promise<readonly string[]>,
): Promise<string> {
  const refuse = (why: string): UpstreamError =>
    new UpstreamError(
      'UPSTREAM_ADDRESS_REFUSED',
      serverName,
      `Server "${serverName}" points to ${url.origin}, which ${why}; the request was not made. ` +
        `If that is where the server lives, write it as its "url".`,
    );
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse('is no web address');
  const addresses = await addressesOf(url.hostname, resolve);
  const kinds = addresses.map(addressKind);
  const [first] = addresses;
  if (first === undefined) throw refuse('has no address');
  if (kinds.every((kind) => kind === 'public')) return first;
  if (kinds.every((kind) => kind === 'loopback')) {
    const own = (await addressesOf(trusted.hostname, resolve)).map(addressKind);
    if (own.length > 0 && own.every((kind) => kind === 'loopback')) return first;
  }
  throw refuse('is an address of a private network');
}

async function addressesOf(
  hostname: string,
  resolve: (hostname: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return /^[\d.]+$|:/.test(bare) ? [bare] : resolve(bare);
}

async function systemResolve(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

/** Cuts a body off beyond its bound; a stream of events may run for ever, but no single event (up to its empty line) may be larger. */
function bounded(response: Response, options: GuardedFetchOptions): Response {
  if (!response.body) return response;
  const limit = options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES;
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  let count = 0;
  let lineIsEmpty = false;
  const meter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (const byte of chunk) {
        count += 1;
        if (!isEvents || byte === 13) continue;
        if (byte === 10 && lineIsEmpty) count = 0;
        lineIsEmpty = byte === 10;
      }
      if (count > limit) {
        const { serverName } = options;
        controller.error(
          new UpstreamError(
            'UPSTREAM_MESSAGE_TOO_LARGE',
            serverName,
            `Server "${serverName}" sent more than ${limit} bytes in one answer.`,
          ),
        );
        return;
      }
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  const copy = new Response(response.body.pipeThrough(meter), { status, statusText, headers });
  // A constructed response has no URL; relative references in OAuth documents are resolved against it.
  Object.defineProperty(copy, 'url', { value: response.url });
  return copy;
}
