/** Learns that an upstream's tools changed: by notification in the older era, by a listen stream in the newer one. */
import type { McpSubscription } from '@modelcontextprotocol/client';
import type { OpenedClient } from './open-client.js';
import type { SetTimer } from './timers.js';

export interface ToolListWatchOptions {
  readonly onChanged: () => void;
  readonly onError: (error: unknown) => void;
  readonly setTimer: SetTimer;
}

/** A stream that ends is opened anew, more and more slowly; in milliseconds. */
const FIRST_REOPEN_MS = 1_000;
const LONGEST_REOPEN_MS = 5 * 60_000;

/** Watches until the returned function is called. A server that announces no changes is not asked for them. */
export function watchToolList({ client, era }: OpenedClient, options: ToolListWatchOptions): () => void {
  client.setNotificationHandler('notifications/tools/list_changed', () => options.onChanged());
  if (era === 'legacy' || !client.getServerCapabilities()?.tools?.listChanged) return () => undefined;
  let stopped = false;
  let subscription: McpSubscription | undefined;
  let cancelReopen: (() => void) | undefined;
  let delayMs = FIRST_REOPEN_MS;

  const open = async (): Promise<void> => {
    try {
      subscription = await client.listen({ toolsListChanged: true });
      if (stopped) return void subscription.close();
      delayMs = FIRST_REOPEN_MS;
      if ((await subscription.closed) === 'local') return;
    } catch (error) {
      options.onError(error);
    }
    if (stopped) return;
    cancelReopen = options.setTimer(() => {
      // What changed while nobody listened is not known: read the list again.
      options.onChanged();
      void open();
    }, delayMs);
    delayMs = Math.min(delayMs * 2, LONGEST_REOPEN_MS);
  };
  void open();

  return () => {
    stopped = true;
    cancelReopen?.();
    subscription?.close().catch(options.onError);
  };
}
