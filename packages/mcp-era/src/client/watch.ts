/** A transport that is watched: what it is refused with, and the answer that comes late. */
import { answerFromMessage } from '../answer.js';
import { isObject } from '../is-object.js';
import type { TransportLike } from '../transport.js';
import { PROBE_ID_PREFIX } from '../transport.js';
import type { McpEraProbeAnswer } from '../types.js';

export interface TransportWatcher {
  /** A request succeeded. */
  onResult(): void;
  /** A request was refused, by a JSON-RPC error or by the transport. */
  onRefusal(error: unknown): void;
  /** `server/discover` was answered after its time was up. */
  onLateAnswer(answer: McpEraProbeAnswer): void;
  onClose(): void;
}

/**
 * Watches a transport before a client is connected to it. Clients of both generations call the handlers they find on a
 * transport besides their own. `start` may then be called twice: once to ask, once by the client.
 */
export function watchTransport(transport: TransportLike, watcher: TransportWatcher): TransportLike {
  const { start, send, onmessage, onclose } = transport;
  let started: Promise<void> | undefined;
  transport.start = () => {
    started ??= start.call(transport);
    return started;
  };
  transport.send = async (message, options) => {
    try {
      await send.call(transport, message, options);
    } catch (error) {
      watcher.onRefusal(error);
      throw error;
    }
  };
  transport.onmessage = (message, extra) => {
    const answer = answerFromMessage(message);
    const id = isObject(message) ? message.id : undefined;
    if (answer && typeof id === 'string' && id.startsWith(PROBE_ID_PREFIX)) watcher.onLateAnswer(answer);
    else if (answer?.kind === 'result') watcher.onResult();
    else if (answer?.kind === 'error') watcher.onRefusal(answer.error);
    onmessage?.(message, extra);
  };
  transport.onclose = () => {
    watcher.onClose();
    onclose?.();
  };
  return transport;
}
