import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import { fromZodError, parseToolError, type ValidationErrorLike } from '../src/index.js';
import { expectAcceptedByBothSdks, textOf } from './support/sdk.js';

function detailsOf(
  schema: { safeParse(input: unknown): { success: boolean; error?: unknown } },
  input: unknown,
  withInput = true,
) {
  const { error } = schema.safeParse(input);
  const result = fromZodError(error as ValidationErrorLike, withInput ? { input } : {});
  expectAcceptedByBothSdks(result);
  const parsed = parseToolError(result)!;
  expect(parsed.code).toBe('VALIDATION_ERROR');
  return parsed.details;
}

const build = (z: typeof import('zod').z | typeof z3) => {
  const any = z as typeof import('zod').z; // Both versions have these builders.
  return any.object({
    name: any.string().min(3),
    age: any.number().max(120),
    color: any.enum(['red', 'blue', 'green']),
    emails: any.array(any.string().email()),
    address: any.object({ 'post code': any.string() }),
  });
};

describe.each([
  ['zod 4', build(z)],
  ['zod 3', build(z3)],
])('%s', (_name, schema) => {
  const wrong = { name: 'x', age: 200, color: 'bleu', emails: ['a@b.co', 'nope'], address: { 'post code': 5 } };

  test('every bad field says what was expected and what came', () => {
    expect(detailsOf(schema, wrong)).toEqual({
      name: 'expected at least 3 characters, came "x"',
      age: 'expected at most 120, came 200',
      color: 'expected one of "red", "blue", "green", came "bleu"; did you mean "blue"?',
      'emails[1]': 'expected a text of the format email, came "nope"',
      'address["post code"]': 'expected string, came 5',
    });
  });

  test('a missing field came as nothing', () => {
    const { name, ...rest } = wrong;
    expect(detailsOf(schema, rest).name).toBe('expected string, came nothing');
    expect(detailsOf(schema, rest, false).name).toBe('expected string, came nothing');
    expect(detailsOf(schema, 'text')).toEqual({ input: 'expected object, came "text"' });
  });

  test('without the input the kind that came is told', () => {
    expect(detailsOf(schema, wrong, false)['address["post code"]']).toBe('expected string, came number');
  });
});

test('the message names the fields and the way out', () => {
  const schema = z.object({ a: z.string(), b: z.string() });
  const error = schema.safeParse({ a: 1 }).error!;
  const parsed = parseToolError(fromZodError(error))!;
  expect(parsed.message).toBe('2 fields are not valid: a, b.');
  expect(parsed.suggestion).toBe('Correct the fields listed in the details and call again.');
});

test('unknown keys are named one by one', () => {
  expect(detailsOf(z.strictObject({ a: z.string() }), { a: 'x', b: 1, c: 2 })).toEqual({
    b: 'expected no field of this name',
    c: 'expected no field of this name',
  });
});

test.each([
  ['zod 4', z],
  ['zod 3', z3 as unknown as typeof z],
])('of a union, the branch that was meant is told (%s)', (_name, zod) => {
  const shape = zod.object({
    shape: zod.union([
      zod.object({ kind: zod.literal('circle'), r: zod.number() }),
      zod.object({ kind: zod.literal('box'), w: zod.number(), h: zod.number() }),
    ]),
  });
  expect(detailsOf(shape, { shape: { kind: 'circle', r: 'wide' } })).toEqual({
    'shape.r': 'expected number, came "wide"',
  });
});

test('values of secret fields are never repeated', () => {
  const schema = z.object({ password: z.string().min(20), api_key: z.number(), pin: z.string() });
  const error = schema.safeParse({ password: 'hunter2', api_key: 'sk-12345', pin: 9876 }).error!;
  const text = textOf(fromZodError(error, { input: { password: 'hunter2', api_key: 'sk-12345', pin: 9876 } }));
  expect(text).toContain('came a text of 7 characters');
  for (const secret of ['hunter2', 'sk-12345', '9876']) expect(text).not.toContain(secret);
});

test('a value that the error itself carries is not repeated', () => {
  const { error } = z.object({ note: z.number() }).safeParse({ note: 'hunter2' }, { reportInput: true });
  expect(JSON.stringify(error!.issues)).toContain('hunter2');
  expect(JSON.stringify(fromZodError(error!))).not.toContain('hunter2');
});

test('zod 3 puts the value of an enum or literal into its issue: it is not repeated', () => {
  const schema = z3.object({ password: z3.enum(['a', 'b']), mode: z3.literal('x') });
  const { error } = schema.safeParse({ password: 'hunter2', mode: 'sk-12345' });
  expect(JSON.stringify(error!.issues)).toContain('hunter2');
  const text = textOf(fromZodError(error!));
  expect(text).toContain('expected one of "a", "b"');
  for (const secret of ['hunter2', 'sk-12345']) expect(text).not.toContain(secret);
});

test('a message that repeats the value of a secret field is replaced', () => {
  // As valibot words it.
  const issues = [
    { message: 'Invalid length: Received "hunter2"', received: '"hunter2"', path: [{ key: 'password' }] },
  ];
  expect(textOf(fromZodError({ issues }))).toContain('<detail key="password">is not valid</detail>');
  const authored = [{ code: 'custom', message: 'must differ from the old one', path: ['password'] }];
  expect(textOf(fromZodError({ issues: authored }))).toContain('must differ from the old one');
});

test('a Standard Schema’s issues will do', () => {
  const parsed = parseToolError(
    fromZodError({ issues: [{ message: 'must be even', path: [{ key: 'n' }, 0] }] }, { input: { n: [3] } }),
  )!;
  expect(parsed.details).toEqual({ 'n[0]': 'must be even, came 3' });
});

test('a thousand bad fields are counted, not listed', () => {
  const input = Array.from({ length: 1000 }, () => 'x'.repeat(1000));
  const result = fromZodError(z.array(z.number()).safeParse(input).error!, { input });
  expect(textOf(result).length).toBeLessThan(10_000);
  expect(parseToolError(result)!.message).toMatch(/^1000 fields are not valid: \[0\], .* and 980 more\.$/);
});
