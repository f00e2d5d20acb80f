/** Values that JSON cannot carry, or not whole. */

export interface HostileValue {
  readonly name: string;
  readonly value: unknown;
  /** The error of a builder that promises fidelity. */
  readonly code: 'NOT_JSON' | 'UNREADABLE';
}

export function hostileValues(): HostileValue[] {
  const cycle: { inner: unknown[] } = { inner: [] };
  cycle.inner.push({ cycle });
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const lossy = (name: string, value: unknown): HostileValue => ({ name, value, code: 'NOT_JSON' });
  const unreadable = (name: string, value: unknown): HostileValue => ({ name, value, code: 'UNREADABLE' });
  const fails = (): never => {
    throw new Error('not for you');
  };
  return [
    lossy('undefined', undefined),
    lossy('a function', () => 1),
    lossy('a symbol', Symbol('s')),
    lossy('a BigInt', 10n),
    lossy('a Map', new Map([[1, 2]])),
    lossy('a Set', new Set([1])),
    lossy('an Error', new Error('x')),
    lossy('a Date', new Date(0)),
    lossy('an invalid Date', new Date(Number.NaN)),
    lossy('NaN', Number.NaN),
    lossy('infinity', Number.POSITIVE_INFINITY),
    lossy('a typed array', new Uint8Array([1, 2])),
    lossy('an array buffer', new ArrayBuffer(8)),
    lossy('a cycle', cycle),
    lossy('an object with toJSON', { toJSON: () => 'other' }),
    lossy('a toJSON that throws', { toJSON: fails }),
    lossy(
      'a class instance',
      new (class Money {
        cents = 5;
      })(),
    ),
    lossy('a boxed string', Object('boxed')),
    lossy('an array with holes', Object.assign([1], { length: 3 })),
    lossy('a promise', Promise.resolve(1)),
    lossy('a regular expression', /x/),
    unreadable('a getter that throws', {
      get secret() {
        return fails();
      },
    }),
    unreadable('a revoked proxy', proxy),
    unreadable('a proxy that refuses its keys', new Proxy({}, { ownKeys: fails })),
    unreadable('a proxy that refuses its values', new Proxy({ a: 1 }, { get: fails })),
  ];
}

/** An object within an object within an object… */
export function deeplyNested(levels: number, kind: 'object' | 'array' = 'object'): unknown {
  let value: unknown = kind === 'object' ? {} : [];
  for (let level = 1; level < levels; level++) value = kind === 'object' ? { a: value } : [value];
  return value;
}
