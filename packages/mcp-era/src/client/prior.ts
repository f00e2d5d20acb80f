/** From a verdict to what an official client is told before it connects. Pure. */
import { isObject } from '../is-object.js';
import { readDiscover } from '../message.js';
import type { McpEraResolution } from '../resolve.js';
import type { MCPDiscoverResult } from '../types.js';

/** The `prior` of `connect` of 2.x. */
export type EraPrior = { readonly kind: 'modern'; readonly discover: MCPDiscoverResult } | { readonly kind: 'legacy' };

/**
 * The prior verdict that saves an official client its own probe.
 *
 * A modern server of which no `DiscoverResult` is known (it refused the question, or its era is pinned) is taken to have
 * every capability: what it lacks it refuses, whereas what is not declared would never be asked.
 */
export function priorOf(resolution: McpEraResolution): EraPrior {
  const { era } = resolution;
  if (era.kind === 'legacy') return { kind: 'legacy' };
  const capabilities = { tools: {}, resources: {}, prompts: {}, completions: {} };
  const said = readDiscover(resolution.discover);
  // A stored record may be of two minds; its verdict is what counts.
  const isBelieved = said?.supportedVersions.includes(era.version);
  return {
    kind: 'modern',
    discover: tidy(said && isBelieved ? said : { supportedVersions: [era.version], capabilities }),
  };
}

/** Every field of the type it should have: a client refuses a prior that has one of another. */
function tidy(said: MCPDiscoverResult): MCPDiscoverResult {
  const { instructions, _meta, ...rest } = said;
  return {
    ...rest,
    ...{ resultType: 'complete' },
    capabilities: tidyCapabilities(said.capabilities),
    ttlMs: Number.isSafeInteger(said.ttlMs) ? Math.max(said.ttlMs as number, 0) : 0,
    cacheScope: said.cacheScope === 'public' ? 'public' : 'private',
    ...(typeof instructions === 'string' && { instructions }),
    ...(isObject(_meta) && { _meta }),
  };
}

/** What is declared in another form than an object is declared all the same, unless it is denied. */
function tidyCapabilities(said: unknown): Record<string, unknown> {
  const entries = isObject(said) ? Object.entries(said) : [];
  return Object.fromEntries(
    entries.filter(([, value]) => value).map(([name, value]) => [name, isObject(value) ? tidyFlags(value) : {}]),
  );
}

const FLAGS: readonly string[] = ['listChanged', 'subscribe'];

const tidyFlags = (said: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(said).filter(([name, value]) =>
      FLAGS.includes(name) ? typeof value === 'boolean' : typeof value === 'boolean' || isObject(value),
    ),
  );
