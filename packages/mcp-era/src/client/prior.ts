/** From a verdict to what an official client is told before it connects. Pure. */
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
  const discover = readDiscover(resolution.discover ?? { supportedVersions: [era.version], capabilities });
  return { kind: 'modern', discover: { resultType: 'complete', ...discover } as MCPDiscoverResult };
}
