import { describe, expect, test } from 'vitest';
import { compact, ResponseError, readCompact, structured, text, WHOLE_UP_TO } from '../src/index.js';
import { textOf } from './support/sdk.js';
import { caught } from './support/thrown.js';

/** What a value may turn into after `honest` reads. */
const TURNS: readonly unknown[] = [
  undefined,
  () => 1,
  10n,
  Symbol('s'),
  Number.NaN,
  new Date(0),
  new Map(),
  { toJSON: () => 1 },
  'other',
  2,
];

/** An object whose `a` is 1 the first `honest` times it is read, and something else from then on. */
function liar(kind: 'getter' | 'proxy', honest: number, turn: unknown): object {
  let reads = 0;
  const answer = () => (reads++ < honest ? 1 : turn);
  if (kind === 'proxy') {
    return new Proxy({ a: 1 }, { get: (target, key) => (key === 'a' ? answer() : Reflect.get(target, key)) });
  }
  return {
    get a() {
      return answer();
    },
  };
}

describe.each(['getter', 'proxy'] as const)(
  'a %s that changes its answer between the check and the writing',
  (kind) => {
    const cases = TURNS.flatMap((turn) => [0, 1, 2, 3, 4, 5].map((honest) => [honest, turn] as const));

    test('structured sends what it checked, or refuses', () => {
      for (const [honest, turn] of cases) {
        for (const schema of [undefined, {}]) {
          let result: ReturnType<typeof structured>;
          try {
            result = structured({ value: liar(kind, honest, turn) }, schema ? { schema } : {});
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(ResponseError);
            continue;
          }
          expect([1, 'other', 2]).toContain((result.structuredContent.value as { a: unknown }).a);
          expect(JSON.parse(result.content[0]!.text)).toEqual(result.structuredContent);
        }
      }
    });

    test('compact up to WHOLE_UP_TO too, in whatever notation', () => {
      for (const [honest, turn] of cases) {
        const rows = [{ a: 1 }, { a: 2 }, liar(kind, honest, turn), { a: 3 }];
        let result: ReturnType<typeof compact>;
        try {
          result = compact(rows);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ResponseError);
          continue;
        }
        const read = readCompact(result) as { a: unknown }[];
        expect(read).toHaveLength(4);
        expect([1, 'other', 2]).toContain(read[2]!.a);
      }
    });

    test('_meta is what was checked', () => {
      for (const [honest, turn] of cases) {
        let result: ReturnType<typeof text>;
        try {
          result = text('x', { _meta: { value: liar(kind, honest, turn) } });
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ResponseError);
          continue;
        }
        const { _meta = {} } = result.content[0]!;
        expect([1, 'other', 2]).toContain((_meta.value as { a: unknown }).a);
      }
    });
  },
);

test('each value of a getter is read once, and that is what is sent', () => {
  let reads = 0;
  const data = {
    get count() {
      reads += 1;
      return reads;
    },
  };
  expect(structured(data).structuredContent).toEqual({ count: 1 });
  expect(reads).toBe(1);
});

describe('beyond WHOLE_UP_TO', () => {
  const many = (make: (id: number) => object) => Array.from({ length: 6000 }, (_, id) => make(id));

  test('rows with getters are read once: none of them loses a value later', () => {
    for (const turn of TURNS) {
      const rows = many((id) => {
        let reads = 0;
        return {
          id,
          // Once for the check, a few times for the sample, once for what is sent; it may turn at any of them.
          get name() {
            return reads++ < id % 7 ? 'x' : turn;
          },
        };
      });
      let result: ReturnType<typeof compact>;
      try {
        result = compact(rows);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(ResponseError);
        continue;
      }
      const read = readCompact(result) as { name: unknown }[];
      expect(read).toHaveLength(6000);
      for (const row of read) expect(['x', 'other', 2]).toContain(row.name);
    }
  });

  test('a list that is gone when it is written is missed', () => {
    const lists = [many((id) => ({ id, text: `some text ${id}` })), ['a']];
    let reads = 0;
    const data = new Proxy(
      { total: 6000, nested: { deep: { list: 1 } } },
      {
        get: (target, key) =>
          key === 'nested' ? { deep: { list: lists[reads++ === 0 ? 0 : 1] } } : Reflect.get(target, key),
      },
    );
    expect(caught(() => compact(data, { formats: ['json'] }))).toMatchObject({ code: 'UNREADABLE' });
  });

  test('a table whose cell is no JSON when it is written is refused, not written with a gap', () => {
    for (const turn of [undefined, () => 1, Number.NaN]) {
      const rows: object[] = many((id) => ({ id, a: id % 10, text: `some text ${id}` }));
      expect(JSON.stringify(rows).length).toBeGreaterThan(WHOLE_UP_TO);
      rows[1717] = new Proxy({ id: 1717, a: 1, text: 'x' }, turning(turn));
      expect(caught(() => compact(rows, { formats: ['table-tab'] }))).toMatchObject({ code: 'UNREADABLE' });
    }
  });

  test('JSON stays JSON whatever a proxy says the second time', () => {
    for (const turn of TURNS.filter((value) => typeof value !== 'bigint')) {
      const rows: object[] = many((id) => ({ id, text: `some text ${id}` }));
      rows[1717] = liar('proxy', 1, turn);
      expect(JSON.parse(textOf(compact(rows, { formats: ['json'] })))).toHaveLength(6000);
    }
  });
});

/** The `a` of the target is itself once, and `turn` from then on. */
function turning(turn: unknown): ProxyHandler<object> {
  let reads = 0;
  return { get: (target, key) => (key === 'a' && reads++ > 0 ? turn : Reflect.get(target, key)) };
}
