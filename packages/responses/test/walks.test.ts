import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonCopy } from '../src/json/copy.js';
import { explain } from '../src/json/explain.js';
import { surveyJson } from '../src/json/json.js';
import { ResponseError } from '../src/response-error.js';
import { caught } from './support/thrown.js';
import { deeplyNested, hostileValues } from './support/values.js';

/** The reason why the slow walk refuses; `undefined` if it finds nothing. */
function slow(value: unknown): { code: string; path: string | undefined } | undefined {
  const nothing = new Error('found nothing');
  const { code, path, cause } = explain(value, nothing);
  return cause === nothing ? undefined : { code, path };
}

function outcome(walk: () => unknown): { code: string; path: string | undefined } | undefined {
  try {
    walk();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ResponseError);
    const { code, path } = thrown as ResponseError;
    return { code, path };
  }
  return undefined;
}

/** The fast walk, the copying one and the slow one that names the path. */
function expectAgreement(value: unknown): void {
  const expected = slow(value);
  expect(outcome(() => surveyJson(value))).toEqual(expected);
  expect(outcome(() => jsonCopy(value))).toEqual(expected);
}

class Money {
  cents = 5;
}

/** Beyond the shared hostile values: what only looks like a plain record. */
const disguised: Record<string, unknown> = {
  'a record that inherits data': Object.create({ a: 1 }),
  'a record that inherits from a record': Object.create(Object.create(null, { a: { value: 1, enumerable: true } })),
  'a class instance whose constructor is hidden': Object.assign(new Money(), { constructor: Object }),
  'an old-style class': Object.create({ constructor: Object }),
  'an inherited toJSON': Object.create({ toJSON: () => 1 }),
  'a boxed number': Object(5),
  'a list of a subclass with a field': Object.assign([{ a: 1 }], { count: 1 }),
};

const wrappings: Record<string, (value: unknown) => unknown> = {
  itself: (value) => value,
  'in a record': (value) => ({ a: 1, b: value }),
  'in a list': (value) => [1, value],
  'in a list of texts': (value) => ['a', value],
  'first in a list': (value) => [value, { a: 1 }],
  'in a dictionary': (value) => ({
    ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, i])),
    z: value,
  }),
  'far down': (value) => ({ a: [{ b: { c: [[{ d: value }]] } }] }),
};

describe.each(Object.entries(wrappings))('the three walks agree: %s', (_name, wrap) => {
  test.each(hostileValues().map(({ name, value }) => [name, value] as const))('%s', (_name, value) => {
    expect(slow(wrap(value))).toBeDefined();
    expectAgreement(wrap(value));
  });

  const shallow = Object.entries(disguised).filter(
    ([name]) => !name.startsWith('a list') || _name === 'itself' || _name === 'in a record',
  );
  test.each(shallow)('%s', (_name, value) => {
    expect(slow(wrap(value))).toMatchObject({ code: 'NOT_JSON' });
    expectAgreement(wrap(value));
  });
});

// fast-check looks into what it makes, and a revoked proxy cannot be looked into: it is in the tables above.
const kinds = hostileValues()
  .filter(({ name }) => name !== 'a revoked proxy')
  .map(({ value }) => value);
const hostile = fc.oneof(
  { weight: 20, arbitrary: fc.jsonValue({ stringUnit: 'binary' }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...kinds, ...Object.values(disguised).filter((value) => !Array.isArray(value))),
  },
);

test('the three walks agree on JSON with anything in it', () => {
  const tree = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 5, withCrossShrink: false },
      hostile,
      fc.array(tie('node'), { maxLength: 6 }),
      fc.dictionary(fc.string(), tie('node'), { maxKeys: 6 }),
    ),
  })).node;
  fc.assert(fc.property(tree, expectAgreement), { numRuns: 3000 });
});

test('the three walks agree on anything at all', () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  });
  fc.assert(fc.property(anything, expectAgreement), { numRuns: 3000 });
});

test('depth: 1,000 levels pass, one more does not, and 20,000 are a typed error', () => {
  for (const kind of ['object', 'array'] as const) {
    expectAgreement(deeplyNested(1000, kind));
    expect(slow(deeplyNested(1000, kind))).toBeUndefined();
    for (const levels of [1001, 20_000]) {
      expect(slow(deeplyNested(levels, kind))).toMatchObject({ code: 'TOO_DEEP' });
      expectAgreement(deeplyNested(levels, kind));
    }
  }
});

test('the size is the least that the JSON text can have, and near it', () => {
  const value = fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 });
  fc.assert(
    fc.property(value, (data) => {
      expect(surveyJson(data).size).toBeLessThanOrEqual(JSON.stringify(data).length);
    }),
    { numRuns: 2000 },
  );
  const rows = {
    total: 100,
    rows: Array.from({ length: 100 }, () => ({ name: 'x'.repeat(20), ok: true, none: null })),
  };
  expect(surveyJson(rows).size).toBeGreaterThan(JSON.stringify(rows).length * 0.95);
});

test('a copy is the same data, and shares nothing with it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (data) => {
      const copy = jsonCopy({ data });
      expect(JSON.stringify(copy)).toBe(JSON.stringify({ data }));
      if (typeof data === 'object' && data !== null) expect(copy.data).not.toBe(data);
    }),
  );
  expect(Object.is(jsonCopy(-0), 0)).toBe(true);
  expect(caught(() => jsonCopy({ a: undefined }))).toMatchObject({ code: 'NOT_JSON', path: '$.a' });
});

test('what is too large in sum is refused before it is written', () => {
  const half = 'x'.repeat(70_000_000);
  expect(caught(() => surveyJson({ a: half, b: half }))).toMatchObject({ code: 'TOO_LARGE' });
  expect(caught(() => surveyJson([half, half]))).toMatchObject({ code: 'TOO_LARGE' });
});
