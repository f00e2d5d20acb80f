export type * from './answers.js';
export type { McpConnectionErrorCode, McpProxyErrorCode } from './errors.js';
export { connectionErrorCode, McpConnectionError, McpProxyError } from './errors.js';
export type * from './events.js';
export type * from './options.js';
export type { ToolSearchOptions } from './search/options.js';
export type { RankTools } from './search/rank.js';
export type * from './security/pins.js';
export type * from './types.js';
