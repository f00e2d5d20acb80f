import { decode } from '@toon-format/toon';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isToolResponse, toonSuccess } from '../src/index.js';
import { expectAcceptedByBothSdks, textOf } from './support/sdk.js';

describe('toonSuccess', () => {
  const rows = [
    { id: 1, name: 'Alice' },
    { id: 2, name: 'Bo' },
  ];

  test('divides columns by a pipe unless told otherwise', () => {
    expect(textOf(toonSuccess(rows))).toBe('[2|]{id|name}:\n  1|Alice\n  2|Bo');
    expect(textOf(toonSuccess(rows, { delimiter: ',' }))).toBe('[2]{id,name}:\n  1,Alice\n  2,Bo');
    expect(isToolResponse(toonSuccess(rows))).toBe(true);
  });

  test('sends JSON where TOON is empty or refuses', () => {
    expect(textOf(toonSuccess({}))).toBe('{}');
    expect(textOf(toonSuccess({ a: '\uD800' }))).toBe('{"a":"\\ud800"}');
    expect(textOf(toonSuccess([1], { delimiter: ';' as never }))).toBe('[1]');
    expect(textOf(toonSuccess(undefined))).toBe('OK');
  });

  test('says where a cycle is', () => {
    const cycle: Record<string, unknown> = {};
    cycle.me = cycle;
    expect(() => toonSuccess(cycle)).toThrow(expect.objectContaining({ code: 'NOT_JSON', path: '$.me' }));
  });

  test('takes what TOON takes: BigInt and Date', () => {
    expect(textOf(toonSuccess({ n: 10n, at: new Date(0) }))).toBe('n: 10\nat: "1970-01-01T00:00:00.000Z"');
  });

  test('any JSON comes back, and is accepted by both SDKs', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const result = toonSuccess(value);
        expectAcceptedByBothSdks(result);
        const text = textOf(result);
        const back = text === '{}' ? {} : text === 'OK' ? undefined : decodeOrParse(text);
        expect(back).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

function decodeOrParse(text: string): unknown {
  try {
    return decode(text);
  } catch {
    return JSON.parse(text);
  }
}
