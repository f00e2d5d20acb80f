/** A compiled serialiser that can be trusted. */
import { check, checkFunction, checkObject } from '../check.js';
import { tell } from '../tell.js';
import { joinPath, type StringifyFn, stringify } from './stringify.js';

/** Why the compiled serialiser was not used for a value. */
export type FallbackReason =
  | { readonly kind: 'threw'; readonly cause: unknown }
  | { readonly kind: 'not-json'; readonly output: unknown }
  | { readonly kind: 'lost'; readonly path: string };

export interface GuardStringifyOptions {
  /**
   * `keep`, the default: text that lacks something of the value, or says something else, is thrown away. `drop`: what the
   * compiled schema does not list may be missing, as with a serialiser that is meant to filter.
   */
  readonly unlistedFields?: 'keep' | 'drop';
  /** Told every time the fallback was used. */
  readonly onFallback?: (reason: FallbackReason) => unknown;
}

/**
 * Wraps a compiled `StringifyFn` (fast-json-stringify and others), which may throw on data outside its schema (NaN) and
 * leaves out fields that the schema does not list: whenever its text is not the same data, `JSON.stringify` is used. With
 * `keep` every text is read back, so it is as safe as it is slow; on ordinary rows such serialisers gain nothing anyway.
 *
 * @example
 * ```ts
 * const stringifyUser = guardStringify(compiled, { onFallback: (reason) => log.warn(reason) });
 * return success(user, stringifyUser);
 * ```
 */
export function guardStringify(compiled: StringifyFn, options: GuardStringifyOptions = {}): StringifyFn {
  check(typeof compiled === 'function', 'guardStringify: compiled', 'a function');
  checkObject(options, 'guardStringify: options');
  checkFunction(options.onFallback, 'guardStringify: onFallback');
  return (value) => {
    const outcome = tryCompiled(compiled, value, options.unlistedFields ?? 'keep');
    if (typeof outcome === 'string') return outcome;
    tell(options.onFallback, outcome);
    return stringify(value) ?? '';
  };
}

function tryCompiled(compiled: StringifyFn, value: unknown, unlisted: 'keep' | 'drop'): string | FallbackReason {
  let output: unknown;
  let parsed: unknown;
  try {
    output = compiled(value);
  } catch (cause) {
    return { kind: 'threw', cause };
  }
  if (typeof output !== 'string') return { kind: 'not-json', output };
  try {
    parsed = JSON.parse(output);
  } catch {
    return { kind: 'not-json', output };
  }
  // What JSON itself would say is the measure: a Date may be its ISO text, undefined may be missing.
  const expected = stringify(value);
  const path = expected === undefined ? undefined : difference(JSON.parse(expected), parsed, unlisted);
  return path === undefined ? output : { kind: 'lost', path };
}

/** Path of the first thing that `actual` lacks or says differently; extra fields (defaults of a schema) are no loss. */
function difference(expected: unknown, actual: unknown, unlisted: 'keep' | 'drop', path = '$'): string | undefined {
  if (Object.is(expected, actual)) return undefined;
  if (typeof expected !== 'object' || typeof actual !== 'object' || expected === null || actual === null) return path;
  if (Array.isArray(expected) !== Array.isArray(actual)) return path;
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length !== actual.length) return path;
  for (const [key, child] of Object.entries(expected)) {
    const at = joinPath(path, key, Array.isArray(expected));
    if (!Object.hasOwn(actual, key)) {
      if (unlisted === 'keep') return at;
      continue;
    }
    const found = difference(child, Reflect.get(actual, key), unlisted, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
