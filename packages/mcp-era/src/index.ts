export { createMcpEraCache, defaultMcpEraCache, type MemoryEraCacheOptions } from './cache.js';
export {
  classifyEraAnswer,
  classifyModernHttpFailure,
  type EraQuestion,
  isRecognizedModernError,
} from './classify.js';
export { EraUndeterminedError, MCPHttpStatusError, MCPProtocolError } from './errors.js';
export { mcpEraCacheKey } from './key.js';
export { serverInfoFromDiscover } from './message.js';
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
export { LEGACY_VERSIONS, type McpLegacyVersion, type McpModernVersion, MODERN_VERSIONS } from './versions.js';
