/** Finds the test runner: the one passed in, or the `describe` and `it` that a runner put in the global scope. */
import { ConformanceError } from './assert.js';
import type { TestRunner } from './harness.js';

export function resolveRunner(given: TestRunner | undefined): TestRunner {
  if (given) return given;
  const { describe, it } = globalThis as { describe?: unknown; it?: unknown };
  if (typeof describe === 'function' && typeof it === 'function') {
    // Checked to be functions; runners agree on (name, body).
    return { describe, it } as TestRunner;
  }
  throw new ConformanceError(
    'HARNESS_INCOMPLETE',
    'No test runner: there is no global `describe` and `it`. Pass them, for example ' +
      "`import { describe, it } from 'node:test'` (or from 'vitest') and `{ runner: { describe, it } }`.",
  );
}
