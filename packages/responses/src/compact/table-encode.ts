/**
 * The table notation: JSON whose lists of records are written as tables. Records may be nested (a column a path:
 * `user.name`), and may lack fields (an empty cell); what fits no cell bare is JSON in the cell. Uniform flat rows are
 * cheaper still than in TOON, which indents; nested and sparse rows stay tables, where TOON falls back to a list.
 *
 *     {"total":2,"items":<table 1>}
 *     table 1: 2 rows, columns divided by tab, empty cell = no value
 *     id⇥user.name⇥tags
 *     1⇥Ann⇥["vip"]
 *     2⇥Bo⇥
 *
 * Where the whole text is one table, the first line is left out and the table is called `table`.
 */
import { isPlain } from '../json/plain.js';
import { changed } from '../response-error.js';

export type DelimiterName = 'tab' | 'comma' | 'pipe';

export const DELIMITERS: Readonly<Record<DelimiterName, '\t' | ',' | '|'>> = { tab: '\t', comma: ',', pipe: '|' };

type Row = Readonly<Record<string, unknown>>;

/** A column, or a group of columns under one key. */
interface Column {
  readonly key: string;
  /** Rows that have the key. */
  filled: number;
  /** Set while every value so far is a record with keys: then it is a group. */
  group: Map<string, Column> | undefined;
}

/** JSON data as tables, or `undefined` if no list in it is worth a table. The data must have passed `surveyJson`. */
export function encodeTables(data: unknown, delimiter: DelimiterName): string | undefined {
  if (Array.isArray(data)) {
    const columns = columnsOf(data);
    return columns && writeTable('table', data as Row[], columns, delimiter);
  }
  const tables: string[] = [];
  const skeleton = writeSkeleton(data, (list) => {
    const columns = columnsOf(list);
    if (!columns) return undefined;
    tables.push(writeTable(`table ${tables.length + 1}`, list as Row[], columns, delimiter));
    return `<table ${tables.length}>`;
  });
  return tables.length === 0 ? undefined : [skeleton, ...tables].join('\n');
}

/** Compact JSON of `value`, with `writeList` asked first for every list that hangs on a path of records. */
function writeSkeleton(value: unknown, writeList: (list: readonly unknown[]) => string | undefined): string {
  if (Array.isArray(value)) return writeList(value) ?? JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, child]) => `${JSON.stringify(key)}:${writeSkeleton(child, writeList)}`,
  );
  return `{${members.join(',')}}`;
}

const MAX_COLUMNS = 200;

/** The columns of a list of records; `undefined` if it is none, or if more than half of the cells would be empty. */
function columnsOf(list: readonly unknown[]): Column[] | undefined {
  if (list.length < 2) return undefined;
  const columns = new Map<string, Column>();
  for (const row of list) {
    if (!isRecord(row)) return undefined;
    addRow(columns, row);
    if (columns.size > MAX_COLUMNS) return undefined;
  }
  const found = [...columns.values()];
  const cells = found.reduce((sum, column) => sum + column.filled, 0);
  return found.length > 0 && cells * 2 >= found.length * list.length ? found : undefined;
}

function addRow(columns: Map<string, Column>, row: Row): void {
  for (const key of Object.keys(row)) {
    const value = row[key];
    const column = columns.get(key);
    if (column === undefined) {
      const group = isGroup(value) ? new Map<string, Column>() : undefined;
      if (group) addRow(group, value as Row);
      columns.set(key, { key, filled: 1, group });
      continue;
    }
    column.filled++;
    if (column.group === undefined) continue;
    if (isGroup(value)) addRow(column.group, value);
    else column.group = undefined;
  }
}

/** An empty record is a value of its own: spread over columns it would look like no record at all. */
function isGroup(value: unknown): value is Row {
  return isRecord(value) && Object.keys(value).length > 0;
}

function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value);
}

interface Leaf {
  readonly title: string;
  readonly keys: readonly string[];
}

function writeTable(name: string, rows: readonly Row[], columns: readonly Column[], delimiter: DelimiterName): string {
  const leaves = columns.flatMap((column) => leavesOf(column, []));
  const separator = DELIMITERS[delimiter];
  const unsafe = UNSAFE[delimiter];
  let hasGaps = false;
  const lines = rows.map((row) => {
    let line = '';
    for (let index = 0; index < leaves.length; index++) {
      const value = valueAt(row, leaves[index]!.keys);
      if (index > 0) line += separator;
      if (value === undefined) hasGaps = true;
      else line += writeCell(value, unsafe);
    }
    return line;
  });
  const gaps = hasGaps ? ', empty cell = no value' : '';
  const head = `${name}: ${rows.length} rows, columns divided by ${delimiter}${gaps}`;
  return `${head}\n${leaves.map((leaf) => leaf.title).join(separator)}\n${lines.join('\n')}`;
}

function leavesOf(column: Column, parents: readonly string[]): Leaf[] {
  const keys = [...parents, column.key];
  if (column.group) return [...column.group.values()].flatMap((child) => leavesOf(child, keys));
  const isPlainPath = keys.every((key) => /^[A-Za-z_][\w-]*$/.test(key));
  return [{ keys, title: isPlainPath ? keys.join('.') : JSON.stringify(keys) }];
}

function valueAt(row: Row, keys: readonly string[]): unknown {
  let value: unknown = own(row, keys[0]!);
  for (let depth = 1; depth < keys.length && value !== undefined; depth++) value = own(value as Row, keys[depth]!);
  return value;
}

/** A row without the key must not answer with what every object inherits (`constructor`). */
function own(row: Row, key: string): unknown {
  const value = row[key];
  if (value !== undefined && typeof value !== 'function' && key !== '__proto__') return value;
  if (!Object.hasOwn(row, key)) return undefined;
  if (value === undefined || typeof value === 'function') throw changed('$');
  return value;
}

/** What would break the line or the cell: control characters, other line ends, lone surrogates, the delimiter. */
const UNSAFE: Readonly<Record<DelimiterName, RegExp>> = {
  tab: /[\p{Cc}\u2028\u2029\p{Surrogate}]/u,
  comma: /[\p{Cc}\u2028\u2029\p{Surrogate},]/u,
  pipe: /[\p{Cc}\u2028\u2029\p{Surrogate}|]/u,
};

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function writeCell(value: unknown, unsafe: RegExp): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw changed('$');
  if (typeof value !== 'string') return JSON.stringify(value);
  return isBare(value, unsafe) ? value : JSON.stringify(value);
}

/** Whether a string can stand for itself: it breaks nothing, and nobody reads it as JSON. */
function isBare(text: string, unsafe: RegExp): boolean {
  if (text === '' || isSpace(text.charCodeAt(0)) || isSpace(text.charCodeAt(text.length - 1))) return false;
  if (looksLikeJson(text)) return false;
  return !unsafe.test(text);
}

/** Whether a cell with this text is read as JSON rather than as a bare string. */
export function looksLikeJson(text: string): boolean {
  const first = text.charCodeAt(0);
  if (first === 0x22 || first === 0x5b || first === 0x7b) return true; // " [ {
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) return JSON_NUMBER.test(text); // - or a digit
  return text === 'true' || text === 'false' || text === 'null';
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0xa0;
}
