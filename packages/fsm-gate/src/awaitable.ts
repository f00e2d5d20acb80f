/** Tells an answer that is there from one that comes later, of whatever promise library. */

/** A store that needs not wait may answer at once. */
export type Awaitable<T> = T | Promise<T>;

/** Whether the answer comes later. */
export function isPending<T>(answer: Awaitable<T>): answer is Promise<T> {
  return typeof (answer as { then?: unknown } | null | undefined)?.then === 'function';
}
