/** Waiting that can be given up, and signals that carry no reason to third parties. */

/**
 * The outcome of `promise`, unless `signal` is aborted first: then it rejects at once with the signal's reason, even when the
 * promise never settles. What comes later is given to `late`.
 */
export function abortable<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  late?: (value: T) => void,
): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    let open = true;
    const giveUp = (): void => {
      open = false;
      reject(signal.reason);
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', giveUp);
        if (open) resolve(value);
        else late?.(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', giveUp);
        if (open) reject(error);
      },
    );
  });
}

/**
 * A signal that follows `signal` but says nothing of why: reasons are the caller's own and may hold what an upstream must not
 * see. `stop` ends the following.
 */
export function withoutReason(signal: AbortSignal | undefined): { signal?: AbortSignal; stop: () => void } {
  if (signal === undefined) return { stop: () => {} };
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, stop: () => signal.removeEventListener('abort', abort) };
}
