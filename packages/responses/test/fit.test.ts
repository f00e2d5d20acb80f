import fc from 'fast-check';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import {
  type AnyToolResult,
  compact,
  embeddedResource,
  estimateTokens,
  fit,
  hostLimits,
  image,
  isToolResponse,
  mix,
  paginate,
  parseToolError,
  readCompact,
  resourceLink,
  structured,
  success,
  text,
  toolError,
  toonSuccess,
} from '../src/index.js';
import { expectAcceptedByBothSdks } from './support/sdk.js';
import { shapes } from './support/shapes.js';
import { caught } from './support/thrown.js';
import { parseXml } from './support/xml.js';

const rows = shapes[0]!.make(500) as { id: number }[];
const textsOf = (result: AnyToolResult) =>
  result.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
const charsOf = (result: AnyToolResult) => textsOf(result).join('').length;

describe('fit', () => {
  test('leaves alone what fits', () => {
    const result = success({ a: 1 });
    expect(fit(result, { maxChars: 500 })).toBe(result);
  });

  test('writes pretty JSON compactly first: then nothing may have to go', () => {
    const data = rows.slice(0, 20);
    const limit = JSON.stringify(data).length + 10;
    const result = fit(success(data), { maxChars: Math.max(200, limit) });
    expect(textsOf(result)).toEqual([JSON.stringify(data)]);
  });

  test('cuts JSON between items, and says how much is missing and how to get it', () => {
    const result = fit(success(rows), { maxTokens: 1000, more: ({ shown }) => `call again with {"offset": ${shown}}` });
    const [json, note] = textsOf(result);
    const kept = JSON.parse(json!) as unknown[];
    expect(kept).toEqual(rows.slice(0, kept.length));
    expect(kept.length).toBeGreaterThan(20);
    expect(note).toBe(
      `[${kept.length} of 500 items shown, ${500 - kept.length} left out. To get the rest: call again with {"offset": ${kept.length}}.]`,
    );
    expect(result._meta?.['interlock/fit']).toEqual({
      omissions: [{ path: '$', unit: 'items', shown: kept.length, total: 500 }],
    });
    expect(estimateTokens(json!) + estimateTokens(note!)).toBeLessThanOrEqual(1000);
    expect(isToolResponse(result)).toBe(true);
    expectAcceptedByBothSdks(result);
  });

  test('keeps as much as there is room for', () => {
    const result = fit(success(rows), { maxChars: 5000 });
    expect(charsOf(result)).toBeGreaterThan(4800);
    expect(charsOf(result)).toBeLessThanOrEqual(5000);
  });

  test('cuts the largest list of an object and leaves the rest', () => {
    const data = { query: 'late', total: 500, page: { hits: rows }, tags: ['a', 'b'] };
    const [json, note] = textsOf(fit(success(data), { maxChars: 3000 }));
    const kept = JSON.parse(json!) as typeof data;
    expect(kept).toEqual({ ...data, page: { hits: rows.slice(0, kept.page.hits.length) } });
    expect(note).toContain('items of page.hits shown');
  });

  test.each([
    ['compact', compact(rows)],
    ['TOON', toonSuccess(rows)],
  ])('cuts %s between rows, and it still decodes', (_name, full) => {
    const result = fit(full, { maxTokens: 800 });
    const [body, note] = textsOf(result);
    expect(note).toMatch(/of 500 items shown/);
    if (_name === 'compact') {
      const kept = readCompact(result) as unknown[];
      expect(kept.length).toBeGreaterThan(20);
      expect(kept).toEqual(rows.slice(0, kept.length));
    } else {
      const count = Number(/^\[(\d+)\|\]/.exec(body!)?.[1]);
      expect(body!.split('\n')).toHaveLength(count + 1);
    }
    expectAcceptedByBothSdks(result);
  });

  test('cuts structuredContent with its text: both tell the same', () => {
    const result = fit(structured({ items: rows }), { maxTokens: 800 });
    const kept = JSON.parse(textsOf(result)[0]!) as { items: unknown[] };
    expect(kept.items.length).toBeGreaterThan(5);
    expect(result.structuredContent).toEqual(kept);
    expectAcceptedByBothSdks(result);
  });

  test('cuts structuredContent that no text repeats', () => {
    const byHand = { content: [{ type: 'text' as const, text: 'See the data.' }], structuredContent: { items: rows } };
    const result = fit(byHand, { maxChars: 2000 });
    expect(JSON.stringify(result.structuredContent).length).toBeLessThanOrEqual(2000);
    expect(textsOf(result)[0]).toBe('See the data.');
    expect(textsOf(result)[1]).toContain('items of items shown');
    expectAcceptedByBothSdks(result);
  });

  test('shortens long texts in data once no list is left to cut, then fields', () => {
    const [json, note] = textsOf(fit(success({ id: 1, body: 'word '.repeat(5000) }), { maxChars: 1000 }));
    expect(JSON.parse(json!)).toMatchObject({ id: 1, body: expect.stringMatching(/characters left out\]$/) });
    expect(note).toContain('1 long texts are shortened');
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`key${i}`, i]));
    const [fields, fieldNote] = textsOf(fit(success(many), { maxChars: 1000 }));
    expect(Object.keys(JSON.parse(fields!)).length).toBeGreaterThan(20);
    expect(fieldNote).toContain('of 2000 fields shown');
  });

  test('cuts prose between paragraphs, lines or words', () => {
    const paragraph = `${'Some words that make a sentence. '.repeat(8).trim()}\n\n`;
    const [prose, note] = textsOf(fit(success(paragraph.repeat(50)), { maxChars: 2000 }));
    expect(paragraph.repeat(50).startsWith(prose!)).toBe(true);
    expect(prose!.endsWith('sentence.')).toBe(true);
    expect(note).toMatch(/^\[\d+ of \d+ characters shown/);
  });

  test('never cuts a character in two, and closes an open code fence', () => {
    for (const unit of ['👨‍👩‍👧', 'e\u0301', '👍🏽', '😀']) {
      for (let limit = 200; limit < 212; limit++) {
        const [cut] = textsOf(fit(success(unit.repeat(500)), { maxChars: limit }));
        expect(cut!.length % unit.length).toBe(0);
      }
    }
    const [code] = textsOf(fit(success(`\`\`\`ts\n${'const a = 1;\n'.repeat(100)}\`\`\`\n`), { maxChars: 500 }));
    expect(code!.endsWith('\n```')).toBe(true);
  });

  test('cuts the largest of several texts and keeps the others', () => {
    const result = fit(mix('intro', success(rows), text('outro')), { maxChars: 3000 });
    const texts = textsOf(result);
    expect(texts[0]).toBe('intro');
    expect(texts.at(-1)).toBe('outro');
    expect(JSON.parse(texts[1]!).length).toBeGreaterThan(5);
    const twoLarge = fit(mix(success(rows), success(rows)), { maxChars: 3000 });
    expect(charsOf(twoLarge)).toBeLessThanOrEqual(3000);
  });

  test('drops the last of many small blocks', () => {
    const result = fit(mix(...Array.from({ length: 100 }, (_, i) => `part ${i} of the story`)), { maxChars: 500 });
    expect(textsOf(result)[0]).toBe('part 0 of the story');
    expect(textsOf(result).at(-1)).toMatch(/^\[\d+ of 100 parts shown, \d+ left out\. /);
    expect(charsOf(result)).toBeLessThanOrEqual(500);
  });

  test('replaces binary content that is too large with what it was', () => {
    const result = fit(mix('chart:', image(new Uint8Array(3000), 'image/png')), { maxBytes: 2000 });
    expect(textsOf(result)).toEqual(['chart:', '[image (image/png) of 3000 bytes left out]']);
    expect(fit(image(new Uint8Array(3000), 'image/png'), { maxTokens: 100 }).content[0]!.type).toBe('image');
  });

  test('cuts the text of an embedded resource in place', () => {
    const result = fit(embeddedResource({ uri: 'file:///log.txt', text: 'line\n'.repeat(1000) }), { maxChars: 800 });
    const [block] = result.content;
    expect(block).toMatchObject({
      type: 'resource',
      resource: { uri: 'file:///log.txt', text: expect.stringMatching(/^(line\n)+line$/) },
    });
  });
});

describe('what would otherwise slip through', () => {
  test('the title of a link counts as any other text', () => {
    const link = resourceLink({ uri: 'file:///a', name: 'a', title: 'long '.repeat(1000) });
    expect(JSON.stringify(fit(link, { maxChars: 300 })).length).toBeLessThan(600);
  });

  test('text that looks like data but is nested without end is cut as text', () => {
    const result = fit(success('['.repeat(20_000) + ']'.repeat(20_000)), { maxChars: 300 });
    expect(charsOf(result)).toBeLessThanOrEqual(300);
    expectAcceptedByBothSdks(result);
  });

  test('structuredContent without end is refused by its own name', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level++) deep = [deep];
    const result = { content: [], structuredContent: { deep } };
    expect(caught(() => fit(result, { maxChars: 300 }))).toMatchObject({ name: 'ResponseError', code: 'TOO_DEEP' });
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(caught(() => fit({ content: [], structuredContent: cycle }, { maxChars: 300 }))).toMatchObject({
      code: 'UNREADABLE',
      path: '$.structuredContent',
    });
  });

  test('what is no result is refused', () => {
    for (const value of [null, {}, { content: 'x' }]) {
      expect(caught(() => fit(value as never, { maxChars: 300 }))).toMatchObject({ code: 'INVALID_CONTENT' });
    }
  });

  test('what stood beside an error is counted, in its text and in _meta', () => {
    const result = fit(mix(toolError('A', { message: 'x' }), text('word '.repeat(500)), text('end')), {
      maxChars: 300,
    });
    expect(parseToolError(result)).toMatchObject({ code: 'A', details: { parts_left_out: '2' } });
    expect(parseXml(textsOf(result)[0]!).name).toBe('tool_error');
    expect(result._meta).toMatchObject({
      'interlock/fit': { omissions: [{ path: '$', unit: 'parts', shown: 1, total: 3 }] },
    });
  });

  test('a counter that gives no number is refused, rather than nothing shown', () => {
    for (const countTokens of [() => Number.NaN, () => 'many' as never]) {
      expect(caught(() => fit(success('x'), { maxTokens: 100, countTokens }))).toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining('fit: countTokens'),
      });
    }
  });

  test('a first item larger than the limit is shown in part, and the cursor moves on', () => {
    const list = Array.from({ length: 9 }, (_, id) => ({ id, body: 'many words '.repeat(500) }));
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = paginate(list, { cursor, pageSize: 3 });
      const answer = fit(compact(page.items), { maxChars: 600, page });
      const shown = readCompact(answer) as { id: number; body: string }[];
      expect(shown[0]!.body).toMatch(/^many words .*characters left out\]$/);
      seen.push(...shown.map(({ id }) => id));
      cursor = /call again with cursor ([\w-]+)/.exec(textsOf(answer)[1] ?? '')?.[1];
    } while (cursor !== undefined && seen.length < 20);
    expect(seen).toEqual(list.map(({ id }) => id));
  });

  test('where no item can be shown at all, no cursor leads back to the same page', () => {
    const wide = () => Object.fromEntries(Array.from({ length: 90 }, (_, field) => [`field_${field}`, field]));
    const page = paginate([wide(), wide()], { pageSize: 1 });
    const [, note] = textsOf(fit(compact(page.items), { maxChars: 300, page }));
    expect(note).toContain('0 of 1 items shown');
    expect(note).not.toContain('cursor');
  });
});

test('a hint that does not fit itself gives way to the answer', () => {
  const result = fit(success(rows), { maxChars: 400, more: 'x'.repeat(1000) });
  expect(JSON.parse(textsOf(result)[0]!)).not.toHaveLength(0);
  expect(textsOf(result)[1]).toContain('Ask for less at a time');
});

describe('an error that is too long', () => {
  const error = toolError('BIG', {
    message: '<&'.repeat(4000),
    suggestion: 'Ask for less.',
    availableActions: ['list'],
    maxChars: 100_000,
  });

  test('stays well-formed and keeps its way out', () => {
    const result = fit(error, { maxChars: 1000 });
    const [xml] = textsOf(result);
    expect(xml!.length).toBeLessThanOrEqual(1000);
    expect(parseXml(xml!).name).toBe('tool_error');
    expect(parseToolError(result)).toMatchObject({
      code: 'BIG',
      suggestion: 'Ask for less.',
      availableActions: ['list'],
    });
    expect(result.isError).toBe(true);
    expectAcceptedByBothSdks(result);
  });

  test('has a limit of its own where hosts cut errors sooner', () => {
    expect(charsOf(fit(error, { maxErrorChars: 2000, maxChars: 50_000 }))).toBeLessThanOrEqual(2000);
    expect(fit(success('x'.repeat(9000)), { maxErrorChars: 2000, maxChars: 50_000 }).content).toHaveLength(1);
    const byHand = { content: [{ type: 'text' as const, text: 'failed '.repeat(1000) }], isError: true };
    expect(charsOf(fit(byHand, { maxErrorChars: 500 }))).toBeLessThanOrEqual(500);
    expectAcceptedByBothSdks(fit(byHand, { maxErrorChars: 500 }));
  });
});

describe('limits', () => {
  test('of a host are presets', () => {
    const long = success('word '.repeat(100_000));
    const result = fit(long, hostLimits['claude-code']);
    expect(charsOf(result)).toBeLessThanOrEqual(45_000);
    expect(o200k(textsOf(result).join(''))).toBeLessThanOrEqual(25_000);
    expect(charsOf(fit(long, hostLimits.conservative))).toBeLessThanOrEqual(27_000);
  });

  test('may be raised by the result, as that host allows', () => {
    const raised = { ...success('word '.repeat(20_000)), _meta: { 'anthropic/maxResultSizeChars': 200_000 } };
    expect(fit(raised, hostLimits['claude-code'])).toBe(raised);
    expect(charsOf(fit(raised, hostLimits.conservative))).toBeLessThanOrEqual(27_000);
  });

  test('leave a reserve if asked', () => {
    expect(charsOf(fit(success('x '.repeat(5000)), { maxChars: 1000, reserve: 0.5 }))).toBeLessThanOrEqual(500);
  });

  test.each([
    {},
    { maxChars: 10 },
    { maxTokens: 1 },
    { maxBytes: Number.NaN },
    { maxChars: '500' as never },
    { maxChars: 500, reserve: 1 },
    { maxChars: 500, reserve: 0.9 },
  ])('%j is refused', (limits) => {
    expect(caught(() => fit(success('x'), limits))).toMatchObject({ code: 'INVALID_OPTION' });
  });
});

test('whatever the result, fit meets the limit and both SDKs accept it', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.lorem({ maxCount: 60 }));
  const anyResult: fc.Arbitrary<AnyToolResult> = fc.oneof(
    anyText.map((value) => success(value)),
    fc.jsonValue({ maxDepth: 4 }).map((value) => success({ value, list: Array.from({ length: 40 }, () => value) })),
    fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 30 }).map((value) => compact(value)),
    fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
      .map((value) => structured({ ...value, again: [value, value, value, value] })),
    fc.tuple(anyText, anyText).map(([a, b]) => mix(a, success({ b: b.repeat(5) }), image('AQID', 'image/png'))),
    fc.tuple(anyText, anyText).map(([a, b]) => toolError(a, { message: b.repeat(9), details: { a, b } })),
  );
  const limits = fc.oneof(
    fc.record({ maxChars: fc.integer({ min: 200, max: 1500 }) }),
    fc.record({ maxBytes: fc.integer({ min: 200, max: 1500 }) }),
    fc.record({ maxTokens: fc.integer({ min: 50, max: 400 }) }),
  );
  fc.assert(
    fc.property(anyResult, limits, (result, limit) => {
      const fitted = fit(result, limit);
      expectAcceptedByBothSdks(fitted);
      const texts = textsOf(fitted);
      if ('maxChars' in limit) expect(charsOf(fitted)).toBeLessThanOrEqual(limit.maxChars);
      if ('maxBytes' in limit) expect(Buffer.byteLength(texts.join(''))).toBeLessThanOrEqual(limit.maxBytes);
      if ('maxTokens' in limit)
        expect(texts.reduce((sum, part) => sum + estimateTokens(part), 0)).toBeLessThanOrEqual(limit.maxTokens);
      expect(fitted.isError).toBe(result.isError);
      if (fitted.structuredContent && fitted !== result)
        expect(JSON.parse(texts[0]!)).toEqual(fitted.structuredContent);
    }),
    { numRuns: 400 },
  );
});
