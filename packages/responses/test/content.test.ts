import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AnyToolResult,
  audio,
  embeddedResource,
  image,
  isToolResponse,
  mix,
  resourceLink,
  structured,
  success,
  text,
  toolError,
} from '../src/index.js';
import { expectAcceptedByBothSdks } from './support/sdk.js';
import { caught } from './support/thrown.js';

const annotations = { audience: ['user' as const], priority: 0.5, lastModified: '2026-11-30T12:00:00Z' };
const _meta = { 'example/source': 'sensor' };

describe('every kind of content', () => {
  const built: [string, AnyToolResult, object][] = [
    ['text', text('hello', { annotations, _meta }), { type: 'text', text: 'hello' }],
    [
      'image',
      image(new Uint8Array([1, 2, 3]), 'image/png', { annotations, _meta }),
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
    ],
    [
      'audio',
      audio('AQID', 'audio/wav', { annotations, _meta }),
      { type: 'audio', data: 'AQID', mimeType: 'audio/wav' },
    ],
    [
      'resource_link',
      resourceLink({
        uri: 'file:///a.md',
        name: 'a.md',
        title: 'A',
        description: 'notes',
        mimeType: 'text/markdown',
        size: 5,
        annotations,
        _meta,
      }),
      {
        type: 'resource_link',
        uri: 'file:///a.md',
        name: 'a.md',
        title: 'A',
        description: 'notes',
        mimeType: 'text/markdown',
        size: 5,
      },
    ],
    [
      'text resource',
      embeddedResource({ uri: 'file:///a.md', mimeType: 'text/markdown', text: '# A', annotations, _meta }),
      { type: 'resource', resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# A' } },
    ],
    [
      'binary resource',
      embeddedResource({ uri: 'file:///a.bin', blob: new Uint8Array([1, 2, 3]).buffer, annotations, _meta }),
      { type: 'resource', resource: { uri: 'file:///a.bin', blob: 'AQID' } },
    ],
  ];

  test.each(built)('%s has its fields, annotations and _meta, and both SDKs accept it', (_name, result, block) => {
    expect(result.content).toEqual([{ ...block, annotations, _meta }]);
    expect(isToolResponse(result)).toBe(true);
    expectAcceptedByBothSdks(result);
  });

  test('a Date will do for lastModified', () => {
    const when = text('x', { annotations: { lastModified: new Date(0) } });
    expect(when.content[0]!.annotations).toEqual({ lastModified: '1970-01-01T00:00:00.000Z' });
    expectAcceptedByBothSdks(when);
  });

  test('any bytes come back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const [block] = image(bytes, 'image/png').content;
        expect(Uint8Array.from(atob((block as { data: string }).data), (c) => c.charCodeAt(0))).toEqual(bytes);
      }),
    );
    const large = Uint8Array.from({ length: 100_001 }, (_, i) => i % 251);
    expect((image(large, 'image/png').content[0] as { data: string }).data).toBe(Buffer.from(large).toString('base64'));
  });
});

describe('a block that clients would refuse is never built', () => {
  test.each<[string, () => unknown]>([
    ['text that is no string', () => text(5 as never)],
    ['data with a data: head', () => image('data:image/png;base64,AQID', 'image/png')],
    ['URL-safe base64', () => audio('-_-_', 'audio/wav')],
    ['base64 without padding', () => audio('AQI', 'audio/wav')],
    ['data of no kind', () => image([1, 2] as never, 'image/png')],
    ['no media type', () => image('AQID', 'png')],
    ['a relative URI', () => resourceLink({ uri: 'a.md', name: 'a' })],
    ['a link without a name', () => resourceLink({ uri: 'file:///a', name: '' })],
    ['a size in fractions', () => resourceLink({ uri: 'file:///a', name: 'a', size: 1.5 })],
    ['a resource with nothing in it', () => embeddedResource({ uri: 'file:///a' } as never)],
    ['a resource with both', () => embeddedResource({ uri: 'file:///a', text: 'x', blob: 'AQID' } as never)],
    ['an unknown audience', () => text('x', { annotations: { audience: ['robot' as never] } })],
    ['a priority above 1', () => text('x', { annotations: { priority: 2 } })],
    ['a date without a zone', () => text('x', { annotations: { lastModified: '2026-11-30' } })],
    ['an invalid date', () => text('x', { annotations: { lastModified: new Date(Number.NaN) } })],
    ['annotations that are a list', () => text('x', { annotations: [] as never })],
    ['a block of the type error', () => mix({ type: 'error', text: 'x' } as never)],
    ['a result that is none', () => mix({ data: 1 } as never)],
  ])('%s', (_name, build) => {
    expect(caught(build)).toMatchObject({ name: 'ResponseError', code: 'INVALID_CONTENT' });
  });

  test('nor is _meta that is no JSON', () => {
    expect(caught(() => text('x', { _meta: { when: new Date() } }))).toMatchObject({
      code: 'NOT_JSON',
      path: '$._meta.when',
    });
  });

  test('the error names the part and the field', () => {
    const broken = {
      content: [
        { type: 'text', text: 'ok' },
        { type: 'image', data: '?', mimeType: 'image/png' },
      ],
    };
    expect(caught(() => mix('a', broken as never))).toMatchObject({
      message: expect.stringContaining('part 1: content[1].data'),
    });
  });
});

describe('mix', () => {
  test('joins results, blocks and text in their order', () => {
    const result = mix('intro', success({ a: 1 }), { type: 'text', text: 'by hand' }, image('AQID', 'image/png'));
    expect(result.content.map((block) => block.type)).toEqual(['text', 'text', 'text', 'image']);
    expect(result.isError).toBeUndefined();
    expect(isToolResponse(result)).toBe(true);
    expectAcceptedByBothSdks(result);
    expectAcceptedByBothSdks(mix());
  });

  test('keeps structuredContent and merges _meta', () => {
    const result = mix(structured({ a: 1 }, { _meta: { 'x/a': 1, 'x/b': 1 } }), {
      ...success('x'),
      _meta: { 'x/b': 2 },
    });
    expect(result.structuredContent).toEqual({ a: 1 });
    expect(result._meta).toEqual({ 'x/a': 1, 'x/b': 2 });
    expectAcceptedByBothSdks(result);
  });

  test('is an error if a part is, and carries no structuredContent then', () => {
    const result = mix(structured({ a: 1 }), toolError('PARTIAL', { message: 'The rest failed.' }));
    expect(result.isError).toBe(true);
    expect(result).not.toHaveProperty('structuredContent');
    expect(result.content[0]).toEqual({ type: 'text', text: '{"a":1}' });
    expectAcceptedByBothSdks(result);
  });

  test('has room for one structuredContent', () => {
    expect(caught(() => mix(structured({ a: 1 }), structured({ b: 1 })))).toMatchObject({ code: 'INVALID_CONTENT' });
  });
});

test('the icons of a link are sent, if clients accept them', () => {
  const link = { uri: 'file:///a', name: 'a' };
  const result = resourceLink({ ...link, icons: [{ src: 'https://a/i.png', sizes: ['48x48'], theme: 'dark' }] });
  expectAcceptedByBothSdks(result);
  for (const icons of [5, [{}], [{ src: 1 }], [{ src: 'a', sizes: 'any' }], [{ src: 'a', theme: 'blue' }]]) {
    expect(caught(() => resourceLink({ ...link, icons: icons as never }))).toMatchObject({ code: 'INVALID_CONTENT' });
  }
});

test('what cannot be read is a typed error of every builder', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const hostile = proxy as never;
  for (const build of [
    () => image(hostile, 'image/png'),
    () => audio(hostile, 'audio/wav'),
    () => text('x', hostile),
    () => resourceLink(hostile),
    () => resourceLink(null as never),
    () => embeddedResource(hostile),
    () => embeddedResource({ uri: 'file:///a', blob: hostile }),
    () => mix(hostile),
  ]) {
    expect(caught(build)).toMatchObject({ name: 'ResponseError' });
  }
});
