/** JSON as editors keep it: with comments and trailing commas. */
import { ConfigError } from './errors.js';

/**
 * Parses JSON, forgiving `//` and block comments, commas before a closing bracket and a byte order mark.
 *
 * @throws {ConfigError} `CONFIG_NOT_JSON` naming the file, the line and the column.
 */
export function parseJsonc(text: string, source: string): unknown {
  const plain = withoutComments(text.replace(/^\uFEFF/, ' '));
  try {
    return JSON.parse(plain);
  } catch {
    // The engine's message quotes the file, and the file holds secrets: only the place is told.
    const before = plain.slice(0, firstFault(plain)).split('\n');
    const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
    throw new ConfigError(
      'CONFIG_NOT_JSON',
      `${source} is no JSON (${place}). Check commas, quotes and brackets there.`,
    );
  }
}

/**
 * Replaces by spaces what JSON does not know, so that every place keeps its position. Every character is looked at once, whatever
 * the file holds; what is not closed (a string, a comment) is left for the parser to find.
 */
function withoutComments(text: string): string {
  const blanks: [start: number, end: number][] = [];
  /** The place of a comma after which nothing has come yet. */
  let comma: number | undefined;
  let at = 0;
  while (at < text.length) {
    const end = endOfComment(text, at);
    if (end === 'never') break;
    if (end !== undefined) {
      blanks.push([at, end]);
      at = end;
      continue;
    }
    const char = text.charAt(at);
    if ((char === '}' || char === ']') && comma !== undefined) blanks.push([comma, comma + 1]);
    if (char === ',') comma = at;
    else if (!/\s/.test(char)) comma = undefined;
    at = char === '"' ? endOfString(text, at) : at + 1;
  }
  const parts: string[] = [];
  let kept = 0;
  for (const [start, end] of blanks.sort(([a], [b]) => a - b)) {
    parts.push(text.slice(kept, start), text.slice(start, end).replace(/[^\n]/g, ' '));
    kept = end;
  }
  return parts.join('') + text.slice(kept);
}

/** Undefined where no comment starts. */
function endOfComment(text: string, at: number): number | 'never' | undefined {
  if (text.charAt(at) !== '/') return undefined;
  const kind = text.charAt(at + 1);
  if (kind !== '/' && kind !== '*') return undefined;
  const end = text.indexOf(kind === '/' ? '\n' : '*/', at + 2);
  if (kind === '/') return end === -1 ? text.length : end;
  return end === -1 ? 'never' : end + 2;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === '"') return at + 1;
    else if (char === '\n') return at;
  }
  return text.length;
}

const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/uy;

/** Where a text stops being JSON; not every engine tells. */
function firstFault(text: string): number {
  const open: string[] = [];
  let expects: 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd' = 'value';
  TOKEN.lastIndex = 0;
  for (;;) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) return start + (/^[ \t\r\n]*/.exec(text.slice(start))?.[0].length ?? 0);
    const [whole, mark, string] = match;
    const at = start + whole.length - whole.trimStart().length;
    const value = mark === undefined;
    const wantsValue = expects === 'value' || expects === 'valueOrEnd';
    if (value && wantsValue) expects = 'commaOrEnd';
    else if (string !== undefined && (expects === 'key' || expects === 'keyOrEnd')) expects = 'colon';
    else if (mark === ':' && expects === 'colon') expects = 'value';
    else if (mark === ',' && expects === 'commaOrEnd' && open.length > 0)
      expects = open.at(-1) === '{' ? 'key' : 'value';
    else if (mark === '{' && wantsValue) {
      open.push(mark);
      expects = 'keyOrEnd';
    } else if (mark === '[' && wantsValue) {
      open.push(mark);
      expects = 'valueOrEnd';
    } else if (mark === '}' && open.at(-1) === '{' && (expects === 'keyOrEnd' || expects === 'commaOrEnd')) {
      open.pop();
      expects = 'commaOrEnd';
    } else if (mark === ']' && open.at(-1) === '[' && (expects === 'valueOrEnd' || expects === 'commaOrEnd')) {
      open.pop();
      expects = 'commaOrEnd';
    } else return at;
  }
}

export interface DuplicateKey {
  /** The keys that lead to it, itself included; elements of arrays by their number. */
  readonly path: readonly string[];
  /** Where it is for the second time, from 1. */
  readonly line: number;
}

/** More of them help nobody. */
const MAX_DUPLICATES = 100;

/** Keys that one object has twice. Parsers take the last one silently, and a reader sees the first. `text` must be valid. */
export function duplicateKeys(text: string): readonly DuplicateKey[] {
  const found: DuplicateKey[] = [];
  const open: { readonly keys: Set<string> | undefined; key: string; count: number }[] = [];
  let line = 1;
  let expectsKey = false;
  for (const [token] of withoutComments(text).matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],\n]/g)) {
    const current = open.at(-1);
    if (token === '\n') line += 1;
    else if (token === '{' || token === '[') {
      open.push({ keys: token === '{' ? new Set() : undefined, key: '0', count: 0 });
      expectsKey = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      expectsKey = false;
    } else if (token === ',' && current) {
      expectsKey = current.keys !== undefined;
      current.count += 1;
      if (!expectsKey) current.key = String(current.count);
    } else if (expectsKey && current?.keys) {
      current.key = String(JSON.parse(token));
      if (current.keys.has(current.key) && found.length < MAX_DUPLICATES)
        found.push({ path: open.map(({ key }) => key), line });
      current.keys.add(current.key);
      expectsKey = false;
    }
  }
  return found;
}
