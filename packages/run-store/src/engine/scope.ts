/** Does a scope fit the one that a run was stored with? Pure. */
import { RunStoreError } from '../errors.js';
import type { RunScope } from '../types.js';

const fields = ['tenant', 'principal', 'threadId'] as const;

/** Names of the fields in which `given` differs from `stored`. What a run was stored without is not asked for. */
export function scopeDifferences(stored: RunScope | undefined, given: RunScope | undefined): readonly string[] {
  if (stored === undefined) return [];
  return fields.filter((field) => stored[field] !== undefined && stored[field] !== given?.[field]);
}

/**
 * Throws `INVALID_OPTION` unless every field is absent or a name. Scopes come from sessions and headers; one that is
 * malformed must not quietly become a run that is everybody's.
 */
export function checkScope(scope: RunScope | undefined): RunScope | undefined {
  if (scope === undefined) return undefined;
  if (typeof scope !== 'object' || scope === null || Array.isArray(scope)) {
    throw new RunStoreError('INVALID_OPTION', `scope must be an object with ${fields.join(', ')}, any of them absent.`);
  }
  const checked: RunScope = {};
  for (const field of fields) {
    const value: unknown = scope[field];
    if (value === undefined) continue;
    if (value === '') throw badName(`scope.${field}`, 'a non-empty string; leave it out when there is none');
    checked[field] = checkName(`scope.${field}`, value);
  }
  if (Object.keys(checked).length > 0) return checked;
  if (Object.keys(scope).length === 0) return undefined;
  throw new RunStoreError(
    'INVALID_OPTION',
    `scope names none of ${fields.join(', ')}; leave it out when there is none.`,
  );
}

const MAX_NAME_LENGTH = 512;

/** A name that can be hashed without becoming the same as another: UTF-8 makes one character of all lone surrogates. */
export function checkName(field: string, name: unknown): string {
  if (typeof name !== 'string') throw badName(field, 'a string');
  if (name.length > MAX_NAME_LENGTH) throw badName(field, `at most ${MAX_NAME_LENGTH} characters long`);
  if (/\p{Surrogate}/u.test(name)) throw badName(field, 'without lone surrogates');
  return name;
}

function badName(field: string, what: string): RunStoreError {
  return new RunStoreError('INVALID_OPTION', `${field} must be ${what}.`);
}
