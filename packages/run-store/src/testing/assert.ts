/** The few assertions that the kit makes, so that it needs no assertion library and runs in every runtime. */

/** A store does not do what it must, or a harness cannot show whether it does. */
export class ConformanceError extends Error {
  readonly code: 'STORE_DOES_NOT_CONFORM' | 'HARNESS_INCOMPLETE';

  constructor(code: ConformanceError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConformanceError';
    this.code = code;
  }
}

/** Rejects a store with a sentence that says what it did. */
export function ensure(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new ConformanceError('STORE_DOES_NOT_CONFORM', message());
}

/** Rejects a store that answered with something else than it must. */
export function ensureSame(actual: unknown, expected: unknown, what: string): void {
  const path = firstDifference(actual, expected);
  ensure(
    path === undefined,
    () => `${what}: expected ${show(expected)}, got ${show(actual)} (they differ at ${path}).`,
  );
}

/** Short, since what is compared may be a whole conversation. */
function show(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value).slice(0, 80);
  return Array.isArray(value) ? `a list of ${value.length}` : `a ${value.constructor?.name ?? 'object'}`;
}

/** The part of a harness that a claimed capability cannot be tested without. */
export function needed<T>(part: T | undefined, name: string, capability: string): T {
  if (part !== undefined) return part;
  throw new ConformanceError(
    'HARNESS_INCOMPLETE',
    `The store claims ${capability}, but its harness has no \`${name}\` to test that with. Add it, or do not claim it.`,
  );
}

/**
 * Path of the first difference between two values, `undefined` when there is none. Stricter than JSON and than most
 * equality: −0 is not 0, a missing property is not `undefined`, an own `__proto__` counts, the order of keys does not.
 */
export function firstDifference(actual: unknown, expected: unknown, path = '$'): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (!isObject(actual) || !isObject(expected)) return path;
  if (Object.prototype.toString.call(actual) !== Object.prototype.toString.call(expected)) return path;
  if (expected instanceof Date) return sameTime(actual as Date, expected) ? undefined : path;
  if (ArrayBuffer.isView(expected)) return sameBytes(actual as Uint8Array, expected as Uint8Array) ? undefined : path;
  if (expected instanceof Map || expected instanceof Set) {
    return firstDifference([...(actual as Set<unknown>)], [...(expected as Set<unknown>)], `${path}.entries()`);
  }
  const keys = Reflect.ownKeys(expected);
  if (keys.length !== Reflect.ownKeys(actual).length) return path;
  for (const key of keys) {
    const here = `${path}[${JSON.stringify(String(key))}]`;
    const [mine, theirs] = [
      Object.getOwnPropertyDescriptor(actual, key),
      Object.getOwnPropertyDescriptor(expected, key),
    ];
    if (!mine || !theirs) return here;
    const difference = firstDifference(mine.value, theirs.value, here);
    if (difference) return difference;
  }
  return undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function sameTime(a: Date, b: Date): boolean {
  return Object.is(a.getTime(), b.getTime());
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
