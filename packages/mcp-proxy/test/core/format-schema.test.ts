import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatSchema, requiredParameters } from '../../src/index.js';

const lines = (schema: unknown): string[] => formatSchema(schema).split('\n');

describe('a schema as a list of parameters', () => {
  test.each([undefined, null, true, false, 5, 'x', [], {}, { type: 'object' }, { type: 'object', properties: {} }])(
    '%j has no parameters',
    (schema) => {
      expect(formatSchema(schema)).toBe('(no parameters)');
    },
  );

  test('name, type, required or optional, default and description are on one line', () => {
    const schema = {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Where  the\nfile is' },
        head: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
        when: { type: 'string', format: 'date-time' },
      },
      required: ['path'],
    };
    expect(lines(schema)).toEqual([
      '- path: string, required — Where the file is',
      '- head: integer 1..100, optional, default 10',
      '- when: string (date-time), optional',
    ]);
  });

  test('enum, const, type arrays, nullable and boolean schemas are said', () => {
    const properties = {
      mode: { enum: ['a', 'b', null] },
      kind: { const: 'fixed' },
      either: { type: ['string', 'null'] },
      anything: true,
      nothing: false,
    };
    expect(lines({ properties })).toEqual([
      '- mode: "a" | "b" | null, optional',
      '- kind: "fixed", optional',
      '- either: string | null, optional',
      '- anything: any, optional',
      '- nothing: never, optional',
    ]);
  });

  test('nested objects and arrays of objects are indented below', () => {
    const item = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const schema = {
      properties: { list: { type: 'array', items: item }, one: item, tags: { items: { type: 'string' } } },
    };
    expect(lines(schema)).toEqual([
      '- list: object[], optional',
      '  - name: string, required',
      '- one: object, optional',
      '  - name: string, required',
      '- tags: string[], optional',
    ]);
  });

  test('oneOf and anyOf are a union, and alternatives with parameters are spelled out', () => {
    const properties = {
      id: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      target: {
        oneOf: [
          { title: 'By path', type: 'object', properties: { path: { type: 'string' } } },
          { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
        ],
      },
    };
    expect(lines({ properties })).toEqual([
      '- id: string | integer, optional',
      '- target: object, optional',
      '  alternative 1 (By path):',
      '    - path: string, optional',
      '  alternative 2:',
      '    - url: string, required',
    ]);
  });

  test('allOf is merged', () => {
    const schema = {
      allOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { $ref: '#/$defs/b' }],
      $defs: { b: { properties: { b: { type: 'number' } } } },
    };
    expect(lines(schema)).toContain('- a: string, required');
    expect(lines(schema)).toContain('- b: number, optional');
    expect(requiredParameters(schema)).toEqual(['a']);
  });

  test('local references are followed, recursive and dangling ones named', () => {
    const schema = {
      properties: {
        tree: { $ref: '#/$defs/node' },
        lost: { $ref: '#/$defs/missing' },
        far: { $ref: 'https://example.com/schema.json' },
      },
      $defs: { node: { type: 'object', properties: { value: { type: 'string' }, next: { $ref: '#/$defs/node' } } } },
    };
    expect(lines(schema)).toEqual([
      '- tree: object, optional',
      '  - value: string, optional',
      '  - next: node, optional',
      '- lost: missing, optional',
      '- far: schema.json, optional',
    ]);
  });

  test('a root that is a reference, or no object at all, is read too', () => {
    expect(lines({ $ref: '#/$defs/r', $defs: { r: { properties: { x: { type: 'number' } } } } })).toEqual([
      '- x: number, optional',
    ]);
    expect(formatSchema({ type: 'string' })).toBe('- (whole input): string');
  });

  test('each line starts with the indent', () => {
    expect(formatSchema({ properties: { a: {}, b: {} } }, '    ')).toBe(
      '    - a: any, optional\n    - b: any, optional',
    );
    expect(formatSchema(undefined, '  ')).toBe('  (no parameters)');
  });

  test('a hostile schema ends in an ellipsis instead of in memory or time', () => {
    const wide = {
      properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { type: 'string' }])),
    };
    expect(lines(wide).length).toBeLessThanOrEqual(401);
    expect(lines(wide).at(-1)).toMatch(/too large/);
    let bomb: unknown = { type: 'string' };
    for (let depth = 0; depth < 40; depth++) bomb = { anyOf: [bomb, bomb] };
    expect(formatSchema({ properties: { bomb } }).length).toBeLessThan(50_000);
    const cyclic: Record<string, unknown> = { type: 'object' };
    cyclic.properties = { self: cyclic };
    expect(formatSchema(cyclic)).toContain('- self:');
  });

  test('descriptions lose control, ANSI and bidi characters', () => {
    const text = formatSchema({ properties: { a: { description: 'x\u001b[31mred\u202e\u200b' } } });
    expect(text).toBe('- a: any, optional — xred');
  });

  test('it never throws, whatever it is given', () => {
    const schemaLike = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.anything({ withBigInt: true, withNullPrototype: true }),
        fc.dictionary(
          fc.constantFrom(
            'type',
            'properties',
            'items',
            'anyOf',
            'oneOf',
            'allOf',
            '$ref',
            '$defs',
            'enum',
            'required',
            'const',
          ),
          fc.oneof(
            tie('node'),
            fc.array(tie('node'), { maxLength: 3 }),
            fc.constantFrom('#', '#/$defs/a', 'object', 'array'),
          ),
        ),
      ),
    })).node;
    fc.assert(fc.property(schemaLike, (schema) => typeof formatSchema(schema) === 'string'));
  });
});
