/** Calling a hook that only listens. */

/**
 * Tells `listener` about `event`. What it throws, or rejects with, is ignored: a log that fails must not cost the answer
 * (or, as an unhandled rejection, the process), and there is no other log to tell.
 */
export function tell<T>(listener: ((event: T) => unknown) | undefined, event: T): void {
  try {
    const told = listener?.(event);
    if (told instanceof Promise) told.catch(() => undefined);
  } catch {
    // See above.
  }
}
