/** Hands the messages of an HTTP transport to the SDK's protocol layer one by one, and no more of them than is bearable. */
import type { Transport } from '@modelcontextprotocol/client';
import { UpstreamError } from './errors.js';
import { FloodGate, type FloodLimit } from './flood-gate.js';
import { StdioUpstreamTransport } from './stdio-transport.js';

export interface PacedOptions {
  readonly serverName: string;
  readonly flood: FloodLimit;
  readonly now?: () => number;
}

const failures = new WeakMap<Transport, UpstreamError>();

/**
 * The SDK handles a notification a moment after it came and a response at once, so that the progress of a call is lost when it
 * arrives together with the result. With a pause after each message, it is not. A server that floods the connection with messages
 * that answer nothing is cut off. (The stdio transport does both by itself.)
 */
export function paced<T extends Transport>(transport: T, options: PacedOptions): T {
  const now = options.now ?? Date.now;
  const gate = new FloodGate(options.flood, now());
  /** Requests without an answer: what answers one of them is no flood. */
  const pending = new Set<unknown>();
  const send = transport.send.bind(transport);
  transport.send = ((message, sendOptions) => {
    for (const each of [message].flat()) if ('id' in each && 'method' in each) pending.add(each.id);
    return send(message, sendOptions);
  }) satisfies Transport['send'];
  let handler: Transport['onmessage'];
  let last: Promise<void> = Promise.resolve();
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    enumerable: true,
    set: (next: Transport['onmessage']) => {
      handler = next;
    },
    get: (): Transport['onmessage'] => {
      const current = handler;
      if (!current) return undefined;
      return (message, extra) => {
        if (failures.has(transport)) return;
        const answers = !('method' in message) && pending.delete(message.id);
        if (!answers && !gate.admit(now())) {
          cutOff(transport, options.serverName);
          return;
        }
        last = last.then(() => {
          try {
            current(message, extra);
          } catch (error) {
            transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
          }
        });
      };
    },
  });
  return transport;
}

/** Why a transport ended, where it was the server's fault. */
export function failureOf(transport: Transport): UpstreamError | undefined {
  return transport instanceof StdioUpstreamTransport ? transport.failure : failures.get(transport);
}

function cutOff(transport: Transport, serverName: string): void {
  const message = `Server "${serverName}" floods the connection with messages that nobody asked for.`;
  const failure = new UpstreamError('UPSTREAM_FLOOD', serverName, message);
  failures.set(transport, failure);
  transport.onerror?.(failure);
  transport.close().catch((error) => transport.onerror?.(error instanceof Error ? error : new Error(String(error))));
}
