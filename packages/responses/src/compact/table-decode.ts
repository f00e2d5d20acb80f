/** Reading the table notation back; see `table-encode.ts` for what it looks like. */
import { DELIMITERS, type DelimiterName, looksLikeJson } from './table-encode.js';

/** The data of a text that `encodeTables` wrote. Throws a `SyntaxError` on any other. */
export function decodeTables(text: string): unknown {
  const lines = text.split('\n');
  if (HEAD.test(lines[0] ?? '')) {
    const { rows, end } = readTable(lines, 0);
    if (end !== lines.length) throw new SyntaxError('there is text after the table');
    return rows;
  }
  const tables: unknown[] = [];
  for (let next = 1; next < lines.length; ) {
    const { rows, end } = readTable(lines, next);
    tables.push(rows);
    next = end;
  }
  return readSkeleton(lines[0] ?? '', tables);
}

const HEAD = /^table(?: \d+)?: (\d+) rows, columns divided by (tab|comma|pipe)(?:, empty cell = no value)?$/;

function readTable(lines: readonly string[], start: number): { readonly rows: unknown[]; readonly end: number } {
  const head = HEAD.exec(lines[start] ?? '');
  if (!head) throw new SyntaxError(`line ${start + 1} is no table head`);
  const delimiter = DELIMITERS[head[2] as DelimiterName]; // The pattern lets only those three through.
  const columns = splitLine(lines[start + 1] ?? '', delimiter).map(readPath);
  const end = start + 2 + Number(head[1]);
  if (end > lines.length) throw new SyntaxError(`the table of line ${start + 1} is cut short`);
  return { rows: lines.slice(start + 2, end).map((line) => readRow(line, columns, delimiter)), end };
}

function readRow(line: string, columns: readonly (readonly string[])[], delimiter: string): unknown {
  const cells = splitLine(line, delimiter);
  if (cells.length !== columns.length) throw new SyntaxError(`a row has ${cells.length} cells, not ${columns.length}`);
  const row: Record<string, unknown> = {};
  cells.forEach((cell, index) => {
    if (cell !== '') setAt(row, columns[index]!, looksLikeJson(cell) ? JSON.parse(cell) : cell);
  });
  return row;
}

function setAt(row: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  let owner = row;
  for (const key of keys.slice(0, -1)) {
    if (!Object.hasOwn(owner, key)) define(owner, key, {});
    owner = owner[key] as Record<string, unknown>; // Set above: groups of columns hold records only.
  }
  define(owner, keys.at(-1)!, value);
}

/** Also for a key called `__proto__`, which an assignment would take for the prototype. */
function define(owner: object, key: string, value: unknown): void {
  Object.defineProperty(owner, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Cells of a line; a delimiter within JSON divides nothing. */
function splitLine(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  let start = 0;
  while (true) {
    const first = line[start];
    const isJson = first === '"' || first === '[' || first === '{';
    const end = line.indexOf(delimiter, isJson ? endOfJson(line, start, delimiter) : start);
    if (end === -1) return [...cells, line.slice(start)];
    cells.push(line.slice(start, end));
    start = end + 1;
  }
}

/** Where the JSON that starts at `start` ends. */
function endOfJson(line: string, start: number, delimiter: string): number {
  let depth = 0;
  for (let index = start; index < line.length; index++) {
    const char = line[index]!;
    if (char === '"') index = endOfString(line, index);
    else if (char === '[' || char === '{') depth++;
    else if (char === ']' || char === '}') depth--;
    else if (char === delimiter && depth === 0) return index;
  }
  return line.length;
}

/** Index of the quote that closes the string opened at `open`. */
function endOfString(line: string, open: number): number {
  let index = open + 1;
  while (index < line.length && line[index] !== '"') index += line[index] === '\\' ? 2 : 1;
  return index;
}

/** `user.name`, or a list of keys where one of them is no plain word. */
function readPath(title: string): string[] {
  return title.startsWith('[') ? (JSON.parse(title) as string[]) : title.split('.'); // A head has lists of strings only.
}

function indexOrEnd(text: string, char: string, from: number): number {
  const index = text.indexOf(char, from);
  return index === -1 ? text.length : index;
}

/** JSON in which `<table n>` stands for a table. */
function readSkeleton(line: string, tables: readonly unknown[]): unknown {
  // A string that is nowhere in the line, so that no text of the data is taken for a reference.
  let mark = 'table';
  while (line.includes(mark)) mark += '_';
  let json = '';
  let from = 0;
  for (let index = 0; index < line.length; index++) {
    if (line[index] === '"') index = endOfString(line, index);
    else if (line[index] === '<') {
      const end = indexOrEnd(line, '>', index);
      json += `${line.slice(from, index)}"${mark}${line.slice(index + 7, end)}"`;
      from = end + 1;
      index = end;
    }
  }
  return insertTables(JSON.parse(json + line.slice(from)), mark, tables);
}

function insertTables(value: unknown, mark: string, tables: readonly unknown[]): unknown {
  if (typeof value === 'string' && value.startsWith(mark)) return tables[Number(value.slice(mark.length)) - 1];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  for (const key of Object.keys(value)) {
    define(value, key, insertTables((value as Record<string, unknown>)[key], mark, tables));
  }
  return value;
}
