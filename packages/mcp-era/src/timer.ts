/** The one timer that the shells of this package need; tests bring their own. */

/** Calls `callback` after `ms` milliseconds, unless the returned function is called first. */
export type SetTimer = (callback: () => void, ms: number) => () => void;

export const setTimer: SetTimer = (callback, ms) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};
