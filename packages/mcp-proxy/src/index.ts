export { aggregateMcpServers } from './aggregate.js';
export type * from './answers.js';
export type { RunOptions } from './call-tool.js';
export { MCP_PROXY_TOOL_NAME, proxyDescription, proxyParameters } from './definition.js';
export type { McpConnectionErrorCode, McpProxyErrorCode } from './errors.js';
export { connectionErrorCode, McpConnectionError, McpProxyError } from './errors.js';
export type * from './events.js';
export type * from './options.js';
export { type IMcpProxyToolDescriptor, McpProxyTool } from './proxy-tool.js';
export type { Hints } from './render/hints.js';
export { type RenderOptions, renderAnswer } from './render/render-answer.js';
export { parseProxyArgs } from './request.js';
export { serializeToolResult } from './result/serialize.js';
export { formatSchema, requiredParameters } from './schema/format.js';
export { DEFAULT_WEIGHTS, type RankingWeights, type ToolSearchOptions } from './search/options.js';
export { searchByOr } from './search/or-search.js';
export type { RankTools } from './search/rank.js';
export {
  createToolIndex,
  type IndexSearchOptions,
  type IndexSearchResult,
  type ToolIndex,
} from './search/tool-index.js';
export { type AdmitLimits, type Admitted, admitTools } from './security/admit.js';
export { hashDefinition } from './security/canonical.js';
export { definitionDiff } from './security/diff.js';
export * from './security/pins.js';
export { cleanLine, cleanText, clip } from './text/clean.js';
export { estimateTokens } from './text/tokens.js';
export type * from './types.js';
