/** Turns a configuration into what `McpProxyTool` works from. */
import type { IMcpServerSpec } from '../types.js';
import type { UpstreamConfig } from './config.js';

/** One spec per enabled server, in the order of the configuration. */
export function specsOf(servers: ReadonlyMap<string, UpstreamConfig>): IMcpServerSpec[] {
  return [...servers.values()]
    .filter((config) => !config.disabled)
    .map((config) => ({
      serverName: config.serverName,
      resourceIds: [],
      connectTimeoutMs: config.connectTimeoutMs,
      ...(config.allowedTools && { allowedTools: [...config.allowedTools] }),
      ...(config.blockedTools.length > 0 && { blockedTools: [...config.blockedTools] }),
      ...(config.idempotentTools.length > 0 && { idempotentTools: [...config.idempotentTools] }),
    }));
}
