import { fromJsonSchema } from '@modelcontextprotocol/server';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { isToolResponse, type StandardSchemaLike, structured, structuredAsync } from '../src/index.js';
import { expectAcceptedByBothSdks } from './support/sdk.js';
import { caught } from './support/thrown.js';

const weather = { city: 'Bern', celsius: 21.5, tags: ['dry'] };
const weatherZod = z.object({ city: z.string(), celsius: z.number(), tags: z.array(z.string()) });
const weatherJson = z.toJSONSchema(weatherZod);

describe('structured', () => {
  test('says the same to programs and to models', () => {
    const result = structured(weather);
    expect(result.structuredContent).toEqual(weather);
    expect(JSON.parse(result.content[0]!.text)).toEqual(weather);
    expect(result).not.toHaveProperty('isError');
    expect(isToolResponse(result)).toBe(true);
    expectAcceptedByBothSdks(result);
  });

  test('carries _meta', () => {
    expect(structured(weather, { _meta: { 'example/ms': 3 } })._meta).toEqual({ 'example/ms': 3 });
    expect(caught(() => structured(weather, { _meta: { 'example/ms': 3n } }))).toMatchObject({ code: 'NOT_JSON' });
  });

  test('takes only objects, as older clients do, unless the peer is modern', () => {
    for (const data of [[1], 'text', 5, null]) {
      expect(caught(() => structured(data))).toMatchObject({ code: 'INVALID_CONTENT' });
      const modern = structured(data, { era: 'modern' });
      expect(modern.structuredContent).toEqual(data);
      expectAcceptedByBothSdks(modern, { modernOnly: true });
    }
  });
});

describe.each([
  ['zod', weatherZod],
  ['JSON Schema', weatherJson],
  ['JSON Schema, frozen', Object.freeze(structuredClone(weatherJson))],
  ['the SDK’s Standard Schema', fromJsonSchema(weatherJson as never, new CfWorkerJsonSchemaValidator())],
])('against %s', (_name, schema) => {
  test('what matches is sent', () => {
    expect(structured(weather, { schema: schema as never }).structuredContent).toEqual(weather);
  });

  test('what does not is refused before anything is sent', () => {
    expect(caught(() => structured({ ...weather, celsius: 'warm' }, { schema: schema as never }))).toMatchObject({
      code: 'SCHEMA_MISMATCH',
    });
  });
});

describe('a mismatch names the path', () => {
  const people = z.object({ people: z.array(z.object({ 'first name': z.string(), age: z.number() })) });
  const wrong = {
    people: [
      { 'first name': 'Ann', age: 1 },
      { 'first name': 5, age: 'old' },
    ],
  };

  test.each([
    ['zod', people],
    ['JSON Schema', z.toJSONSchema(people)],
  ])('%s', (_name, schema) => {
    const thrown = caught(() => structured(wrong, { schema: schema as never })) as Error;
    expect(thrown).toMatchObject({ path: '$.people[1]["first name"]' });
    expect(thrown.message).toContain('$.people[1]["first name"]');
    expect(thrown.message).toContain('$.people[1].age');
    expect(thrown.message).toContain('number');
  });

  test('and says how many more there are', () => {
    const many = { people: Array.from({ length: 9 }, () => ({ 'first name': 'x', age: 'old' })) };
    expect((caught(() => structured(many, { schema: people })) as Error).message).toContain('(and 4 more)');
  });
});

describe('a schema never drops data unseen', () => {
  const schema = z.object({ user: z.object({ name: z.string() }), list: z.array(z.object({ id: z.number() })) });
  const data = { user: { name: 'Ann', role: 'admin' }, list: [{ id: 1 }] };

  test('a key that the schema strips is an error that names it', () => {
    expect(caught(() => structured(data, { schema }))).toMatchObject({ code: 'DATA_DROPPED', path: '$.user.role' });
    const inList = { user: { name: 'Ann' }, list: [{ id: 1 }, { id: 2, x: 1 }] };
    expect(caught(() => structured(inList, { schema }))).toMatchObject({ code: 'DATA_DROPPED', path: '$.list[1].x' });
  });

  test('unless it is told to strip', () => {
    expect(structured(data, { schema, unknownKeys: 'strip' }).structuredContent).toEqual({
      user: { name: 'Ann' },
      list: [{ id: 1 }],
    });
  });

  test('defaults and transforms are sent as the schema gives them', () => {
    const transforming = z.object({ at: z.date().transform((d) => d.toISOString()), unit: z.string().default('C') });
    expect(structured({ at: new Date(0) }, { schema: transforming }).structuredContent).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      unit: 'C',
    });
  });

  test('a schema that gives back what is no JSON is caught', () => {
    const dates = z.object({ at: z.date() });
    expect(caught(() => structured({ at: new Date(0) }, { schema: dates }))).toMatchObject({
      code: 'NOT_JSON',
      path: '$.at',
    });
  });
});

describe('any Standard Schema', () => {
  const even: StandardSchemaLike = Object.assign(() => undefined, {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) =>
        (value as { n: number }).n % 2 === 0
          ? { value }
          : { issues: [{ message: 'odd', path: [{ key: 'n' }] }, { message: 'no path' }] },
    },
  });

  test('may be a function with object path segments', () => {
    expect(structured({ n: 2 }, { schema: even }).structuredContent).toEqual({ n: 2 });
    expect(caught(() => structured({ n: 1 }, { schema: even }))).toMatchObject({
      path: '$.n',
      message: 'The data does not match the schema: $.n: odd; $: no path',
    });
  });

  test('may validate later, through structuredAsync', async () => {
    const later = z.object({ id: z.string().refine(async (id) => id !== 'taken', 'is taken') });
    await expect(structuredAsync({ id: 'new' }, { schema: later })).resolves.toMatchObject({
      structuredContent: { id: 'new' },
    });
    await expect(structuredAsync({ id: 'taken' }, { schema: later })).rejects.toMatchObject({
      code: 'SCHEMA_MISMATCH',
      path: '$.id',
    });
    const promising: StandardSchemaLike = {
      '~standard': { version: 1, vendor: 'test', validate: () => Promise.reject(new Error('late')) },
    };
    expect(caught(() => structured({ id: 'x' }, { schema: promising }))).toMatchObject({ code: 'SCHEMA_INVALID' });
    await expect(structuredAsync({}, { schema: promising })).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
    await expect(structuredAsync(weather, { schema: weatherJson as never })).resolves.toMatchObject({
      structuredContent: weather,
    });
  });

  test('one that throws is named as the cause', () => {
    const broken: StandardSchemaLike = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => {
          throw new Error('bug');
        },
      },
    };
    expect(caught(() => structured({}, { schema: broken }))).toMatchObject({ code: 'SCHEMA_INVALID' });
    const cyclic: Record<string, unknown> = {};
    cyclic.me = cyclic;
    expect(caught(() => structured(cyclic, { schema: broken }))).toMatchObject({ code: 'NOT_JSON' });
  });
});

describe('JSON Schema', () => {
  test('needs no code generation', async () => {
    // The library's own text has neither: it would fail on workers, where both throw.
    const { readFile } = await import('node:fs/promises');
    const { createRequire } = await import('node:module');
    const entry = createRequire(import.meta.url).resolve('@cfworker/json-schema');
    for (const file of ['validate.js', 'validator.js', 'dereference.js', 'format.js']) {
      const source = await readFile(entry.replace(/[^/]*$/, file), 'utf8');
      expect(source).not.toMatch(/\beval\s*\(|new Function\b/);
    }
  });

  test.each([
    ['2020-12 by default', { prefixItems: [{ type: 'string' }] }, ['a'], [1]],
    ['draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }, ['a'], [1]],
    ['draft 4', { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true }, 2, 1],
    ['references', { $defs: { n: { type: 'integer' } }, $ref: '#/$defs/n' }, 1, 1.5],
    [
      'unevaluated properties',
      { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      { a: 1 },
      { b: 1 },
    ],
    ['formats', { format: 'date' }, '2026-11-30', '30.11.2026'],
  ])('%s', (_name, schema, good, bad) => {
    expect(structured(good, { schema, era: 'modern' }).structuredContent).toEqual(good);
    expect(caught(() => structured(bad, { schema, era: 'modern' }))).toMatchObject({ code: 'SCHEMA_MISMATCH' });
  });

  test('boolean schemas work', () => {
    expect(structured({}, { schema: true }).structuredContent).toEqual({});
    expect(caught(() => structured({}, { schema: false }))).toMatchObject({ code: 'SCHEMA_MISMATCH' });
  });

  test('a property that may not be is named', () => {
    const schema = { type: 'object', properties: { a: {} }, additionalProperties: false };
    expect(caught(() => structured({ a: 1, 'b/c~d': 2 }, { schema }))).toMatchObject({ path: '$["b/c~d"]' });
  });

  test('a schema that cannot work says so', () => {
    expect(caught(() => structured({}, { schema: { $ref: '#/$defs/none' } }))).toMatchObject({
      code: 'SCHEMA_INVALID',
    });
    expect(caught(() => structured({ a: 'x' }, { schema: { properties: { a: { pattern: '(' } } } }))).toMatchObject({
      code: 'SCHEMA_INVALID',
    });
    for (const schema of [null, 5, 'string']) {
      expect(caught(() => structured({}, { schema: schema as never }))).toMatchObject({ code: 'SCHEMA_INVALID' });
    }
  });
});

test.each([[undefined], [null], [{ issues: [null] }], [{ issues: 5 }]] as unknown[][])(
  'a schema that answers %j is not to be used',
  (answer) => {
    const schema = { '~standard': { version: 1, vendor: 'x', validate: () => answer } } as never;
    expect(caught(() => structured({ a: 1 }, { schema }))).toMatchObject({ code: 'SCHEMA_INVALID' });
  },
);
