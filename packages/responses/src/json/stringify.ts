/** Serialising as JSON does, with errors that name the place. */
import { asResponseError, ResponseError } from '../response-error.js';

/** Serialises a value to JSON text; may be compiled for one schema. */
export type StringifyFn = (value: unknown) => string;

/** `JSON.stringify`, whose failures become {@link ResponseError}s. `undefined` for what JSON leaves out. */
export function stringify(value: unknown, indent?: number): string | undefined {
  try {
    return JSON.stringify(value, null, indent);
  } catch (cause) {
    throw stringifyFailure(value, cause);
  }
}

/** Why `JSON.stringify` threw `cause` on `value`. Runs only after a failure, so it may be slow. */
export function stringifyFailure(value: unknown, cause: unknown): ResponseError {
  if (cause instanceof ResponseError || cause instanceof RangeError) return asResponseError(cause, '$');
  const found = findUnserialisable(value);
  const path = found?.path ?? '$';
  if (found?.kind === 'bigint') {
    return new ResponseError('NOT_JSON', `${path} is a BigInt, which JSON cannot carry. Convert it with String().`, {
      path,
      cause,
    });
  }
  if (found?.kind === 'cycle') {
    return new ResponseError('NOT_JSON', `${path} refers back to an object that contains it. Send an id instead.`, {
      path,
      cause,
    });
  }
  return asResponseError(cause, path);
}

interface Found {
  readonly kind: 'bigint' | 'cycle' | 'throws';
  readonly path: string;
}

const SEARCH_LIMIT = 100_000;

function findUnserialisable(root: unknown): Found | undefined {
  const ancestors = new Set<object>();
  let visited = 0;
  const visit = (value: unknown, path: string): Found | undefined => {
    if (typeof value === 'bigint') return { kind: 'bigint', path };
    if (typeof value !== 'object' || value === null || ++visited > SEARCH_LIMIT) return undefined;
    if (ancestors.has(value)) return { kind: 'cycle', path };
    ancestors.add(value);
    try {
      if (typeof Reflect.get(value, 'toJSON') === 'function') {
        JSON.stringify(value);
        return undefined;
      }
      for (const key of Object.keys(value)) {
        const found = visitKey(value, key, joinPath(path, key, Array.isArray(value)));
        if (found) return found;
      }
    } catch {
      // The search repeats what threw before: that it throws again is its answer.
      return { kind: 'throws', path };
    }
    ancestors.delete(value);
    return undefined;
  };
  const visitKey = (owner: object, key: string, path: string): Found | undefined => {
    let child: unknown;
    try {
      child = Reflect.get(owner, key);
    } catch {
      return { kind: 'throws', path };
    }
    return visit(child, path);
  };
  return visit(root, '$');
}

/** `$.users[0].name`, and `$["a b"]` where the key is no plain word. Long keys are cut: a path is read by people. */
export function joinPath(path: string, key: string, isIndex: boolean): string {
  if (isIndex) return `${path}[${key}]`;
  if (/^[A-Za-z_$][\w$-]*$/.test(key) && key.length <= 60) return `${path}.${key}`;
  return `${path}[${JSON.stringify(key.length > 60 ? `${key.slice(0, 60)}…` : key)}]`;
}
