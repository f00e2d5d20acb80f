import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeTables } from '../src/compact/table-decode.js';
import { type DelimiterName, encodeTables } from '../src/compact/table-encode.js';
import { caught } from './support/thrown.js';

const delimiters: DelimiterName[] = ['tab', 'comma', 'pipe'];

describe('a table', () => {
  test('has a column for every path, and JSON only where a cell needs it', () => {
    const rows = [
      { id: 1, user: { name: 'Ann', age: null }, tags: ['a'], note: '' },
      { id: 2, user: { name: '42', age: 5 }, tags: [], note: 'x\ty' },
    ];
    expect(encodeTables(rows, 'tab')).toBe(
      [
        'table: 2 rows, columns divided by tab',
        'id\tuser.name\tuser.age\ttags\tnote',
        '1\tAnn\tnull\t["a"]\t""',
        '2\t"42"\t5\t[]\t"x\\ty"',
      ].join('\n'),
    );
  });

  test('leaves a cell empty where a row has no value', () => {
    expect(encodeTables([{ a: 1, b: 'x' }, { a: 2 }], 'comma')).toBe(
      'table: 2 rows, columns divided by comma, empty cell = no value\na,b\n1,x\n2,',
    );
  });

  test('stands where its list stood', () => {
    const data = { total: 2, page: { items: [{ id: 1 }, { id: 2 }] }, more: '<table 1>' };
    const text = encodeTables(data, 'pipe')!;
    expect(text.split('\n')[0]).toBe('{"total":2,"page":{"items":<table 1>},"more":"<table 1>"}');
    expect(decodeTables(text)).toEqual(data);
  });

  test.each<[string, unknown]>([
    ['a single row', [{ a: 1 }]],
    ['rows with nothing in them', [{}, {}]],
    ['a list of mixed kinds', [{ a: 1 }, 2]],
    ['rows that share too little', [{ a: 1 }, { b: 1 }, { c: 1 }]],
    ['no list at all', { a: { b: 1 } }],
    ['a plain value', 5],
  ])('is not made of %s', (_name, data) => {
    expect(encodeTables(data, 'tab')).toBeUndefined();
  });
});

describe('reading back', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'id',
      'name',
      'a.b',
      'a,b',
      'x|y',
      '__proto__',
      'constructor',
      'toString',
      '',
      '["k"]',
      '"',
      'table',
      ' ',
    ),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  const cell = fc.oneof(
    fc.constantFrom(
      '',
      ' ',
      'true',
      'null',
      '-1',
      '1e5',
      '007',
      '[',
      '{x',
      '"q"',
      'a,b',
      'a|b',
      'a\tb',
      'a\nb',
      '\u2028',
      '\ud800',
      '😀',
      'table: 2 rows',
      '<table 1>',
    ),
    fc.jsonValue({ stringUnit: 'binary', maxDepth: 2 }),
  );
  const row = fc.dictionary(
    word,
    fc.oneof(cell, fc.dictionary(word, fc.oneof(cell, fc.dictionary(word, cell, { maxKeys: 3 })), { maxKeys: 3 })),
    { maxKeys: 5 },
  );
  const sameKeys = fc
    .tuple(row, fc.array(cell, { minLength: 2, maxLength: 5 }))
    .map(([shape, values]) => values.map((value) => ({ ...shape, value })));
  const rows = fc.oneof(fc.array(row, { minLength: 2, maxLength: 6 }), sameKeys);
  const document = fc.oneof(
    rows,
    fc.dictionary(word, fc.oneof(rows, cell, fc.dictionary(word, rows, { maxKeys: 2 })), { maxKeys: 3 }),
  );

  test('gives the same data, whatever is in it', () => {
    let tables = 0;
    fc.assert(
      fc.property(document, fc.constantFrom(...delimiters), (data, delimiter) => {
        const text = encodeTables(data, delimiter);
        if (text === undefined) return;
        tables++;
        expect(sorted(decodeTables(text))).toBe(sorted(data));
      }),
      { numRuns: 3000 },
    );
    expect(tables).toBeGreaterThan(300);
  });

  test.each([
    ['something else', 'hello'],
    ['a table cut short', 'table: 3 rows, columns divided by tab\na\n1\n2'],
    ['a row with a cell too few', 'table: 1 rows, columns divided by tab\na\tb\n1'],
    ['text after the table', 'table: 1 rows, columns divided by tab\na\n1\nmore'],
    ['broken JSON in a cell', 'table: 1 rows, columns divided by tab\na\n[1'],
  ])('refuses %s', (_name, text) => {
    expect(caught(() => decodeTables(text))).toBeInstanceOf(SyntaxError);
  });
});

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}
