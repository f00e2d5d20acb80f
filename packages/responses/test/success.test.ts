import { describe, expect, test } from 'vitest';
import { isToolResponse, ResponseError, success, TOOL_RESPONSE_BRAND } from '../src/index.js';
import { expectAcceptedByBothSdks, textOf } from './support/sdk.js';

describe('success', () => {
  test('answers with a string as it stands', () => {
    expect(success('Project created')).toEqual({ content: [{ type: 'text', text: 'Project created' }] });
    expect(textOf(success('  '))).toBe('  ');
    expect(success('x').isError).toBeUndefined();
  });

  test('answers OK where there is nothing to say', () => {
    for (const nothing of ['', undefined, () => 1, Symbol('s'), { toJSON: () => undefined }]) {
      expect(textOf(success(nothing))).toBe('OK');
      expectAcceptedByBothSdks(success(nothing));
    }
  });

  test('answers with pretty JSON for everything else, with the semantics of JSON', () => {
    const data = { id: '1', tags: ['a'], none: undefined, when: new Date(0), map: new Map([[1, 2]]), nan: Number.NaN };
    expect(textOf(success(data))).toBe(JSON.stringify(data, null, 2));
    expect(textOf(success(null))).toBe('null');
    expect(textOf(success([]))).toBe('[]');
    expect(textOf(success(0))).toBe('0');
    expect(textOf(success(false))).toBe('false');
  });

  test('uses a compiled serialiser for data, never for strings', () => {
    const compiled = (value: unknown) => `compiled ${JSON.stringify(value)}`;
    expect(textOf(success({ a: 1 }, compiled))).toBe('compiled {"a":1}');
    expect(textOf(success('a', compiled))).toBe('a');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('boom');
      },
    ],
    ['returns no text', () => undefined as never],
  ])('says which serialiser is to blame when it %s', (_name, compiled) => {
    expect(() => success({ a: 1 }, compiled)).toThrow(expect.objectContaining({ code: 'SERIALIZER_FAILED' }));
  });

  test('names the place of what JSON cannot carry', () => {
    const cycle: Record<string, unknown> = { list: [{}] };
    (cycle.list as Record<string, unknown>[])[0]!.back = cycle;
    const cases: [unknown, string, string][] = [
      [{ a: [1, { 'b c': 1n }] }, 'NOT_JSON', '$.a[1]["b c"]'],
      [cycle, 'NOT_JSON', '$.list[0].back'],
      [
        {
          get broken(): never {
            throw new Error('no');
          },
        },
        'UNREADABLE',
        '$.broken',
      ],
      [
        {
          inner: {
            toJSON: () => {
              throw new Error('no');
            },
          },
        },
        'UNREADABLE',
        '$.inner',
      ],
    ];
    for (const [data, code, path] of cases) {
      const thrown = caught(() => success(data));
      expect(thrown).toBeInstanceOf(ResponseError);
      expect(thrown).toMatchObject({ code, path });
      expect((thrown as Error).message).toContain(path);
      expect((thrown as Error).cause).toBeDefined();
    }
  });
});

describe('the brand', () => {
  test('is on every result, out of sight', () => {
    const result = success('x');
    expect(Reflect.get(result, TOOL_RESPONSE_BRAND)).toBe(true);
    expect(Object.getOwnPropertyDescriptor(result, TOOL_RESPONSE_BRAND)?.enumerable).toBe(false);
    expect(Object.keys(result)).toEqual(['content']);
    expect(JSON.stringify(result)).toBe('{"content":[{"type":"text","text":"x"}]}');
  });

  test('is recognised across copies of the package and lost on a copy of the result', () => {
    expect(Symbol.for('interlock:tool-response')).toBe(TOOL_RESPONSE_BRAND);
    expect(isToolResponse(success('x'))).toBe(true);
    expect(isToolResponse({ ...success('x') })).toBe(false);
    expect(isToolResponse(structuredClone(success('x')))).toBe(false);
    expect(isToolResponse({ content: [{ type: 'text', text: 'x' }] })).toBe(false);
  });

  test('can be asked of anything', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const value of [null, undefined, 'x', 1, proxy]) expect(isToolResponse(value)).toBe(false);
  });
});

function caught(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
