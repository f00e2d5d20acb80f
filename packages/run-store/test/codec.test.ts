import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeValue } from '../src/codec/decode.js';
import { encodeValue } from '../src/codec/encode.js';

function roundTrip(value: unknown): unknown {
  const { format, bytes } = encodeValue(value);
  return decodeValue(format, bytes);
}

/** Own `__proto__`, as JSON.parse makes it. */
const withOwnProto = (value: unknown): object =>
  JSON.parse(`{"__proto__": ${JSON.stringify(value)}, "a": 1}`) as object;

const keptValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.integer({ min: 0xd7ff, max: 0xe000 }).map((code) => String.fromCharCode(code)) }),
    fc.double(),
    fc.constantFrom(
      0,
      -0,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      undefined,
      null,
      true,
      false,
    ),
    fc.bigInt(),
    // An invalid one has a test of its own: Node 20 takes two of them for different.
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ maxLength: 64 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(tie('value'), { maxLength: 4 }).map((values) => new Set(values)),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc
      .array(
        fc.tuple(fc.oneof(fc.string(), fc.constantFrom('$:', 'v', 'toJSON', '__proto__', 'constructor')), tie('value')),
      )
      .map((entries) => {
        const record = {};
        for (const [key, value] of entries) {
          Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
        }
        return record;
      }),
  ),
})).value;

describe('a stored state', () => {
  it('comes back as it went in, whatever plain data it holds', () => {
    fc.assert(
      fc.property(keptValue, (value) => {
        expect(isDeepStrictEqual(roundTrip(value), value)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['a Date', new Date(12)],
    ['an invalid Date', new Date(Number.NaN)],
    ['a BigInt', -(2n ** 70n)],
    ['undefined in an object', { a: undefined }],
    ['undefined in an array', [undefined, 1]],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['-0', -0],
    ['a Map', new Map<unknown, unknown>([[{ a: 1 }, new Map([[1n, undefined]])]])],
    ['a Set', new Set([Number.NaN, 'a', new Set()])],
    ['bytes', new Uint8Array([0, 255, 1])],
    ['no bytes', [new Uint8Array(), new Uint8Array([1])]],
    ['a lone surrogate', ['\ud800', { '\udfff': 'a\u0000b' }]],
    ['an own __proto__', withOwnProto({ polluted: true })],
    ['an own __proto__ beside a Date', { d: new Date(1), p: withOwnProto({ x: 1 }) }],
    ['a key that looks like ours', { '$:': 'date', v: 5 }],
    ['a key that looks like ours around a Date', { '$:': new Date(5), v: { '$:': 'undefined' } }],
  ])('keeps %s', (_, value) => {
    const back = roundTrip({ value });
    expect(back).toStrictEqual({ value });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('keeps an own __proto__ an own property', () => {
    const back = roundTrip({ p: withOwnProto({ x: new Date(0).getTime() }), d: 1n }) as { p: object };
    expect(Object.hasOwn(back.p, '__proto__')).toBe(true);
    expect(Object.getPrototypeOf(back.p)).toBe(Object.prototype);
  });

  it('is plain JSON where JSON loses nothing', () => {
    const { format, bytes } = encodeValue({ a: [1, 'é', null, { b: false }] });
    expect(format).toBe('json');
    expect(new TextDecoder().decode(bytes)).toBe('{"a":[1,"é",null,{"b":false}]}');
  });

  it('is not changed by being stored', () => {
    const inner = { d: new Date(1), list: [undefined] };
    const state = { inner };
    encodeValue(state);
    expect(state).toStrictEqual({ inner: { d: new Date(1), list: [undefined] } });
    expect(state.inner).toBe(inner);
  });

  it('may hold one object twice, but not itself', () => {
    const shared = { a: 1 };
    expect(roundTrip([shared, shared])).toEqual([shared, shared]);
  });

  class Account {
    id = 1;
  }
  const cycle: { deep: { list: unknown[] } } = { deep: { list: [] } };
  cycle.deep.list.push(0, cycle.deep);
  const deepest = (levels: number): unknown => (levels === 0 ? 1 : [deepest(levels - 1)]);

  it.each([
    ['a function', { tools: [{ run: () => 1 }] }, 'state.tools[0].run', 'function'],
    ['a symbol', { a: { 'b c': Symbol('s') } }, 'state.a["b c"]', 'symbol'],
    ['a symbol as a key', { a: { [Symbol('s')]: 1 } }, 'state.a', 'symbol'],
    ['a class instance', { user: new Account() }, 'state.user', 'Account'],
    ['an error', [new Error('x')], 'state[0]', 'Error'],
    ['a regular expression', new Map([['re', /x/]]), 'state.re', 'RegExp'],
    ['a typed array of another width', { a: new Float32Array(1) }, 'state.a', 'Float32Array'],
    ['a boxed number', { a: Object(1) as object }, 'state.a', 'Number'],
    ['a cycle', cycle, 'state.deep.list[1]', 'contains itself'],
    ['an array with named properties', { hit: 'abc'.match(/b/) }, 'state.hit', 'named properties'],
    ['too deep a nesting', deepest(500), 'state', 'nested deeper'],
    ['a subclass of Map', new (class Registry extends Map<string, number> {})(), 'state', 'Registry'],
  ])('refuses %s and names its path', (_, value, path, reason) => {
    expect(() => encodeValue({ state: value })).toThrow(
      expect.objectContaining({
        code: 'STATE_NOT_SERIALIZABLE',
        path: expect.toSatisfy((named: string) => named.startsWith(path) && !named.startsWith('state.state')),
        message: expect.stringContaining(reason),
      }),
    );
  });

  it('keeps holes of an array as undefined', () => {
    // biome-ignore lint/suspicious/noSparseArray: it is what is tried.
    expect(roundTrip([1, , 3])).toStrictEqual([1, undefined, 3]);
  });
});

describe('bytes that were not written by us', () => {
  it.each([
    ['text that is not JSON', 'json', new TextEncoder().encode('{"a":')],
    ['text that is not UTF-8', 'json', new Uint8Array([0x22, 0xff, 0x22])],
    ['no length', 'tagged', new Uint8Array([0, 0])],
    ['a length beyond the end', 'tagged', new Uint8Array([0, 0, 0, 9, 0x31])],
  ] as const)('are refused as corrupt: %s', (_, format, bytes) => {
    expect(() => decodeValue(format, bytes)).toThrow(expect.objectContaining({ code: 'RUN_CORRUPT' }));
  });

  it.each([
    '{"$:":"bytes","v":[0,99]}',
    '{"$:":"bytes","v":[-1,1]}',
    '{"$:":"bigint","v":"1e9"}',
    '{"$:":"date","v":"today"}',
    '{"$:":"map","v":[[1]]}',
    '{"$:":"set","v":{}}',
    '{"$:":"number","v":"12"}',
    '{"$:":"object","v":null}',
    `${'['.repeat(5000)}${']'.repeat(5000)}`,
  ])('are refused as corrupt: %.40s', (text) => {
    const json = new TextEncoder().encode(text);
    const bytes = new Uint8Array([0, 0, json.length >> 8, json.length & 255, ...json]);
    expect(() => decodeValue('tagged', bytes)).toThrow(expect.objectContaining({ code: 'RUN_CORRUPT' }));
  });

  it('are refused as unknown when they hold a newer kind of value', () => {
    const json = new TextEncoder().encode('{"$:":"temporal","v":1}');
    const bytes = new Uint8Array([0, 0, 0, json.length, ...json]);
    expect(() => decodeValue('tagged', bytes)).toThrow(expect.objectContaining({ code: 'RUN_VERSION_UNKNOWN' }));
  });
});
