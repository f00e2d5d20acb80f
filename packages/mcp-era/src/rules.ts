/** The whole table of the classifier: every rule by its name, what it decides, and where that is written. */
import type { UndeterminedReason } from './verdict.js';

const NEGOTIATION = 'basic/versioning#protocol-version-negotiation';
const ERAS = 'basic/versioning#backward-compatibility-with-initialization-based-versions';
const HTTP = 'basic/transports/streamable-http#';
const HTTP_ERAS = `${HTTP}backward-compatibility`;
/** Where the specification is silent: `docs/decisions/0301-*` of this repository. */
const OURS = 'decisions/0301';

/** What a rule decides: an era, a second question, or the reason why neither can be told. */
export type EraRuling = 'modern' | 'legacy' | 'retry' | 'as configured' | UndeterminedReason['kind'];

/** A rule's name is its reason, in words for a reader. */
export type EraRuleName =
  | 'lists a modern version we speak'
  | 'only legacy versions in common'
  | 'no version in common'
  | 'lists no versions'
  | 'a modern error'
  | '404 with -32601: modern, without the method'
  | 'offers a modern version we speak'
  | 'not a modern error'
  | 'no modern error in a 400, 404 or 405'
  | 'silence on stdio'
  | 'exit on the question'
  | 'silence over HTTP'
  | 'asks for sign-in'
  | 'cannot answer now'
  | 'cannot be reached or read'
  | 'redirects elsewhere'
  | 'no JSON-RPC'
  | 'HTTP+SSE is legacy'
  | 'pinned'
  | 'cached';

/** Ruling and section of the specification of 2026-07-28, by the rule's name. */
export const ERA_RULES: Readonly<Record<EraRuleName, readonly [ruling: EraRuling, section: string]>> = {
  'lists a modern version we speak': ['modern', 'server/discover'],
  'only legacy versions in common': ['legacy', NEGOTIATION],
  'no version in common': ['versions-disjoint', NEGOTIATION],
  'lists no versions': ['legacy', ERAS],
  'a modern error': ['modern', ERAS],
  '404 with -32601: modern, without the method': ['modern', `${HTTP}protocol-version-header`],
  'offers a modern version we speak': ['retry', NEGOTIATION],
  'not a modern error': ['legacy', ERAS],
  'no modern error in a 400, 404 or 405': ['legacy', HTTP_ERAS],
  'silence on stdio': ['legacy', 'basic/transports/stdio#backward-compatibility'],
  'exit on the question': ['legacy', OURS],
  'silence over HTTP': ['unavailable', OURS],
  'asks for sign-in': ['sign-in-needed', 'basic/authorization'],
  'cannot answer now': ['unavailable', OURS],
  'cannot be reached or read': ['unavailable', OURS],
  'redirects elsewhere': ['redirected', OURS],
  'no JSON-RPC': ['not-mcp', OURS],
  'HTTP+SSE is legacy': ['legacy', HTTP_ERAS],
  pinned: ['as configured', OURS],
  cached: ['as configured', ERAS],
};
