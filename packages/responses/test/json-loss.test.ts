import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ResponseError, structured } from '../src/index.js';
import { expectAcceptedByBothSdks } from './support/sdk.js';
import { caught } from './support/thrown.js';
import { deeplyNested, hostileValues } from './support/values.js';

describe('structured refuses what JSON would lose or change, and says where', () => {
  test.each(hostileValues().map(({ name, value, code }) => [name, value, code] as const))(
    '%s',
    (_name, value, code) => {
      const thrown = caught(() => structured({ deep: [{ x: value }] }));
      expect(thrown).toBeInstanceOf(ResponseError);
      expect(thrown).toMatchObject({ code });
      expect((thrown as ResponseError).path).toMatch(/^\$\.deep\[0\]\.x/);
    },
  );

  test('20,000 levels', () => {
    expect(caught(() => structured(deeplyNested(20_000)))).toMatchObject({ code: 'TOO_DEEP' });
    expect(caught(() => structured({ a: deeplyNested(20_000, 'array') }))).toMatchObject({ code: 'TOO_DEEP' });
    expectAcceptedByBothSdks(structured(deeplyNested(900)));
  });

  test('data that repeats itself into the billions', () => {
    let value: unknown = 'x';
    for (let i = 0; i < 40; i++) value = [value, value];
    expect(caught(() => structured({ value }))).toMatchObject({ code: 'TOO_LARGE' });
  });

  test('hundred megabytes are carried', () => {
    const huge = 'x'.repeat(100_000_000);
    expect(structured({ huge }).structuredContent.huge).toHaveLength(100_000_000);
  });

  test('what a regular expression matched, wherever it is', () => {
    const match = /(?<day>\d+)/.exec('day 12')!;
    expect(caught(() => structured({ a: { b: { c: { match } } } }))).toMatchObject({
      code: 'NOT_JSON',
      path: '$.a.b.c.match',
    });
    expectAcceptedByBothSdks(structured({ match: [...match] }));
  });

  test('keys that are no words are quoted in the path', () => {
    expect(caught(() => structured({ 'a b': { '': [undefined] } }))).toMatchObject({ path: '$["a b"][""][0]' });
  });
});

test('any JSON object comes through as it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })), (data) => {
      const result = structured(data);
      const sent = JSON.parse(JSON.stringify(data));
      expect(result.structuredContent).toEqual(sent);
      expect(JSON.parse(result.content[0]!.text)).toEqual(sent);
      expectAcceptedByBothSdks(result);
    }),
  );
});

test('anything at all is carried faithfully or refused with a typed error', () => {
  fc.assert(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withSparseArray: true,
        withNullPrototype: true,
      }),
      (value) => {
        let result: ReturnType<typeof structured>;
        try {
          result = structured({ value });
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ResponseError);
          return;
        }
        expectAcceptedByBothSdks(result);
        expect(withoutNegativeZero(result.structuredContent)).toEqual(withoutNegativeZero({ value }));
      },
    ),
    { numRuns: 1000 },
  );
});

test('what is sent does not change with the data afterwards', () => {
  let reads = 0;
  const data = {
    list: [1],
    get counter() {
      reads += 1;
      return reads;
    },
  };
  const result = structured(data);
  data.list.push(2);
  expect(JSON.parse(result.content[0]!.text)).toEqual(result.structuredContent);
  expect(result.structuredContent.list).toEqual([1]);
});

/** `-0` is sent as `0`. */
function withoutNegativeZero(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
