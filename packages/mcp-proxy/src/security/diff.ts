/** What changed between two definitions, one readable line a change. */
import { isRecord } from '../request.js';
import { cleanText, clip } from '../text/clean.js';
import type { IMcpToolInfo } from '../types.js';
import { canonicalJson, pinnedDefinition } from './canonical.js';

const MAX_LINES = 60;
const MAX_VALUE_CHARS = 300;
const MAX_DEPTH = 20;

/**
 * `description: - old` and `description: + new` for a changed value, `+` alone for an added one, `-` for a removed one; paths
 * lead into schemas (`inputSchema.properties.path.description`). Invisible characters are shown as `\u{…}`: a change that
 * consists of them is what the reader must not miss.
 */
export function definitionDiff(before: IMcpToolInfo, after: IMcpToolInfo): string[] {
  const lines: string[] = [];
  collect(pinnedDefinition(before), pinnedDefinition(after), '', 0, lines);
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more changes`];
}

function collect(before: unknown, after: unknown, path: string, depth: number, lines: string[]): void {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return;
  if (isRecord(before) && isRecord(after) && depth < MAX_DEPTH) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    for (const key of keys) {
      const inner = path === '' ? key : `${path}.${key}`;
      collect(member(before, key), member(after, key), inner, depth + 1, lines);
    }
    return;
  }
  const label = shown(path, 120) || 'definition';
  if (before !== undefined) lines.push(`${label}: - ${shownValue(before)}`);
  if (after !== undefined) lines.push(`${label}: + ${shownValue(after)}`);
}

function member(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function shownValue(value: unknown): string {
  return shown(typeof value === 'string' ? value : canonicalJson(value), MAX_VALUE_CHARS);
}

function shown(text: string, maxChars: number): string {
  const bounded = text.slice(0, maxChars * 2);
  const visible = [...bounded]
    .map((char) => (char === '\n' || cleanText(char) === char ? char : escaped(char)))
    .join('');
  return clip(visible.replace(/\s+/g, ' ').trim(), maxChars);
}

function escaped(char: string): string {
  return `\\u{${char.codePointAt(0)!.toString(16)}}`;
}
