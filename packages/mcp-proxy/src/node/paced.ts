/** Hands messages to the SDK's protocol layer one by one. */
import type { Transport } from '@modelcontextprotocol/client';

/**
 * The SDK handles a notification a moment after it came and a response at once, so that the progress of a call is lost when it
 * arrives together with the result. With a pause after each message, it is not. (The stdio transport does this by itself.)
 */
export function paced<T extends Transport>(transport: T): T {
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
