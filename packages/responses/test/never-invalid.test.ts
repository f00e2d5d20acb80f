import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compact,
  error,
  fit,
  fromError,
  fromZodError,
  guardStringify,
  mix,
  ResponseError,
  required,
  structured,
  success,
  text,
  toolError,
  toonSuccess,
  unknownAction,
} from '../src/index.js';
import { expectAcceptedByBothSdks } from './support/sdk.js';
import { deeplyNested, hostileValues } from './support/values.js';

/** Every builder that takes data, each given `value` where data goes. */
const builders: Record<string, (value: never) => unknown> = {
  success,
  'success with a serialiser': (value) => success(value, guardStringify(JSON.stringify)),
  toonSuccess,
  structured,
  'structured with a schema': (value) => structured(value, { schema: {} }),
  compact,
  error,
  required,
  toolError: (value) =>
    toolError(value, {
      message: value,
      suggestion: value,
      availableActions: value,
      details: value,
      severity: value,
      retryAfter: value,
    }),
  'toolError, inside': (value) => toolError('X', { message: 'm', availableActions: [value], details: { d: value } }),
  unknownAction: (value) => unknownAction(value, ['a']),
  text,
  mix,
  'mix of a result': (value) =>
    mix({ content: [{ type: 'text', text: 'x' }], _meta: { value }, structuredContent: value }),
  fromError,
  fromZodError: (value) => fromZodError({ issues: [{ message: 'x', path: value }] }, { input: value }),
  'fit of success': (value) => fit(success(value), { maxChars: 500 }),
};

/** The result if there is one; a typed error is as good. Anything else fails. */
function resultOrTypedError(build: (value: never) => unknown, value: unknown, wire = true): void {
  let result: unknown;
  try {
    result = build(value as never);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(ResponseError);
    expect((thrown as ResponseError).message).not.toBe('');
    return;
  }
  expectAcceptedByBothSdks(result, { wire });
}

describe.each(Object.entries(builders))('%s gives a valid result or a typed error', (_name, build) => {
  test('for everything that JSON cannot carry, alone and inside', () => {
    for (const { value } of hostileValues()) {
      resultOrTypedError(build, value);
      resultOrTypedError(build, { a: [value] });
    }
  });

  test('for anything at all', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      stringUnit: 'binary',
    });
    fc.assert(
      fc.property(anything, (value) => {
        resultOrTypedError(build, value);
      }),
      { numRuns: 200 },
    );
  });

  test('for 20,000 levels', () => {
    for (const kind of ['object', 'array'] as const) resultOrTypedError(build, deeplyNested(20_000, kind));
  });

  test('for a text of 100 MB', () => {
    const huge = '<'.repeat(100_000_000);
    resultOrTypedError(build, huge, false);
  });
});

test('a proxy that says something else each time cannot make a result invalid', () => {
  let reads = 0;
  const shifty = new Proxy(
    { a: 1 },
    { get: (_target, key) => (key === 'a' ? [1, undefined, 1n, () => 1][reads++ % 4] : undefined) },
  );
  for (const build of Object.values(builders)) {
    for (let attempt = 0; attempt < 4; attempt++) {
      reads = attempt;
      resultOrTypedError(build, shifty);
    }
  }
});
