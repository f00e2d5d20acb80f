/** The keys of a run on Redis: one hash tag, so one slot. */
import type { RunKey } from '../backend.js';

export const waiting = (key: RunKey): string => `${key}:v`;
export const claimed = (key: RunKey): string => `${key}:w`;
/** Its own key, so that Redis ends the lease. */
export const lease = (key: RunKey): string => `${key}:l`;
/** `token:fence` of the last claim. */
export const claimOf = (key: RunKey): string => `${key}:c`;
export const cellOf = (key: RunKey): string => `${key}:d`;
export const outcomeOf = (key: RunKey): string => `${key}:o`;
export const copyOf = (key: RunKey, token: string): string => `${key}:t:${token}`;

/** In the order that the script REMOVE expects; taken copies are their takers' and end by themselves. */
export function allKeys(key: RunKey): string[] {
  return [waiting(key), claimed(key), lease(key), claimOf(key), cellOf(key), outcomeOf(key)];
}
