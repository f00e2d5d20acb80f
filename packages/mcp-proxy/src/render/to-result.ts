/** Answers as `CallToolResult` data for hosts that take MCP content. */
import type { ProxyAnswer } from '../answers.js';
import { isRecord } from '../request.js';
import { serializeToolResult } from '../result/serialize.js';
import type { IMcpProxyResult } from '../types.js';

/** The upstream's own result as it came; one block of `text` for everything that the proxy says itself. */
export async function toProxyResult(answer: ProxyAnswer, text: () => Promise<string>): Promise<IMcpProxyResult> {
  if (answer.kind === 'result') return asResult(answer.result);
  return { content: [{ type: 'text', text: await text() }], ...(isFailure(answer) && { isError: true }) };
}

function asResult(result: unknown): IMcpProxyResult {
  // `input_required` results and those of the older `toolResult` form have no content; they are handed through all the same.
  if (isRecord(result) && (Array.isArray(result.content) || typeof result.resultType === 'string')) {
    // Its shape is the upstream's affair: hosts check what they are given, and nothing may be lost on the way.
    return result as IMcpProxyResult;
  }
  if (isRecord(result) && result.structuredContent !== undefined) {
    return { ...result, content: [{ type: 'text', text: serializeToolResult(result) }] };
  }
  return { content: [{ type: 'text', text: serializeToolResult(result) }] };
}

function isFailure(answer: ProxyAnswer): boolean {
  switch (answer.kind) {
    case 'status':
    case 'connected':
    case 'list':
    case 'hits':
    case 'described':
    case 'result':
    case 'page':
      return false;
    case 'invalid':
    case 'unknown_server':
    case 'server_failed':
    case 'unknown_tool':
    case 'ambiguous':
    case 'held':
    case 'refused':
    case 'call_failed':
    case 'unknown_cursor':
      return true;
    default:
      return answer satisfies never;
  }
}
