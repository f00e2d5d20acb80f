import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { error, escapeXml, escapeXmlAttr, parseToolError, required, toolError } from '../src/index.js';
import { textOf } from './support/sdk.js';
import { childText, parseXml } from './support/xml.js';

/** Strings that are out to break XML: markup, control characters, lone surrogates, and any code unit at all. */
const hostile = fc.oneof(
  fc.string({
    unit: fc.constantFrom(
      '<',
      '>',
      '&',
      '"',
      "'",
      ']',
      '</message>',
      '<![CDATA[',
      '&amp;',
      '-->',
      '\u0000',
      '\uD800',
      '\uDC00',
      '\n',
      '\r',
      '\t',
      ' ',
      'a',
      '\uFFFE',
      '😀',
      '\u0085',
    ),
  }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
  fc.string({ unit: 'binary' }),
);

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML forbids.
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uD800-\uDFFF\uFFFE\uFFFF]/gu;

/** What XML 1.0 lets through of a string. */
const permitted = (text: string) => text.replace(FORBIDDEN, '\uFFFD');

/** The same in element content, where a parser also turns line ends into `\n`. */
const inElement = (text: string) => permitted(text).replace(/\r\n?/g, '\n');

describe('escaping', () => {
  test('keeps what models read well, escapes what XML demands', () => {
    expect(escapeXml(`a < b && c > d, "q" 'r'`)).toBe(`a &lt; b &amp;&amp; c > d, "q" 'r'`);
    expect(escapeXml('x]]>y')).toBe('x]]&gt;y');
    expect(escapeXmlAttr(`<&>"'`)).toBe('&lt;&amp;&gt;&quot;&apos;');
    expect(escapeXml('\u0000\uD800ok\uFFFF')).toBe('\uFFFD\uFFFDok\uFFFD');
  });

  test('any string comes back from a real parser', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(parseXml(`<a>${escapeXml(text)}</a>`).text).toBe(inElement(text));
        for (const quote of ['"', "'"]) {
          expect(parseXml(`<a b=${quote}${escapeXmlAttr(text)}${quote}/>`).attributes.b).toBe(permitted(text));
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('errors made of any strings', () => {
  const options = fc.record(
    {
      message: hostile,
      suggestion: hostile,
      availableActions: fc.array(hostile, { maxLength: 5 }),
      severity: fc.constantFrom('warning' as const, 'error' as const, 'critical' as const),
      details: fc.dictionary(hostile, hostile, { maxKeys: 5 }),
      retryAfter: fc.double(),
    },
    { requiredKeys: ['message'] },
  );

  test('are well-formed, and nothing closes an element early', () => {
    fc.assert(
      fc.property(hostile, options, (code, given) => {
        const root = parseXml(textOf(toolError(code, given)));
        expect(root.name).toBe('tool_error');
        expect(root.attributes).toEqual({
          ...(code ? { code: permitted(code) } : {}),
          severity: given.severity ?? 'error',
        });
        expect(childText(root, 'message')).toBe(inElement(given.message));
        if (given.suggestion) expect(childText(root, 'recovery')).toBe(inElement(given.suggestion));
        const actions = root.children.find((child) => child.name === 'available_actions');
        expect(actions?.children.map((child) => child.text) ?? []).toEqual(
          (given.availableActions ?? []).map(inElement),
        );
        const details = root.children.find((child) => child.name === 'details');
        expect(details?.children.map((child) => [child.attributes.key, child.text]) ?? []).toEqual(
          Object.entries(given.details ?? {}).map(([key, value]) => [permitted(key), inElement(value)]),
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('stay well-formed when they are shortened', () => {
    fc.assert(
      fc.property(hostile, options, fc.integer({ min: 120, max: 2000 }), (code, given, maxChars) => {
        const long = { ...given, message: given.message.repeat(50), maxChars };
        const text = textOf(toolError(code, long));
        expect(parseXml(text).name).toBe('tool_error');
      }),
    );
  });

  test('come back whole through their twin', () => {
    fc.assert(
      fc.property(hostile, options, (code, given) => {
        const parsed = parseToolError(toolError(code, given));
        expect(parsed?.code ?? '').toBe(code);
        expect(parsed?.message).toBe(given.message);
        expect(parsed?.suggestion ?? '').toBe(given.suggestion ?? '');
        expect(parsed?.availableActions).toEqual(given.availableActions ?? []);
        expect(Object.entries(parsed?.details ?? {})).toEqual(Object.entries(given.details ?? {}));
      }),
    );
  });

  test('come back from the text alone as XML lets them', () => {
    fc.assert(
      fc.property(hostile, options, (code, given) => {
        const { _meta, ...textOnly } = toolError(code, given);
        const parsed = parseToolError(textOnly);
        expect(parsed?.code ?? '').toBe(permitted(code));
        expect(parsed?.message).toBe(permitted(given.message));
        expect(parsed?.availableActions).toEqual((given.availableActions ?? []).map(permitted));
      }),
    );
  });

  test('the short forms are well-formed too', () => {
    fc.assert(
      fc.property(hostile, hostile, (message, code) => {
        expect(childText(parseXml(textOf(error(message, code))), 'message')).toBe(inElement(message));
        expect(childText(parseXml(textOf(required(message))), 'message')).toBe(`Error: ${inElement(message)} required`);
      }),
    );
  });
});
