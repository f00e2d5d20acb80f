/** Asks the person at the host before a tool is called, through the host's own elicitation. */
import { hostCan, hostChannelOf } from '../node/host-channel.js';
import type { ApprovalRequest, ApproveCall } from '../options.js';
import { cleanText } from '../text/clean.js';

export interface ApproveByAskingOptions {
  /** Which calls need an answer. Default: all. */
  readonly needsApproval?: (request: ApprovalRequest) => boolean;
  /** Characters of the arguments that are shown. Default 2,000. */
  readonly maxArgumentCharacters?: number;
}

/**
 * An `approve` hook for `McpProxyTool`. Where nobody can be asked, the call is refused.
 *
 * @example new McpProxyTool(provider, specs, { approve: approveByAsking({ needsApproval: changesSomething }) })
 */
export function approveByAsking(options: ApproveByAskingOptions = {}): ApproveCall {
  return async (request, { signal, context }) => {
    if (options.needsApproval && !options.needsApproval(request)) return { kind: 'allow' };
    const channel = hostChannelOf(context);
    const params = {
      mode: 'form',
      message: question(request, options),
      requestedSchema: { type: 'object', properties: {} },
    };
    if (!channel || !hostCan(channel.capabilities, 'elicitation/create', params)) {
      return { kind: 'deny', reason: 'this call needs the approval of a person, and this host cannot ask one' };
    }
    const answer = await channel.request('elicitation/create', params, signal ?? new AbortController().signal);
    const action = typeof answer === 'object' && answer !== null && 'action' in answer ? answer.action : undefined;
    return action === 'accept'
      ? { kind: 'allow' }
      : { kind: 'deny', reason: 'the person who was asked did not approve it' };
  };
}

/** Every call but those that the upstream declares to be reading only. The declaration is the upstream's own word. */
export function changesSomething(request: ApprovalRequest): boolean {
  return request.annotations?.readOnlyHint !== true;
}

function question(request: ApprovalRequest, options: ApproveByAskingOptions): string {
  const limit = options.maxArgumentCharacters ?? 2_000;
  const args = cleanText(JSON.stringify(request.args, null, 2) ?? 'none');
  const shown = args.length > limit ? `${args.slice(0, limit)}\n… (${args.length - limit} more characters)` : args;
  return `Allow "${cleanText(request.toolName)}" of server "${request.serverName}" with these arguments?\n${shown}`;
}
