/** The one place that loads fast-check, an optional peer that only the property tests of the kit need. */
import { ConformanceError } from './assert.js';

export type FastCheck = typeof import('fast-check');

export async function loadFastCheck(): Promise<FastCheck> {
  try {
    return await import('fast-check');
  } catch (cause) {
    throw new ConformanceError(
      'HARNESS_INCOMPLETE',
      'The conformance kit tests a model with fast-check, which is not installed. Add it: `npm install -D fast-check`.',
      { cause },
    );
  }
}
