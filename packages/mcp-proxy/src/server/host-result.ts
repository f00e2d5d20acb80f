/** Makes what came from an upstream fit for the host: what the host's protocol has no word for becomes text, nothing is lost. */
import { type CallToolResult, isSpecType } from '@modelcontextprotocol/server';

/**
 * A result that the host's SDK accepts. Content blocks of an unknown kind become text with their JSON; `structuredContent` that is
 * no object is wrapped for the older era, whose protocol knows only objects there.
 */
export function fitResult(value: unknown, era: 'legacy' | 'modern'): CallToolResult {
  if (typeof value !== 'object' || value === null) return { content: [textBlock(value)] };
  const { content, structuredContent, isError, resultType: _resultType, ...rest } = value as Record<string, unknown>;
  const blocks = Array.isArray(content) ? content.map(fitBlock) : contentOf(content, structuredContent);
  return {
    ...rest,
    content: blocks,
    ...(structuredContent !== undefined && { structuredContent: fitStructured(structuredContent, era) }),
    ...(typeof isError === 'boolean' && { isError }),
  };
}

type ContentBlock = CallToolResult['content'][number];

function fitBlock(block: unknown): ContentBlock {
  return isSpecType.ContentBlock(block) ? block : textBlock(block);
}

function contentOf(content: unknown, structuredContent: unknown): ContentBlock[] {
  if (content !== undefined) return [textBlock(content)];
  // A host that reads only `content` would see nothing at all.
  return structuredContent === undefined ? [] : [textBlock(structuredContent)];
}

function fitStructured(value: unknown, era: 'legacy' | 'modern'): NonNullable<CallToolResult['structuredContent']> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject || era === 'modern' ? (value as NonNullable<CallToolResult['structuredContent']>) : { result: value };
}

function textBlock(value: unknown): ContentBlock {
  return { type: 'text', text: typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value)) };
}
