/** One result out of several. */
import { brand, isToolResponse } from '../brand.js';
import { jsonCopy } from '../json/copy.js';
import { ResponseError, typed } from '../response-error.js';
import type { AnyContentBlock, AnyToolResult, ContentResult } from '../types.js';
import { checkBlock, readMeta } from './check-block.js';

/** A result, a single block, or plain text. */
export type MixPart = AnyToolResult | AnyContentBlock | string;

/**
 * Joins `parts` in their order into one result. It is an error if one of them is, and then carries no
 * `structuredContent`, which clients refuse on errors; otherwise one part at most may have that. `_meta` is merged, the
 * later part wins. Every block is checked, so blocks built by hand are safe too.
 *
 * @throws ResponseError `INVALID_CONTENT` | `NOT_JSON`, naming the part
 * @example
 * ```ts
 * mix('The chart you asked for:', image(png, 'image/png'), structured(figures));
 * ```
 */
export function mix(...parts: readonly MixPart[]): ContentResult {
  return typed(() => join(parts));
}

function join(parts: readonly MixPart[]): ContentResult {
  const results = parts.map(toResult);
  const content = results.flatMap((result, part) =>
    result.content.map((block, index) => checkBlock(block, `part ${part}: content[${index}]`)),
  );
  const isError = results.some((result) => result.isError === true);
  const structured = results.filter((result) => result.structuredContent !== undefined);
  if (structured.length > 1) {
    throw new ResponseError(
      'INVALID_CONTENT',
      'Two parts have structuredContent; a result has room for one. Merge the data first.',
    );
  }
  const result: ContentResult = { content };
  if (structured[0] && !isError) {
    result.structuredContent = readStructured(structured[0]);
  }
  if (isError) result.isError = true;
  const metas = results.flatMap((part) => part._meta ?? []);
  if (metas.length > 0) result._meta = readMeta(Object.assign({}, ...metas), 'the mix');
  return brand(result);
}

/** What is no object only modern clients accept: `structured` was told so, a result built by hand was not. */
function readStructured(part: AnyToolResult): Record<string, unknown> {
  const { structuredContent } = part;
  const isObject =
    typeof structuredContent === 'object' && structuredContent !== null && !Array.isArray(structuredContent);
  if (isObject || isToolResponse(part)) return jsonCopy(structuredContent) as Record<string, unknown>; // As checked just now.
  throw new ResponseError('INVALID_CONTENT', 'structuredContent must be an object. Build it with structured().');
}

function toResult(part: MixPart, index: number): AnyToolResult {
  if (typeof part === 'string') return { content: [{ type: 'text', text: part }] };
  if (typeof part === 'object' && part !== null) {
    if ('type' in part) return { content: [part] };
    if (Array.isArray(part.content)) return part;
  }
  throw new ResponseError('INVALID_CONTENT', `part ${index} is neither a result nor a content block nor text.`);
}
