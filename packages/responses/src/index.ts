export type { BinaryInput } from './base64.js';
export { isToolResponse, TOOL_RESPONSE_BRAND } from './brand.js';
export { COMPACT_META_KEY, type CompactOptions, compact, readCompact, WHOLE_UP_TO } from './compact.js';
export {
  audio,
  type BlockOptions,
  type EmbeddedResourceOptions,
  embeddedResource,
  image,
  type ResourceLinkOptions,
  resourceLink,
  text,
} from './content.js';
export type { Omission } from './cut-text.js';
export { error, required, toolError } from './error.js';
export {
  ERROR_META_KEY,
  type ErrorCode,
  type ErrorSeverity,
  type ParsedToolError,
  type ToolErrorOptions,
} from './error-types.js';
export { type CountTokens, estimateTokens } from './estimate-tokens.js';
export { FIT_META_KEY, type FitOptions, fit } from './fit.js';
export type { CompactFormat } from './formats.js';
export { type FromErrorOptions, fromError, ToolFailure } from './from-error.js';
export {
  type FromZodErrorOptions,
  fromZodError,
  type ValidationErrorLike,
  type ValidationIssueLike,
} from './from-zod-error.js';
export { type FallbackReason, type GuardStringifyOptions, guardStringify } from './guard-stringify.js';
export { type GuardedFailure, type GuardToolOptions, guardTool } from './guard-tool.js';
export { hostLimits, type Limits } from './limits.js';
export { type MixPart, mix } from './mix.js';
export { nearest } from './nearest.js';
export { type Page, type PaginateOptions, paginate } from './paginate.js';
export { parseToolError } from './parse-tool-error.js';
export { ResponseError, type ResponseErrorCode } from './response-error.js';
export type {
  JsonSchemaLike,
  SchemaIssue,
  SchemaLike,
  StandardIssue,
  StandardResult,
  StandardSchemaLike,
} from './schema.js';
export type { StringifyFn } from './stringify.js';
export { type StructuredOptions, type StructuredResult, structured, structuredAsync } from './structured.js';
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
export { unknownAction } from './unknown-action.js';
export { escapeXml, escapeXmlAttr } from './xml.js';
