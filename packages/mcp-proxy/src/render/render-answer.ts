/** Every answer as text for a model: what was found, and what to do next. */
import type { ListedTool, ProxyAnswer, SearchAnswer, ServerStatus, SkippedServer } from '../answers.js';
import { serializeToolResult } from '../result/serialize.js';
import { formatSchema, requiredParameters } from '../schema/format.js';
import { cleanText, clip, clippedLine, plural } from '../text/clean.js';
import { estimateTokens } from '../text/tokens.js';
import { type Hints, MODEL_HINTS } from './hints.js';
import { statusLine, statusText } from './render-status.js';

export interface RenderOptions {
  /** Sentences about fields that were ignored; shown last. */
  readonly notes?: readonly string[];
  /** What the text of a search may cost, in estimated tokens. Default 800. */
  readonly maxSearchTokens?: number;
  /** How the next step is said. Default: as a call of the tool. */
  readonly hints?: Hints;
}

const MAX_PURPOSE_CHARS = 120;
const MAX_LIST_PURPOSE_CHARS = 100;
/** What the described part of a tool list may cost, in estimated tokens. */
const MAX_LIST_TOKENS = 4_000;
const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_CANDIDATES = 20;

export function renderAnswer(answer: ProxyAnswer, options: RenderOptions = {}): string {
  const notes = options.notes ?? [];
  const text = answerText(answer, options.maxSearchTokens ?? 800, options.hints ?? MODEL_HINTS);
  return notes.length === 0 ? text : `${text}\n\nNote: ${notes.join(' ')}`;
}

function answerText(answer: ProxyAnswer, maxSearchTokens: number, hints: Hints): string {
  switch (answer.kind) {
    case 'status':
      return statusText(answer.servers, hints);
    case 'connected':
    case 'list':
      return listText(answer.status, answer.tools, hints);
    case 'hits':
      return hitsText(answer, maxSearchTokens, hints);
    case 'described':
      return describedText(answer.tool);
    case 'result':
      return serializeToolResult(answer.result);
    case 'page':
      return answer.text;
    case 'invalid':
      return `Not understood: ${answer.reason}`;
    case 'unknown_server':
      return unknownServerText(answer.server, answer.known);
    case 'server_failed':
      return serverFailedText(answer, hints);
    case 'unknown_tool':
      return unknownToolText(answer, hints);
    case 'ambiguous':
      return ambiguousText(answer, hints);
    case 'held':
      return heldText(answer, hints);
    case 'refused':
      return `The call of "${shownTool(answer.tool)}" was refused: ${clippedLine(answer.reason, 500)}`;
    case 'call_failed':
      return `Error: "${shownTool(answer.tool)}" failed: ${clippedLine(answer.reason, 2_000)}`;
    case 'unknown_cursor':
      return 'Nothing is kept under this cursor (any more). Call the tool again, and ask it for less.';
    default:
      return answer satisfies never;
  }
}

/** One line a tool up to the budget; of those beyond it the names, so that a list never hides a tool. */
function listText(status: ServerStatus, tools: readonly ListedTool[], hints: Hints): string {
  const lines: string[] = [];
  let tokens = 0;
  for (const listed of tools) {
    const line = `- ${nameOf(listed)}${purposeOf(listed, MAX_LIST_PURPOSE_CHARS)}`;
    tokens += estimateTokens(line);
    if (lines.length > 0 && tokens > MAX_LIST_TOKENS) break;
    lines.push(line);
  }
  const rest = tools.slice(lines.length).map(nameOf);
  const cut = [
    `${rest.length} more: ${rest.join(', ')}`,
    `Search them: ${hints.search(clippedLine(status.serverName, 80))}`,
  ];
  const next = tools.length > 0 ? ['', `Next: ${hints.describe} shows the parameters of one.`] : [];
  return [statusLine(status), ...lines, ...(rest.length > 0 ? cut : []), ...next].join('\n');
}

function hitsText(answer: SearchAnswer, maxTokens: number, hints: Hints): string {
  const skipped = skippedText(answer.skipped);
  if (answer.hits.length === 0) {
    const none = `No tool matches "${clippedLine(answer.query, 80)}" among ${plural(answer.searched, 'tool')}.`;
    return [none, `Try other words, or ${hints.status} to see the servers.`, ...skipped].join('\n');
  }
  const lines: string[] = [];
  let tokens = 0;
  for (const hit of answer.hits) {
    const line = hitLine(hit);
    tokens += estimateTokens(line);
    if (lines.length > 0 && tokens > maxTokens) break;
    lines.push(line);
  }
  const more = answer.matched - lines.length;
  const cut = more > 0 ? [`${more} more match; name the task more closely, or add ${hints.server}, for others.`] : [];
  return [...lines, ...cut, ...skipped].join('\n');
}

/** `- server: tool(path, content) — Writes a file.` */
function hitLine(hit: ListedTool): string {
  const required = requiredParameters(hit.tool.inputSchema).slice(0, 12);
  const parameters = clip(required.map((name) => clippedLine(name, 60)).join(', '), 200);
  return `- ${clippedLine(hit.serverName, 80)}: ${nameOf(hit)}(${parameters})${purposeOf(hit, MAX_PURPOSE_CHARS)}`;
}

function describedText({ serverName, tool }: ListedTool): string {
  const description = clip(
    cleanText((tool.description ?? '').slice(0, MAX_DESCRIPTION_CHARS * 2)).trim(),
    MAX_DESCRIPTION_CHARS,
  );
  const output =
    tool.outputSchema === undefined ? [] : ['Returns (structured):', formatSchema(tool.outputSchema, '  ')];
  return [
    `${clippedLine(tool.name, 256)} (server: ${clippedLine(serverName, 80)})`,
    ...(description === '' ? [] : [description]),
    ...hintsText(tool.annotations),
    'Parameters:',
    formatSchema(tool.inputSchema, '  '),
    ...output,
  ].join('\n');
}

/** What the server says of its own tool; nobody has checked it. */
function hintsText(annotations: Readonly<Record<string, unknown>> | undefined): string[] {
  const words: Readonly<Record<string, readonly [whenTrue: string, whenFalse: string]>> = {
    readOnlyHint: ['read-only', ''],
    destructiveHint: ['destructive', 'not destructive'],
    idempotentHint: ['idempotent', ''],
    openWorldHint: ['reaches outside', ''],
  };
  const said = Object.entries(words)
    .map(([hint, [whenTrue, whenFalse]]) => {
      const value = annotations?.[hint];
      return value === true ? whenTrue : value === false ? whenFalse : '';
    })
    .filter((word) => word !== '');
  return said.length === 0 ? [] : [`Its server says: ${said.join(', ')}.`];
}

function unknownServerText(server: string, known: readonly string[]): string {
  const names = known.map((name) => clippedLine(name, 80)).join(', ');
  const there = known.length === 0 ? 'No server is configured.' : `Servers: ${names}.`;
  return `No server is called "${clippedLine(server, 80)}". ${there}`;
}

function serverFailedText({ status, reason }: Extract<ProxyAnswer, { kind: 'server_failed' }>, hints: Hints): string {
  // A failed state says its reason already; any other is only what the server is in now.
  const why = status.state.kind === 'failed' ? [] : [`Not done: ${clippedLine(reason, 500)}`];
  return [statusLine(status), ...why, `Try again: ${hints.connect(clippedLine(status.serverName, 80))}`].join('\n');
}

function unknownToolText(answer: Extract<ProxyAnswer, { kind: 'unknown_tool' }>, hints: Hints): string {
  const where = answer.server === undefined ? 'No server has' : `"${clippedLine(answer.server, 80)}" has no`;
  const what = answer.server === undefined ? ' a tool' : ' tool';
  const similar = answer.similar.map((listed) => hitLine(listed));
  return [
    `${where}${what} called "${clippedLine(answer.tool, 120)}".`,
    ...(similar.length > 0 ? ['Similar:', ...similar] : [`Search for what you need: ${hints.search()}.`]),
    ...skippedText(answer.skipped),
  ].join('\n');
}

function ambiguousText(answer: Extract<ProxyAnswer, { kind: 'ambiguous' }>, hints: Hints): string {
  const shown = answer.candidates.slice(0, MAX_CANDIDATES);
  return [
    `${answer.candidates.length} servers have a tool "${clippedLine(answer.tool, 120)}". Add ${hints.server} to say which:`,
    ...shown.map((listed) => `- ${clippedLine(listed.serverName, 80)}${purposeOf(listed, MAX_PURPOSE_CHARS)}`),
    ...skippedText(answer.skipped),
  ].join('\n');
}

function heldText({ serverName, held }: Extract<ProxyAnswer, { kind: 'held' }>, hints: Hints): string {
  const what = held.reason === 'new' ? 'is new on its server' : 'changed since it was trusted';
  return `The tool "${clippedLine(held.toolName, 120)}" of "${clippedLine(serverName, 80)}" ${what}. ${hints.approve(clippedLine(serverName, 80))}`;
}

function skippedText(skipped: readonly SkippedServer[]): string[] {
  if (skipped.length === 0) return [];
  const lines = skipped.map(
    ({ serverName, reason }) => `- ${clippedLine(serverName, 80)}: ${clippedLine(reason, 200)}`,
  );
  return ['Not searched, because they could not be reached:', ...lines];
}

function nameOf({ tool }: ListedTool): string {
  return clippedLine(tool.name, 256);
}

function purposeOf({ tool }: ListedTool, maxChars: number): string {
  const purpose = clippedLine(tool.description ?? tool.title, maxChars);
  return purpose === '' ? '' : ` — ${purpose}`;
}

function shownTool({ serverName, tool }: ListedTool): string {
  return `${clippedLine(serverName, 80)}/${clippedLine(tool.name, 256)}`;
}
