/** The whole table of the classifier: every rule by its name, what it decides, and where that is written. */
import type { UndeterminedReason } from './verdict.js';

const NEGOTIATION = 'basic/versioning#protocol-version-negotiation';
const ERAS = 'basic/versioning#compatibility-matrix';
const HTTP_ERAS = 'basic/transports/streamable-http#backward-compatibility';
/** Where the specification is silent: `docs/decisions/0301-*` of this repository. */
const OURS = 'decisions/0301';

/** What a rule decides: an era, a second question, or the reason why neither can be told. */
export type EraRuling = 'modern' | 'legacy' | 'retry' | 'as configured' | UndeterminedReason['kind'];

/** A rule's name is its reason, in words for a reader. */
export type EraRuleName =
  | 'a modern version in common'
  | 'only legacy versions in common'
  | 'no version in common'
  | 'lists no versions'
  | 'a modern error'
  | '404 with -32601'
  | 'offers a modern version'
  | 'not a modern error'
  | '400, 404 or 405 without a modern error'
  | 'silence on stdio'
  | 'an exit'
  | 'silence on HTTP'
  | 'asks for sign-in'
  | 'not now'
  | 'out of reach'
  | 'a redirect'
  | 'no JSON-RPC'
  | 'HTTP+SSE'
  | 'pinned'
  | 'cached';

/** Ruling and section of the specification of 2026-07-28, by the rule's name. */
export const ERA_RULES: Readonly<Record<EraRuleName, readonly [ruling: EraRuling, section: string]>> = {
  'a modern version in common': ['modern', 'server/discover'],
  'only legacy versions in common': ['legacy', NEGOTIATION],
  'no version in common': ['versions-disjoint', NEGOTIATION],
  'lists no versions': ['legacy', ERAS],
  'a modern error': ['modern', ERAS],
  '404 with -32601': ['modern', 'basic/transports/streamable-http#protocol-version-header'],
  'offers a modern version': ['retry', NEGOTIATION],
  'not a modern error': ['legacy', ERAS],
  '400, 404 or 405 without a modern error': ['legacy', HTTP_ERAS],
  'silence on stdio': ['legacy', 'basic/transports/stdio#backward-compatibility'],
  'an exit': ['legacy', OURS],
  'silence on HTTP': ['unavailable', OURS],
  'asks for sign-in': ['sign-in-needed', 'basic/authorization'],
  'not now': ['unavailable', OURS],
  'out of reach': ['unavailable', OURS],
  'a redirect': ['redirected', OURS],
  'no JSON-RPC': ['not-mcp', OURS],
  'HTTP+SSE': ['legacy', HTTP_ERAS],
  pinned: ['as configured', OURS],
  cached: ['as configured', ERAS],
};
