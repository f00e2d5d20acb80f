/** Whether a list is shown whole or as the state has it. */
import type { RequestFacts } from './request-facts.js';

/**
 * - `auto` (default): `hide` for legacy sessions and stdio, `static` in the modern era.
 * - `hide`: what is closed leaves the list. In the modern era a list may vary by the authorization presented and by nothing
 *   else (2026-07-28, "Lists"), so there it hides for authorised principals only, with `ttlMs: 0` and `cacheScope: 'private'`.
 * - `static`: the list never changes; good for prompt caches and for clients that list once.
 *
 * Whatever the mode, a call out of turn is refused.
 */
export type ListingMode = 'auto' | 'hide' | 'static';

/** How one list request is answered. */
export type Listing =
  /** Every item. */
  | 'whole'
  /** The open items; the client hears of changes over its session. */
  | 'open'
  /** The open items, not to be cached nor shared. */
  | 'open-private';

/** Pure; a list that belongs to no session is shown whole, whatever this says. */
export function listingFor(mode: ListingMode, request: RequestFacts): Listing {
  if (mode === 'static') return 'whole';
  if (request.era === 'modern') return mode === 'hide' && request.principal !== undefined ? 'open-private' : 'whole';
  return mode === 'hide' || isSession(request) ? 'open' : 'whole';
}

/** Whether the request came over something that lasts, so that a notification can reach the client. */
export function isSession(request: RequestFacts): boolean {
  return request.sessionId !== undefined || !request.overHttp;
}
