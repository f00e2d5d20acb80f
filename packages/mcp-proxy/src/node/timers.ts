/** Timers that tests can hold in their hand. */

/** Starts a timer and returns the way to cancel it. */
export type SetTimer = (callback: () => void, delayMs: number) => () => void;

/** The real one. It does not keep the process alive: nothing here is worth waiting for at the end. */
export const realTimer: SetTimer = (callback, delayMs) => {
  const handle = setTimeout(callback, delayMs);
  handle.unref();
  return () => clearTimeout(handle);
};

/** The real one for work that somebody waits for: the process stays until it is done. */
export const awaitedTimer: SetTimer = (callback, delayMs) => {
  const handle = setTimeout(callback, delayMs);
  return () => clearTimeout(handle);
};
