/** Bounds of what we wait for, and signals that tell an upstream nothing of why. */
import { awaitedTimer } from './timers.js';

/** What the upstream is told of a cancellation; the caller's own reason is nobody's business there. */
export const CANCELLED = 'cancelled';

/** Gives the work a signal with the same end and none of the caller's reason. */
export async function withNeutralSignal<T>(
  signal: AbortSignal | undefined,
  work: (neutral: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(CANCELLED);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** What the promise gives, or undefined when that takes too long. */
export async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let cancel: (() => void) | undefined;
  const limit = new Promise<undefined>((resolve) => {
    cancel = awaitedTimer(() => resolve(undefined), ms);
  });
  return Promise.race([promise, limit]).finally(() => cancel?.());
}
