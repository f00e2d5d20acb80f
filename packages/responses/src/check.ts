/** Arguments of the wrong kind, told by name before anything is done with them. */
import { ResponseError } from './response-error.js';

/** Throws `INVALID_OPTION` unless `isValid`: "compact: options must be an object". */
export function check(isValid: boolean, what: string, must: string): asserts isValid {
  if (!isValid) throw new ResponseError('INVALID_OPTION', `${what} must be ${must}.`);
}

export function checkObject(value: unknown, what: string): void {
  check(typeof value === 'object' && value !== null, what, 'an object');
}

/** For what may be left out. */
export function checkFunction(value: unknown, what: string): void {
  check(value === undefined || typeof value === 'function', what, 'a function');
}
