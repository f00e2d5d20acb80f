/** The two assertions of the kit, free of any test runner. */
import type { ReserveOutcome } from '../sessions/store.js';

/** Compares as JSON does, without regard to the order of keys. */
export function equal(actual: unknown, expected: unknown, what: string): void {
  const [got, wanted] = [text(actual), text(expected)];
  if (got !== wanted) throw new Error(`${what} should be ${wanted}, but is ${got}`);
}

/** The reservation, which must have been granted. */
export function granted(outcome: ReserveOutcome): Extract<ReserveOutcome, { kind: 'granted' }> {
  if (outcome.kind === 'granted') return outcome;
  throw new Error(`the reservation should be granted, but is ${text(outcome)}`);
}

function text(value: unknown): string {
  const sorted = (_: string, part: unknown): unknown =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return JSON.stringify(value, sorted) ?? 'undefined';
}
