/** A transport as both SDK generations know it, and asking over one that is open already. */

import { answerFromMessage } from './answer.js';
import { discoverRequest, type EraAsker } from './discover-request.js';
import { ServerExitedError } from './exit-error.js';
import { type SetTimer, setTimer as setRealTimer } from './timer.js';
import type { McpEraProbeAnswer } from './types.js';
import type { McpModernVersion } from './versions.js';

/**
 * The least of an SDK transport. Transports of `@modelcontextprotocol/sdk` and `@modelcontextprotocol/client` are ones,
 * and so is whatever a host supervises by itself. Handlers are set by who uses it.
 */
export interface TransportLike {
  start(): Promise<void>;
  send(message: unknown, options?: unknown): Promise<void>;
  close(): Promise<void>;
  onmessage?: Handler<[message: unknown, extra?: unknown]> | undefined;
  onclose?: Handler<[]> | undefined;
  onerror?: Handler<[error: Error]> | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?(version: string): void;
}

/** A function whose parameters compare either way, as a method's do: the SDKs' handlers take narrower messages. */
type Handler<Args extends unknown[]> = { call(...args: Args): void }['call'];

export interface TransportProbeOptions extends EraAsker {
  /**
   * Silence after which the answer is `timeout`. Default 3 000: a server that has started answers within milliseconds, and
   * a legacy one may never. A server that starts slower is not misread for long, for its late answer still counts.
   */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly setTimer?: SetTimer | undefined;
}

/** How the ids of our questions begin: an answer that comes late is known by it. */
export const PROBE_ID_PREFIX = 'interlock-era-probe-';

let asked = 0;

/**
 * Asks `server/discover` over a started transport and leaves it as it was, ready for a client. Messages that answer
 * something else are passed to the handlers that were set before.
 */
export function probeTransport(
  transport: TransportLike,
  version: McpModernVersion,
  options: TransportProbeOptions = {},
): Promise<McpEraProbeAnswer> {
  // A string, which no client's own count of requests can meet on the same pipe.
  return askTransport(transport, discoverRequest(version, `${PROBE_ID_PREFIX}${++asked}`, options), options);
}

/** @internal One request over a started transport, and what came of it. */
export function askTransport(
  transport: TransportLike,
  request: { readonly id: string },
  options: Pick<TransportProbeOptions, 'timeoutMs' | 'signal' | 'setTimer'> = {},
): Promise<McpEraProbeAnswer> {
  const { timeoutMs = 3000, signal, setTimer = setRealTimer } = options;
  const { onmessage, onclose, onerror } = transport;
  return new Promise((resolve) => {
    const settle = (answer: McpEraProbeAnswer): void => {
      cancelTimer();
      signal?.removeEventListener('abort', leave);
      transport.onmessage = onmessage;
      transport.onclose = onclose;
      transport.onerror = onerror;
      resolve(answer);
    };
    const fail = (error: unknown): void => settle({ kind: 'error', error });
    const leave = (): void => fail(signal?.reason);
    const cancelTimer = setTimer(() => settle({ kind: 'timeout' }), timeoutMs);
    signal?.addEventListener('abort', leave);
    transport.onmessage = (message, extra) => {
      const answer = answerFromMessage(message, request.id);
      if (answer) settle(answer);
      else onmessage?.(message, extra);
    };
    transport.onclose = () => {
      fail(new ServerExitedError('The server exited before it answered.'));
      onclose?.();
    };
    transport.onerror = (error) => onerror?.(error);
    if (signal?.aborted) return leave();
    transport.send(request).catch(fail);
  });
}

/** Ends a transport whose process is spent, and says in the answer how that ended and what it wrote last. */
export async function exitOf(transport: TransportLike, answer: McpEraProbeAnswer): Promise<McpEraProbeAnswer> {
  await transport.close();
  if (answer.kind !== 'error' || !(answer.error instanceof ServerExitedError) || !hasExit(transport)) return answer;
  if (transport.failure) return { kind: 'error', error: transport.failure };
  const { code, signal } = await transport.exit;
  const { lastWords } = transport;
  const how = `The server exited (${signal ?? `code ${code}`}) before it answered.${lastWords && ` It said: ${lastWords}`}`;
  return { kind: 'error', error: new ServerExitedError(how, code, signal) };
}

interface Exiting {
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly lastWords: string;
  readonly failure?: Error;
}

const hasExit = (transport: TransportLike): transport is TransportLike & Exiting =>
  'exit' in transport && 'lastWords' in transport;
