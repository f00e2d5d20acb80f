export { isToolResponse, TOOL_RESPONSE_BRAND } from './brand.js';
export { error, required, toolError } from './error.js';
export {
  ERROR_META_KEY,
  type ErrorCode,
  type ErrorSeverity,
  type ParsedToolError,
  type ToolErrorOptions,
} from './error-types.js';
export { parseToolError } from './parse-tool-error.js';
export { ResponseError, type ResponseErrorCode } from './response-error.js';
export type { StringifyFn } from './stringify.js';
export { success } from './success.js';
export { toonSuccess } from './toon.js';
export type {
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
export { escapeXml, escapeXmlAttr } from './xml.js';
