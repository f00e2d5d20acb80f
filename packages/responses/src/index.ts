export { isToolResponse, TOOL_RESPONSE_BRAND } from './brand.js';
export { COMPACT_META_KEY, type CompactOptions, compact, readCompact, WHOLE_UP_TO } from './compact/compact.js';
export { type CountTokens, estimateTokens } from './compact/estimate-tokens.js';
export type { CompactFormat } from './compact/formats.js';
export type { BinaryInput } from './content/base64.js';
export {
  audio,
  type BlockOptions,
  type EmbeddedResourceOptions,
  embeddedResource,
  image,
  type ResourceLinkOptions,
  resourceLink,
  text,
} from './content/content.js';
export { type MixPart, mix } from './content/mix.js';
export { error, required, toolError } from './errors/error.js';
export {
  ERROR_META_KEY,
  type ErrorCode,
  type ErrorSeverity,
  type ParsedToolError,
  type ToolErrorOptions,
} from './errors/error-types.js';
export { type FromErrorOptions, fromError, ToolFailure } from './errors/from-error.js';
export {
  type FromZodErrorOptions,
  fromZodError,
  type ValidationErrorLike,
  type ValidationIssueLike,
} from './errors/from-zod-error.js';
export { type GuardedFailure, type GuardToolOptions, guardTool } from './errors/guard-tool.js';
export { nearest } from './errors/nearest.js';
export { parseToolError } from './errors/parse-tool-error.js';
export { unknownAction } from './errors/unknown-action.js';
export { escapeXml, escapeXmlAttr } from './errors/xml.js';
export type { Omission } from './fit/cut-text.js';
export { FIT_META_KEY, type FitOptions, fit } from './fit/fit.js';
export { hostLimits, type Limits } from './fit/limits.js';
export { type Page, type PaginateOptions, paginate } from './fit/paginate.js';
export { type FallbackReason, type GuardStringifyOptions, guardStringify } from './json/guard-stringify.js';
export type { StringifyFn } from './json/stringify.js';
export { ResponseError, type ResponseErrorCode } from './response-error.js';
export type {
  JsonSchemaLike,
  SchemaIssue,
  SchemaLike,
  StandardIssue,
  StandardResult,
  StandardSchemaLike,
} from './structured/schema.js';
export { type StructuredOptions, type StructuredResult, structured, structuredAsync } from './structured/structured.js';
export { success } from './success.js';
export { toonSuccess } from './toon.js';
export type {
  AnyContentBlock,
  AnyToolResult,
  AudioBlock,
  ContentAnnotations,
  ContentBlock,
  ContentResult,
  EmbeddedResourceBlock,
  ImageBlock,
  Meta,
  ResourceLinkBlock,
  TextBlock,
  ToolResponse,
  ToolResult,
} from './types.js';
