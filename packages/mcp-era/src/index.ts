export { createMcpEraCache, defaultMcpEraCache, type MemoryEraCacheOptions } from './cache.js';
export {
  classifyEraAnswer,
  classifyModernHttpFailure,
  type EraQuestion,
  isRecognizedModernError,
} from './classify.js';
export { EraUndeterminedError, MCPHttpStatusError, MCPProtocolError, ServerExitedError } from './errors.js';
export { type EraKeyOptions, mcpEraCacheKey } from './key.js';
export { answerFromMessage, serverInfoFromDiscover } from './message.js';
export { type McpEraResolution, type McpEraResolutionInput, resolveMcpEra } from './resolve.js';
export {
  createEraResolver,
  type EraEvent,
  type EraRequest,
  type EraResolution,
  type EraResolver,
  type EraResolverOptions,
} from './resolver.js';
export { ERA_RULES, type EraRuleName, type EraRuling } from './rules.js';
export type {
  EraRecord,
  EraTransportKind,
  MaybePromise,
  MCPDiscoverResult,
  MCPEraCache,
  MCPTransportUnion,
  McpEra,
  McpEraProbe,
  McpEraProbeAnswer,
} from './types.js';
export type { EraEvidence, EraVerdict, UndeterminedReason } from './verdict.js';
export {
  LEGACY_VERSIONS,
  type McpLegacyVersion,
  type McpModernVersion,
  MODERN_VERSIONS,
  newestCommonVersion,
  versionDate,
} from './versions.js';
