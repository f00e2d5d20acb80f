/** Which place in data is no JSON, and why: the slow walk, taken when the fast one has refused. */
import { asResponseError, ResponseError } from '../response-error.js';
import { isPlain, MAX_DEPTH, tooLarge } from './plain.js';
import { joinPath } from './stringify.js';

/** The error for the first offence in `data`; `cause` is what the fast walk threw. */
export function explain(data: unknown, cause: unknown): ResponseError {
  const ancestors = new Set<object>();
  let nodes = 0;

  const visit = (value: unknown, path: string): ResponseError | undefined => {
    if (typeof value !== 'object' || value === null) return isJsonPrimitive(value) ? undefined : refusal(path, value);
    // One array may be in a thousand places: the walk over all of them ends somewhere.
    if (++nodes > 5_000_000) return tooLarge();
    if (ancestors.has(value)) {
      return notJson(path, 'refers back to an object that contains it', 'Send an id in its place.');
    }
    if (ancestors.size === MAX_DEPTH) {
      return new ResponseError('TOO_DEEP', `The data is nested deeper than ${MAX_DEPTH} levels. Flatten it.`, { path });
    }
    ancestors.add(value);
    const found = visitObject(value, path);
    ancestors.delete(value);
    return found;
  };

  const visitObject = (value: object, path: string): ResponseError | undefined => {
    let keys: string[];
    try {
      const shape = shapeProblem(value);
      if (shape) return notJson(path, shape.is, shape.wayOut);
      keys = Object.keys(value);
    } catch (thrown) {
      return asResponseError(thrown, path);
    }
    for (const key of keys) {
      const at = joinPath(path, key, Array.isArray(value));
      let child: unknown;
      try {
        child = Reflect.get(value, key);
      } catch (thrown) {
        return asResponseError(thrown, at);
      }
      const found = visit(child, at);
      if (found) return found;
    }
    return undefined;
  };

  return visit(data, '$') ?? asResponseError(cause, '$');
}

function isJsonPrimitive(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function refusal(path: string, value: unknown): ResponseError {
  switch (typeof value) {
    case 'undefined':
      return notJson(path, 'is undefined', 'Leave the key out, or send null.');
    case 'number':
      return notJson(path, `is ${value}`, 'Send null, or say it in words.');
    case 'bigint':
      return notJson(path, 'is a BigInt', 'Convert it with String().');
    default:
      return notJson(path, `is a ${typeof value}`, 'Leave it out.');
  }
}

function shapeProblem(value: object): { readonly is: string; readonly wayOut: string } | undefined {
  if (typeof Reflect.get(value, 'toJSON') === 'function') {
    return { is: `is a ${nameOf(value)} with a toJSON method`, wayOut: 'Convert it before sending.' };
  }
  if (Array.isArray(value)) {
    const keys = Object.keys(value).length;
    if (keys < value.length) return { is: 'is an array with holes', wayOut: 'Fill them with null.' };
    if (keys > value.length) return { is: 'is an array with properties of its own', wayOut: 'Send an object.' };
    return undefined;
  }
  if (!isPlain(value))
    return { is: `is a ${nameOf(value)}`, wayOut: 'Convert it to plain objects, arrays and strings.' };
  return undefined;
}

function nameOf(value: object): string {
  const name: unknown = Reflect.get(value, 'constructor')?.name;
  return typeof name === 'string' && name !== '' ? name.slice(0, 60) : 'class instance';
}

function notJson(path: string, is: string, wayOut: string): ResponseError {
  return new ResponseError('NOT_JSON', `${path} ${is}, which JSON would lose or change. ${wayOut}`, { path });
}
