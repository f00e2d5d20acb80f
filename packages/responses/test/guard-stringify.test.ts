import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FallbackReason, guardStringify, success } from '../src/index.js';
import { textOf } from './support/sdk.js';

/** Lists only `id`, as a serialiser compiled for that schema. */
const onlyId = (value: unknown) => JSON.stringify({ id: (value as { id: number }).id });

function guarded(compiled: (value: unknown) => string, unlistedFields?: 'keep' | 'drop') {
  const reasons: FallbackReason[] = [];
  const stringify = guardStringify(compiled, {
    ...(unlistedFields ? { unlistedFields } : {}),
    onFallback: (reason) => reasons.push(reason),
  });
  return { stringify, reasons };
}

describe('guardStringify', () => {
  test('uses the compiled serialiser where it says the same', () => {
    const { stringify, reasons } = guarded((value) => ` ${JSON.stringify(value)}`);
    expect(stringify({ id: 1, at: new Date(0), none: undefined })).toBe(' {"id":1,"at":"1970-01-01T00:00:00.000Z"}');
    expect(reasons).toEqual([]);
  });

  test('falls back when it throws, and tells', () => {
    const cause = new Error('NaN');
    const { stringify, reasons } = guarded(() => {
      throw cause;
    });
    expect(stringify({ n: Number.NaN })).toBe('{"n":null}');
    expect(reasons).toEqual([{ kind: 'threw', cause }]);
  });

  test('falls back when it gives no JSON', () => {
    for (const output of [undefined, 5, '{', 'NaN']) {
      const { stringify, reasons } = guarded(() => output as string);
      expect(stringify({ a: 1 })).toBe('{"a":1}');
      expect(reasons).toEqual([{ kind: 'not-json', output }]);
    }
  });

  test('never drops a field unseen', () => {
    const { stringify, reasons } = guarded(onlyId);
    expect(stringify({ id: 1, user: { name: 'Ann' } })).toBe('{"id":1,"user":{"name":"Ann"}}');
    expect(reasons).toEqual([{ kind: 'lost', path: '$.user' }]);
  });

  test('unless it is told that dropping is meant', () => {
    const { stringify, reasons } = guarded(onlyId, 'drop');
    expect(stringify({ id: 1, secret: 'x' })).toBe('{"id":1}');
    expect(reasons).toEqual([]);
  });

  test('even then a changed value is a loss', () => {
    const { stringify, reasons } = guarded(() => '{"id":"1","list":[1]}', 'drop');
    expect(stringify({ id: 1 })).toBe('{"id":1}');
    expect(stringify({ id: '1', list: [1, 2] })).toBe('{"id":"1","list":[1,2]}');
    expect(reasons).toEqual([
      { kind: 'lost', path: '$.id' },
      { kind: 'lost', path: '$.list' },
    ]);
  });

  test('a listener that throws does not cost the text', () => {
    const stringify = guardStringify(onlyId, {
      onFallback: () => {
        throw new Error('disk full');
      },
    });
    expect(stringify({ id: 1, a: 2 })).toBe('{"id":1,"a":2}');
  });

  test('works in success', () => {
    expect(textOf(success({ id: 1, name: 'x' }, guardStringify(onlyId)))).toBe('{"id":1,"name":"x"}');
  });

  test('whatever the serialiser does, the text is the data', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.anything(), (value, output) => {
        expect(JSON.parse(guardStringify(() => output as string)(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
