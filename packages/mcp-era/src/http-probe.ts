/** The HTTP probe: one POST of `server/discover`, with bounds on time, size and redirects. */

import { answerFromMessage } from './answer.js';
import { discoverRequest, type EraAsker } from './discover-request.js';
import { answerFromHttp, jsonTexts } from './http-answer.js';
import { type SetTimer, setTimer as setRealTimer } from './timer.js';
import type { MaybePromise, McpEraProbe, McpEraProbeAnswer } from './types.js';

/** What of the global `fetch` is used. */
export type EraFetch = (url: string | URL, init: RequestInit) => Promise<Response>;

export interface HttpProbeOptions extends EraAsker {
  /** The MCP endpoint. */
  readonly url: string | URL;
  /** Added to the request, or asked for before each one. The protocol's own headers win over them. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | (() => MaybePromise<Readonly<Record<string, string>>>)
    | undefined;
  /** Default: the global one. */
  readonly fetch?: EraFetch | undefined;
  /**
   * Silence after which the answer is `timeout`. Default 10 000: long enough for a cold serverless start, short enough
   * for a person who waits.
   */
  readonly timeoutMs?: number | undefined;
  /** Bytes of the body that are read. A `DiscoverResult` has a few hundred. Default 1 048 576 (1 MiB). */
  readonly maxBodyBytes?: number | undefined;
  /**
   * `'same-origin'` (default) follows up to three 307 and 308 within the origin. `'none'` follows none. Another origin
   * is never followed: it is another server, and must not be sent these headers.
   */
  readonly redirect?: 'same-origin' | 'none' | undefined;
  readonly setTimer?: SetTimer | undefined;
}

const PROBE_ID = 'interlock-era-probe';
const MAX_REDIRECTS = 3;

/**
 * ```ts
 * const probe = createHttpProbe({ url: 'https://api.example.com/mcp', headers: { authorization: `Bearer ${token}` } });
 * const answer = await probe('2026-07-28');
 * ```
 *
 * @throws {TypeError} when `url` is no http(s) URL or carries credentials, or a header is not sendable
 */
export function createHttpProbe(options: HttpProbeOptions): McpEraProbe {
  const post = createHttpPost(options);
  return async (version, { signal } = {}) => {
    const headers = { 'mcp-protocol-version': version, 'mcp-method': 'server/discover' };
    return (await post(discoverRequest(version, PROBE_ID, options), headers, signal)).answer;
  };
}

/** What came of one POST. `headers` are those of the response, where there was one. */
export interface PostOutcome {
  readonly answer: McpEraProbeAnswer;
  readonly headers: Readonly<Record<string, string>>;
}

/** @internal Posts JSON-RPC requests to one endpoint, with bounds on time, size and redirects. */
export function createHttpPost(
  options: HttpProbeOptions,
): (
  request: { readonly id: string },
  protocolHeaders: Readonly<Record<string, string>>,
  signal?: AbortSignal,
) => Promise<PostOutcome> {
  const { headers = {}, timeoutMs = 10_000, setTimer = setRealTimer } = options;
  const url = endpoint(options.url);
  if (typeof headers !== 'function') postHeaders(headers, {});

  return async (request, protocolHeaders, signal) => {
    const controller = new AbortController();
    const leave = (): void => controller.abort(signal?.reason);
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave);
    let late = false;
    const cancelTimer = setTimer(() => {
      late = true;
      controller.abort(new Error('no answer in time'));
    }, timeoutMs);
    try {
      const ask = async (): Promise<PostOutcome> => {
        const given = typeof headers === 'function' ? await headers() : headers;
        controller.signal.throwIfAborted();
        const init: RequestInit = {
          method: 'POST',
          headers: postHeaders(given, protocolHeaders),
          body: JSON.stringify(request),
          redirect: 'manual',
          signal: controller.signal,
        };
        return exchange(url, init, request.id, options);
      };
      // Neither headers that never come nor a fetch that ignores its signal may outlast the timeout.
      const outcome = ask();
      outcome.catch(() => {});
      return await Promise.race([outcome, rejection(controller.signal)]);
    } catch (error) {
      return { answer: late ? { kind: 'timeout' } : { kind: 'error', error: named(error) }, headers: {} };
    } finally {
      cancelTimer();
      signal?.removeEventListener('abort', leave);
      controller.abort();
    }
  };
}

async function exchange(url: URL, init: RequestInit, id: string, options: HttpProbeOptions): Promise<PostOutcome> {
  const { fetch: doFetch = globalThis.fetch, maxBodyBytes = 1_048_576, redirect = 'same-origin' } = options;
  let response = await doFetch(url, init);
  for (let hops = 0; hops < MAX_REDIRECTS && redirect === 'same-origin'; hops++) {
    const location = response.headers.get('location') ?? '';
    if (![307, 308].includes(response.status) || !URL.canParse(location, url.href)) break;
    const target = new URL(location, url);
    if (target.origin !== url.origin) break;
    await response.body?.cancel();
    response = await doFetch(target, init);
  }
  // What a browser shows of a redirect is an opaque response with status 0.
  const status = response.type === 'opaqueredirect' ? 302 : response.status;
  const headers = Object.fromEntries(response.headers);
  const body = await readBody(response, maxBodyBytes, id);
  return { answer: answerFromHttp({ status, headers, body }, id), headers };
}

/** The body up to the cap; of an event stream, up to the event that answers. */
async function readBody(response: Response, maxBytes: number, id: string): Promise<string> {
  if (!response.body) return '';
  const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  let read = 0;
  try {
    while (bytes < maxBytes) {
      const { value, done } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.byteLength;
      text += decoder.decode(value, { stream: true });
      if (!isStream) continue;
      const end = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
      if (end <= read) continue;
      const answered = jsonTexts(text.slice(read, end)).some((json) => answerFromMessage(JSON.parse(json), id));
      if (answered) return text.slice(read, end);
      read = end;
    }
    return text;
  } finally {
    // The rest is not wanted; that it could not be cancelled changes nothing.
    reader.cancel().catch(() => {});
  }
}

function postHeaders(
  given: Readonly<Record<string, string>>,
  protocolHeaders: Readonly<Record<string, string>>,
): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.set(name, value);
    } catch {
      // The platform's own message quotes the value, which may be a credential.
      throw new TypeError(`headers: ${JSON.stringify(name)} is no valid header, or its value cannot be sent in one`);
    }
  }
  // Sessions belong to the legacy era.
  headers.delete('mcp-session-id');
  headers.set('content-type', 'application/json');
  headers.set('accept', 'application/json, text/event-stream');
  for (const [name, value] of Object.entries(protocolHeaders)) headers.set(name, value);
  return headers;
}

function endpoint(input: string | URL): URL {
  const url = URL.canParse(String(input)) ? new URL(input) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new TypeError('url is no http(s) URL');
  if (url.username || url.password) throw new TypeError('url must not carry credentials: send them in `headers`');
  return url;
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** "fetch failed" alone helps nobody: the cause's code says what failed. */
function named(error: unknown): unknown {
  const code = error instanceof Error && (error.cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? new Error(`${(error as Error).message}: ${code}`, { cause: error }) : error;
}
