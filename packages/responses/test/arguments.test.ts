import { describe, expect, test } from 'vitest';
import * as api from '../src/index.js';
import { expectAcceptedByBothSdks } from './support/sdk.js';
import { caught } from './support/thrown.js';

const rows = [{ id: 1 }, { id: 2 }];
const bad = <T>(value: unknown): T => value as T;
const WRONG = [null, 5, 'text', true];

/** Every call with an argument of the wrong kind that must say which one it is. */
const refused: Record<
  string,
  readonly [argument: string, call: (wrong: never) => unknown, wrong?: readonly unknown[]]
> = {
  'success, serialiser': ['serialiser', (wrong) => api.success(rows, wrong)],
  'toonSuccess, options': ['options', (wrong) => api.toonSuccess(rows, wrong)],
  'compact, options': ['options', (wrong) => api.compact(rows, wrong)],
  'compact, formats': ['formats', (wrong) => api.compact(rows, { formats: wrong })],
  'compact, countTokens': ['countTokens', (wrong) => api.compact(rows, { countTokens: wrong }), [5, 'text', true]],
  'compact, _meta': ['_meta', (wrong) => api.compact(rows, { _meta: wrong })],
  readCompact: ['the result', (wrong) => api.readCompact(wrong)],
  estimateTokens: ['text', (wrong) => api.estimateTokens(wrong), [undefined, null, 5, {}]],
  'structured, options': ['options', (wrong) => api.structured({}, wrong)],
  'structured, schema': ['schema', (wrong) => api.structured({}, { schema: wrong }), [null, 5, 'text']],
  'structured, unknownKeys': ['unknownKeys', (wrong) => api.structured({}, { unknownKeys: wrong })],
  'structured, era': ['era', (wrong) => api.structured({}, { era: wrong })],
  'structured, _meta': ['_meta', (wrong) => api.structured({}, { _meta: wrong })],
  'text, content': ['text', (wrong) => api.text(wrong), [undefined, null, 5, {}]],
  'text, options': ['options', (wrong) => api.text('x', wrong)],
  'image, data': ['data', (wrong) => api.image(wrong, 'image/png'), [undefined, null, 5, {}]],
  'image, options': ['options', (wrong) => api.image('', 'image/png', wrong)],
  'audio, mimeType': ['mimeType', (wrong) => api.audio('', wrong), [undefined, null, 5]],
  'audio, options': ['options', (wrong) => api.audio('', 'audio/wav', wrong)],
  resourceLink: ['first argument', (wrong) => api.resourceLink(wrong), [undefined, ...WRONG]],
  embeddedResource: ['first argument', (wrong) => api.embeddedResource(wrong), [undefined, ...WRONG]],
  mix: ['part 0', (wrong) => api.mix(wrong), [undefined, null, 5, {}]],
  'nearest, given': ['given', (wrong) => api.nearest(wrong, ['a']), [undefined, null, 5, {}]],
  'nearest, candidates': ['candidates', (wrong) => api.nearest('a', wrong), [undefined, null, 5, 'text', [null]]],
  'guardTool, handler': ['handler', (wrong) => api.guardTool(wrong), [undefined, ...WRONG]],
  'guardTool, options': ['options', (wrong) => api.guardTool(() => api.success('x'), wrong)],
  'guardTool, onError': ['onError', (wrong) => api.guardTool(() => api.success('x'), { onError: wrong })],
  'guardTool, newId': ['newId', (wrong) => api.guardTool(() => api.success('x'), { newId: wrong })],
  'guardTool, now': ['now', (wrong) => api.guardTool(() => api.success('x'), { now: wrong })],
  'guardTool, passThrough': ['passThrough', (wrong) => api.guardTool(() => api.success('x'), { passThrough: wrong })],
  'ToolFailure, options': ['options', (wrong) => new api.ToolFailure('X', wrong), [undefined, ...WRONG]],
  'fit, result': ['fit', (wrong) => api.fit(wrong, { maxChars: 500 }), [undefined, ...WRONG, {}]],
  'fit, options': ['fit: ', (wrong) => api.fit(api.success('x'), wrong), [undefined, ...WRONG, {}]],
  'fit, countTokens': [
    'countTokens',
    (wrong) => api.fit(api.success('x'), { maxTokens: 100, countTokens: wrong }),
    [5, 'text', true],
  ],
  'fit, page': ['page', (wrong) => api.fit(api.success('x'), { maxChars: 500, page: wrong }), [...WRONG, {}]],
  'paginate, items': ['items', (wrong) => api.paginate(wrong), [undefined, null, 5, 'text', {}]],
  'paginate, options': ['options', (wrong) => api.paginate(rows, wrong)],
  'paginate, pageSize': ['pageSize', (wrong) => api.paginate(rows, { pageSize: wrong }), [null, 'text', 0, 1.5]],
  'paginate, scope': ['scope', (wrong) => api.paginate(rows, { scope: wrong }), [null, 5, {}]],
  'paginate, cursor': ['cursor', (wrong) => api.paginate(rows, { cursor: wrong }), [5, 'text', {}]],
  'guardStringify, compiled': ['compiled', (wrong) => api.guardStringify(wrong), [undefined, ...WRONG]],
  'guardStringify, options': ['options', (wrong) => api.guardStringify(JSON.stringify, wrong)],
  'guardStringify, onFallback': [
    'onFallback',
    (wrong) => api.guardStringify(JSON.stringify, { onFallback: wrong }),
    [5, 'text', true],
  ],
};

describe('an argument of the wrong kind is told by its name', () => {
  test.each(Object.entries(refused))('%s', (_name, [argument, call, wrong = WRONG]) => {
    for (const value of wrong) {
      const thrown = caught(() => call(bad(value)));
      expect(thrown).toBeInstanceOf(api.ResponseError);
      expect((thrown as Error).message).toContain(argument);
    }
  });

  test('structuredAsync too', async () => {
    await expect(api.structuredAsync({}, bad(null))).rejects.toThrow('structured: options must be an object.');
  });
});

/** What words an error must not fail itself, and questions about a value have an answer for any. */
const tolerant: Record<string, (wrong: never) => unknown> = {
  error: (wrong) => api.error(wrong, wrong),
  required: (wrong) => api.required(wrong),
  toolError: (wrong) => api.toolError(wrong, wrong),
  unknownAction: (wrong) => api.unknownAction(wrong, wrong),
  fromError: (wrong) => api.fromError(wrong, wrong),
  'fromError of validation': (wrong) => api.fromError({ issues: [{ message: 'x' }] }, wrong),
  'fromError, now': (wrong) => api.fromError({ status: 429 }, { now: wrong, correlationId: wrong }),
  fromZodError: (wrong) => api.fromZodError(wrong, wrong),
  'fromZodError, options': (wrong) => api.fromZodError({ issues: [{ message: 'x' }] }, wrong),
};

describe('whatever they are given, these answer', () => {
  test.each(Object.entries(tolerant))('%s', (_name, call) => {
    for (const value of [undefined, ...WRONG, {}, []]) expectAcceptedByBothSdks(call(bad(value)));
  });

  test('parseToolError, isToolResponse and the escapes', () => {
    for (const value of [undefined, ...WRONG, {}, []]) {
      expect(api.parseToolError(value)).toBeUndefined();
      expect(api.isToolResponse(value)).toBe(false);
      expect(typeof api.escapeXml(bad(value))).toBe('string');
      expect(typeof api.escapeXmlAttr(bad(value))).toBe('string');
    }
  });
});

test('every public function is in one of the tables', () => {
  const named = [...Object.keys(refused), ...Object.keys(tolerant)].map((name) => name.split(/[ ,]/)[0]);
  const others = ['parseToolError', 'isToolResponse', 'escapeXml', 'escapeXmlAttr', 'structuredAsync', 'ResponseError'];
  for (const [name, value] of Object.entries(api)) {
    if (typeof value === 'function') expect([...named, ...others], name).toContain(name);
  }
});
