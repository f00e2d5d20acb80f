/** The state of servers as text: one line each, and below it what was left out or held back. */
import type { ServerState, ServerStatus } from '../answers.js';
import { clippedLine, plural } from '../text/clean.js';
import type { Hints } from './hints.js';

const MAX_PROBLEMS = 5;
const MAX_DIFF_LINES = 12;

export function statusText(servers: readonly ServerStatus[], hints: Hints): string {
  if (servers.length === 0) return 'No MCP server is configured.';
  const lines = servers.map(statusLine);
  return [...lines, '', `Next: ${hints.search()} looks through the tools of all servers.`].join('\n');
}

/** `files: connected (12 tools)`, with indented lines for what is not as it should be. */
export function statusLine(status: ServerStatus): string {
  const { serverName, detail } = status;
  const state = detail?.state === 'disabled' ? 'disabled' : stateText(status.state);
  const era = detail?.era === undefined ? '' : `, ${clippedLine(detail.era, 40)}`;
  return [`${clippedLine(serverName, 80)}: ${state}${era}`, ...troubles(status).map((line) => `  ${line}`)].join('\n');
}

function stateText(state: ServerState): string {
  switch (state.kind) {
    case 'not_connected': {
      const known = state.knownTools === undefined ? '' : ` (${plural(state.knownTools, 'tool')} known)`;
      const last = state.lastReason === undefined ? '' : `; lost: ${clippedLine(state.lastReason, 200)}`;
      return `not connected${known}${last}`;
    }
    case 'connecting':
      return 'connecting';
    case 'connected':
      return `connected (${plural(state.tools, 'tool')})`;
    case 'failed': {
      const tries = state.attempts === 1 ? '' : ` after ${state.attempts} attempts`;
      return `failed${tries} (${clippedLine(state.reason, 300).replace(/\.$/, '')}); next try from ${timeText(state.nextTryAt)}`;
    }
    default:
      return state satisfies never;
  }
}

function* troubleLines(status: ServerStatus): Generator<string> {
  const { detail, dropped, held } = status;
  if (status.pinsUnreadable !== undefined) {
    yield `nothing is offered, its pins cannot be relied on: ${clippedLine(status.pinsUnreadable, 300)}`;
  }
  const said = status.state.kind === 'failed' && status.state.reason === detail?.reason;
  if (detail?.reason !== undefined && status.state.kind !== 'connected' && !said) yield clippedLine(detail.reason, 300);
  if (detail?.nextTryAt !== undefined && status.state.kind !== 'failed')
    yield `next try from ${timeText(detail.nextTryAt)}`;
  for (const { toolName, reason } of dropped.slice(0, MAX_PROBLEMS)) {
    yield `left out: ${clippedLine(toolName, 120)}: ${clippedLine(reason, 200)}`;
  }
  if (dropped.length > MAX_PROBLEMS) yield `left out: ${dropped.length - MAX_PROBLEMS} more`;
  for (const { toolName, reason, diff } of held.slice(0, MAX_PROBLEMS)) {
    yield `held back, ${reason === 'new' ? 'new' : 'changed since it was trusted'}: ${clippedLine(toolName, 120)}`;
    for (const line of diff.slice(0, MAX_DIFF_LINES)) yield `  ${clippedLine(line, 400)}`;
  }
  if (held.length > MAX_PROBLEMS) yield `held back: ${held.length - MAX_PROBLEMS} more`;
  if (status.instructionsDiff !== undefined) yield 'its instructions changed since they were trusted and are held back';
}

function troubles(status: ServerStatus): string[] {
  return [...troubleLines(status)];
}

function timeText(epochMs: number): string {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString();
}
