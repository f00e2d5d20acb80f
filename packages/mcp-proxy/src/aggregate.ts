/** Groups what was declared (whole servers, single tools) by server name: one spec, and so one connection, per name. */
import type { IMcpResource, IMcpServerSpec, IMcpToolResource } from './types.js';

/**
 * One spec per server name, in the order of first mention. A server that is declared as a whole has all its tools
 * (`allowedTools` undefined), whatever single tools are declared beside it; otherwise it has exactly those declared.
 *
 * @example
 * aggregateMcpServers([{ resourceId: 'r1', serverName: 'fs' }], [{ resourceId: 'r2', serverName: 'git', toolName: 'log' }]);
 * // [{ serverName: 'fs', resourceIds: ['r1'] }, { serverName: 'git', resourceIds: ['r2'], allowedTools: ['log'] }]
 */
export function aggregateMcpServers(
  servers: readonly IMcpResource[],
  tools: readonly IMcpToolResource[] = [],
): IMcpServerSpec[] {
  const whole = servers.map(({ serverName, resourceId }) => ({ serverName, resourceIds: [resourceId] }));
  const single = tools.map(({ serverName, resourceId, toolName }) => ({
    serverName,
    resourceIds: [resourceId],
    allowedTools: [toolName],
  }));
  return mergeSpecs([...whole, ...single]);
}

/** Merges specs of one server name: resource ids and tools are united, and no allow-list at all wins over every list. */
export function mergeSpecs(specs: readonly IMcpServerSpec[]): IMcpServerSpec[] {
  const merged = new Map<string, IMcpServerSpec>();
  for (const spec of specs) {
    const earlier = merged.get(spec.serverName);
    merged.set(spec.serverName, earlier ? mergeTwo(earlier, spec) : { ...spec, resourceIds: unique(spec.resourceIds) });
  }
  return [...merged.values()];
}

function mergeTwo(a: IMcpServerSpec, b: IMcpServerSpec): IMcpServerSpec {
  const { allowedTools: _a, blockedTools: _b, idempotentTools: _i, ...rest } = { ...a, ...b };
  const blocked = unique([...(a.blockedTools ?? []), ...(b.blockedTools ?? [])]);
  const idempotent = unique([...(a.idempotentTools ?? []), ...(b.idempotentTools ?? [])]);
  return {
    ...rest,
    resourceIds: unique([...a.resourceIds, ...b.resourceIds]),
    ...(a.allowedTools && b.allowedTools && { allowedTools: unique([...a.allowedTools, ...b.allowedTools]) }),
    ...(blocked.length > 0 && { blockedTools: blocked }),
    ...(idempotent.length > 0 && { idempotentTools: idempotent }),
    // The stricter one wins.
    ...((a.trustHints === 'never' || b.trustHints === 'never') && { trustHints: 'never' as const }),
  };
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
