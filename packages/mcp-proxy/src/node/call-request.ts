/** Puts one `tools/call` on the wire, in the words of the upstream's era. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  LOG_LEVEL_META_KEY,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { IMcpToolInfo } from '../types.js';
import type { HostChannel } from './host-channel.js';

export interface CallRequest {
  readonly client: Client;
  readonly era: 'legacy' | 'modern';
  readonly params: Readonly<Record<string, unknown>>;
  readonly channel: HostChannel | undefined;
  /** Given for a tool that mirrors arguments into headers. */
  readonly definition: IMcpToolInfo | undefined;
  readonly options: RequestOptions;
}

// A result is passed on as it came: what it holds is between the upstream and the host.
const anyResult = z.looseObject({});

/** The upstream's result, unchecked, `input_required` included. */
export function requestCall({ client, era, params, channel, definition, options }: CallRequest): Promise<unknown> {
  const named = { ...params, ...(era === 'modern' && { _meta: modernMeta(channel) }) } as { name: string };
  if (definition && era === 'modern') {
    // Only the SDK's own method mirrors arguments into headers. Without an output schema it checks nothing else.
    const toolDefinition = { name: definition.name, inputSchema: definition.inputSchema } as never;
    return client.callTool(named, { ...options, toolDefinition });
  }
  return client.request({ method: 'tools/call', params: named }, anyResult, options);
}

/** Whether arguments are mirrored into headers. Declarations are only valid near the top: deep schemas are not searched. */
export function declaresHeaders(tool: unknown): tool is IMcpToolInfo {
  if (typeof tool !== 'object' || tool === null || !('inputSchema' in tool)) return false;
  return hasKey(tool.inputSchema, 'x-mcp-header', 12);
}

function hasKey(value: unknown, wanted: string, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth === 0) return false;
  return wanted in value || Object.values(value).some((member) => hasKey(member, wanted, depth - 1));
}

/** A modern request says for itself what its host can do, and which logs it wants. */
function modernMeta(channel: HostChannel | undefined): Record<string, unknown> {
  return {
    [CLIENT_CAPABILITIES_META_KEY]: channel?.capabilities ?? {},
    ...(channel?.logLevel !== undefined && { [LOG_LEVEL_META_KEY]: channel.logLevel }),
  };
}
