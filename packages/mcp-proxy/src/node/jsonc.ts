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

/** Replaces by spaces what JSON does not know, so that every place keeps its position. */
function withoutComments(text: string): string {
  const pattern = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*[}\]])/g;
  return text.replace(pattern, (match) => (match.startsWith('"') ? match : match.replace(/[^\n]/g, ' ')));
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
