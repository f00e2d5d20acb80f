/** The cursor of the drivers whose runs have a number: the last one of the page, in decimal. */
import { RunStoreError } from '../errors.js';

/** 0 without a cursor. Throws `INVALID_OPTION` on one that no page came with. */
export function sequenceAfter(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw foreignCursor();
}

export function foreignCursor(): RunStoreError {
  return new RunStoreError('INVALID_OPTION', 'The option `cursor` must be the `cursor` of an earlier page, unchanged.');
}
