import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serializeToolResult } from '../../src/index.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const result = (...content: unknown[]) => ({ content });

describe('a tool result as text', () => {
  test('text blocks are joined', () => {
    expect(serializeToolResult(result({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }))).toBe('a\nb');
  });

  test('text is handed on as it is, invisible characters included: the model may have to find it again', () => {
    const text = '\ufeffa\u00adb\u001b[31mc\f';
    expect(serializeToolResult(result({ type: 'text', text }))).toBe(text);
  });

  test('images and audio are named with type and size, never as base64', () => {
    const text = serializeToolResult(
      result(
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      ),
    );
    expect(text).toBe('[image: image/png, 70 B]\n[audio: audio/wav, 3 B]');
    expect(text).not.toContain(PNG.slice(0, 12));
  });

  test('resources give their text, or the size of their bytes, and links their URI', () => {
    const text = serializeToolResult(
      result(
        { type: 'resource', resource: { uri: 'file:///a.txt', text: 'hello' } },
        { type: 'resource', resource: { uri: 'file:///b.bin', blob: 'A'.repeat(4_000), mimeType: 'application/zip' } },
        { type: 'resource_link', uri: 'file:///c', name: 'c', mimeType: 'text/plain', size: 2_048 },
      ),
    );
    expect(text.split('\n')).toEqual([
      '[resource file:///a.txt]',
      'hello',
      '[resource file:///b.bin: application/zip, 2.9 KiB]',
      '[link file:///c: c, text/plain, 2 KiB]',
    ]);
  });

  test('an error says so, once', () => {
    expect(serializeToolResult({ isError: true, ...result({ type: 'text', text: 'no such file' }) })).toBe(
      'Error: no such file',
    );
    expect(serializeToolResult({ isError: true, ...result({ type: 'text', text: 'Error: gone' }) })).toBe(
      'Error: gone',
    );
    expect(serializeToolResult({ isError: true, content: [] })).toMatch(/^Error: /);
  });

  test('a result with structured content only is its JSON', () => {
    expect(JSON.parse(serializeToolResult({ structuredContent: { sum: 3 } }))).toEqual({ sum: 3 });
    expect(JSON.parse(serializeToolResult({ content: [], structuredContent: { sum: 3 } }))).toEqual({ sum: 3 });
  });

  test('base64 hidden in structured content, or in a block of an unknown type, is not text either', () => {
    const data = PNG.replace('==', '').repeat(20);
    expect(serializeToolResult({ structuredContent: { screenshot: `data:image/png;base64,${data}` } })).toMatch(
      /\[base64, .* KiB\]/,
    );
    expect(serializeToolResult(result({ type: 'hologram', data }))).not.toContain(PNG.slice(0, 12));
  });

  test('what is asked for is said when a result needs input', () => {
    const value = {
      resultType: 'input_required',
      inputRequests: { a: { method: 'elicitation/create', params: { message: 'Which?' } } },
    };
    expect(serializeToolResult(value)).toContain('- Which?');
  });

  test.each([
    [undefined, '(no result)'],
    ['', '(empty result)'],
    [{ content: [] }, '(empty result)'],
    ['plain', 'plain'],
    [null, 'null'],
    [7n, '"7"'],
    [{ n: 7n }, '{\n  "n": "7"\n}'],
  ])('%o is %j', (value, text) => {
    expect(serializeToolResult(value)).toBe(text);
  });

  test('cycles, maps, errors and getters that throw are written as such', () => {
    const cyclic: Record<string, unknown> = { name: 'a', map: new Map([['k', new Set([1])]]), error: new Error('bad') };
    cyclic.self = cyclic;
    Object.defineProperty(cyclic, 'broken', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(JSON.parse(serializeToolResult(cyclic))).toEqual({
      name: 'a',
      map: { k: [1] },
      error: { name: 'Error', message: 'bad' },
      self: '[cycle]',
      broken: '[cannot be read]',
    });
  });

  test('the same object twice is no cycle', () => {
    const shared = { a: 1 };
    expect(serializeToolResult([shared, shared])).not.toContain('cycle');
  });

  test('it never throws, whatever comes back', () => {
    const block = fc.record(
      { type: fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'x') },
      { requiredKeys: [] },
    );
    const value = fc.oneof(
      fc.anything({ withBigInt: true, withMap: true, withSet: true, withTypedArray: true, withNullPrototype: true }),
      fc.record(
        { content: fc.array(fc.oneof(fc.anything(), block)), isError: fc.anything(), structuredContent: fc.anything() },
        { requiredKeys: [] },
      ),
    );
    fc.assert(fc.property(value, (input) => typeof serializeToolResult(input) === 'string'));
  });
});
