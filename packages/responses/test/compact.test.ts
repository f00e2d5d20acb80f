import fc from 'fast-check';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { COUNTED_UP_TO, WHOLE_UP_TO } from '../src/compact/compact.js';
import { FORMATS } from '../src/compact/formats.js';
import {
  type CompactFormat,
  compact,
  estimateTokens,
  isToolResponse,
  ResponseError,
  readCompact,
} from '../src/index.js';
import { expectAcceptedByBothSdks, textOf } from './support/sdk.js';
import { shapeOfSize, shapes } from './support/shapes.js';
import { caught } from './support/thrown.js';
import { hostileValues } from './support/values.js';

const formatOf = (result: { _meta: Record<string, unknown> }) =>
  (result._meta['interlock/compact'] as { format: CompactFormat }).format;

const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 });

describe.each([
  ['o200k', o200k],
  ['the built-in estimate', estimateTokens],
])('by %s', (_name, countTokens) => {
  test.each(shapes.map((shape) => [shape.name, shape] as const))(
    '%s: never dearer than JSON, and the same data',
    (_n, shape) => {
      for (const count of [0, 1, 2, 3, 10, 100]) {
        const data = shape.make(count);
        const result = compact(data, { countTokens });
        expect(countTokens(textOf(result))).toBeLessThanOrEqual(countTokens(JSON.stringify(data)));
        expect(readCompact(result)).toEqual(data);
        expectAcceptedByBothSdks(result);
      }
    },
  );

  test.each(shapes.filter((shape) => shape.uniform).map((shape) => [shape.name, shape] as const))(
    '%s: at least 35 %% fewer tokens than JSON on 100 uniform rows',
    (_n, shape) => {
      const data = shape.make(100);
      const saved = 1 - countTokens(textOf(compact(data, { countTokens }))) / countTokens(JSON.stringify(data));
      expect(saved).toBeGreaterThanOrEqual(0.35);
    },
  );
});

describe('large data', () => {
  test.each(shapes.map((shape) => [shape.name, shape] as const))(
    '%s: the same holds beyond the size that is measured whole',
    (_n, shape) => {
      const data = shapeOfSize(shape, 150_000);
      const result = compact(data, { countTokens: o200k });
      expect(o200k(textOf(result))).toBeLessThanOrEqual(o200k(JSON.stringify(data)));
      expect(readCompact(result)).toEqual(data);
    },
  );

  test('a row that the sample missed does not make it dear', () => {
    const rows: unknown[] = Array.from({ length: 5000 }, (_, id) => ({ id, name: 'x', city: 'Bern', role: 'user' }));
    // Same number of fields, so the sample has no reason to take it, but TOON can now write no table at all.
    rows[1234] = { id: 1234, name: 'x', city: ['Bern', 'Oslo'], role: {} };
    const result = compact(rows, { formats: ['toon-tab', 'toon-comma', 'toon-pipe'] });
    expect(JSON.stringify(rows).length).toBeGreaterThan(WHOLE_UP_TO);
    expect(formatOf(result)).toBe('json');
    expect(formatOf(compact(rows))).toMatch(/^table/);
    expect(readCompact(compact(rows))).toEqual(rows);
  });

  test('is never dearer than JSON by any counter, up to COUNTED_UP_TO: both whole texts are counted', () => {
    const rows = shapes[0]!;
    const small = shapeOfSize(rows, COUNTED_UP_TO * 0.9);
    // It likes tables while they are short, as the sample is.
    const fickle = (text: string) => (text.startsWith('table') && text.length > 10_000 ? 2 * text.length : text.length);
    expect(formatOf(compact(small, { countTokens: fickle, formats: ['table-tab'] }))).toBe('json');
    expect(formatOf(compact(small, { countTokens: (text) => text.length, formats: ['table-tab'] }))).toMatch(/^table/);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 2000, max: 200_000 }), (weight, from) => {
        const counter = (text: string) => text.length + (text.length > from ? text.split('\n').length * weight : 0);
        const data = shapeOfSize(rows, 100_000);
        const sent = counter(textOf(compact(data, { countTokens: counter })));
        expect(sent).toBeLessThanOrEqual(counter(JSON.stringify(data)));
      }),
      { numRuns: 30 },
    );
  });

  test('beyond COUNTED_UP_TO the counter sees the sample only, so that a slow one costs little', () => {
    let most = 0;
    const counter = (text: string) => {
      most = Math.max(most, text.length);
      return text.length;
    };
    compact(shapeOfSize(shapes[0]!, 1_000_000), { countTokens: counter });
    expect(most).toBeLessThan(10_000);
  });

  test('random large data comes back whole and no dearer', () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 20, maxLength: 40 }), (items) => {
        const data = Array.from({ length: 200 }, () => items).flat();
        const result = compact(data, { countTokens: o200k });
        expect(o200k(textOf(result))).toBeLessThanOrEqual(o200k(JSON.stringify(data)));
        expect(plain(readCompact(result))).toEqual(plain(data));
      }),
      { numRuns: 10 },
    );
  });
});

describe('the choice', () => {
  test('is named in _meta, beside what the caller puts there', () => {
    const rows = shapes[0]!.make(50);
    expect(formatOf(compact(rows))).toBe('table-tab');
    expect(formatOf(compact({ a: { b: { c: 1 } } }))).toBe('json');
    expect(compact(rows, { _meta: { 'x/a': 1 } })._meta).toEqual({
      'x/a': 1,
      'interlock/compact': { format: 'table-tab' },
    });
    expect(isToolResponse(compact(rows))).toBe(true);
  });

  test('is the cheapest of all notations by the counter that was passed', () => {
    for (const shape of shapes) {
      const data = shape.make(60);
      const costs = FORMATS.flatMap((format) => {
        const text = format.encode(data);
        return text === undefined ? [] : [o200k(text)];
      });
      expect(o200k(textOf(compact(data, { countTokens: o200k })))).toBe(Math.min(...costs));
    }
    const likesLines = (text: string) => 1_000_000 - text.split('\n').length;
    expect(formatOf(compact(shapes[3]!.make(50), { countTokens: likesLines }))).toMatch(/^toon/);
  });

  test('is the same on every call', () => {
    for (const shape of shapes) {
      const [first, second] = [compact(shape.make(80)), compact(shape.make(80))];
      expect(second).toEqual(first);
    }
  });

  test('can be narrowed; JSON always remains', () => {
    const rows = shapes[0]!.make(50);
    expect(formatOf(compact(rows, { formats: ['toon-pipe'] }))).toBe('toon-pipe');
    expect(formatOf(compact(rows, { formats: [] }))).toBe('json');
    expect(caught(() => compact(rows, { formats: ['xml' as never] }))).toMatchObject({ code: 'INVALID_OPTION' });
  });
});

describe('nothing is lost', () => {
  test('any JSON comes back, in whatever notation', () => {
    fc.assert(
      fc.property(json, (data) => {
        const result = compact(data);
        expect(plain(readCompact(result))).toEqual(plain(data));
        expect(textOf(result)).not.toBe('');
        expectAcceptedByBothSdks(result);
      }),
      { numRuns: 500 },
    );
  });

  test.each(hostileValues().map(({ name, value, code }) => [name, value, code] as const))(
    '%s is refused',
    (_name, value, code) => {
      const thrown = caught(() => compact([{ a: 1 }, { a: value }]));
      expect(thrown).toBeInstanceOf(ResponseError);
      expect(thrown).toMatchObject({ code, path: expect.stringMatching(/^\$\[1\]\.a/) });
    },
  );

  test('rows that carry facts beside them are refused', () => {
    const rows = Object.assign([{ id: 1 }], { rowCount: 1 });
    for (const data of [rows, { rows }]) expect(caught(() => compact(data))).toMatchObject({ code: 'NOT_JSON' });
  });

  test('readCompact reads what went over the wire, and refuses what is none', () => {
    const rows = shapes[2]!.make(30);
    expect(readCompact(JSON.parse(JSON.stringify(compact(rows))))).toEqual(rows);
    for (const other of [
      { content: [] },
      { content: [{ text: 'x' }], _meta: { 'interlock/compact': { format: 'zip' } } },
    ]) {
      expect(caught(() => readCompact(other))).toMatchObject({ code: 'INVALID_CONTENT' });
    }
  });
});

/** `-0` is sent as `0`, and `__proto__` is a key like any other. */
function plain(value: unknown): unknown {
  return JSON.stringify(value, (_key, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}
