/** Does a scope fit the one that a run was stored with? Pure. */
import { RunStoreError } from '../errors.js';
import type { RunScope } from '../types.js';

const fields = ['tenant', 'principal', 'threadId'] as const;

/** Names of the fields in which `given` differs from `stored`. What a run was stored without is not asked for. */
export function scopeDifferences(stored: RunScope | undefined, given: RunScope | undefined): readonly string[] {
  if (stored === undefined) return [];
  return fields.filter((field) => stored[field] !== undefined && stored[field] !== given?.[field]);
}

/** Throws `INVALID_OPTION` unless every field is absent or a non-empty string. Scopes come from sessions and headers. */
export function checkScope(scope: RunScope | undefined): RunScope | undefined {
  if (scope === undefined) return undefined;
  const checked: RunScope = {};
  for (const field of fields) {
    const value: unknown = scope[field];
    if (value === undefined) continue;
    if (typeof value !== 'string' || value === '') {
      throw new RunStoreError(
        'INVALID_OPTION',
        `scope.${field} must be a non-empty string; leave it out when there is none.`,
      );
    }
    checked[field] = value;
  }
  return Object.keys(checked).length === 0 ? undefined : checked;
}
