/** What the kit needs to know of a driver. What it can do is read from the driver itself, and then held against it. */
import { type RunBackend, type RunKey, STAMP_BYTES } from '../backend.js';
import type { ConformanceTest } from './harness.js';

/** Describes a driver to the kit. */
export interface RunBackendHarness {
  /** Heads the tests, for example `libsql`. */
  readonly name: string;
  /** Opens a place without runs. */
  open(): Promise<BackendUnderTest>;
}

export interface BackendUnderTest {
  readonly backend: RunBackend;
  /** Another connection to the same place. Needed where the driver claims `atomicTake: 'store'`. */
  connect?(): Promise<RunBackend>;
  /** Lets time pass for all that is stored. Needed where the driver claims `expiry`, or has claims. */
  advance?(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Life of what tests store: long, so that a slow machine ends nothing by itself. */
export const LIFE_MS = 600_000;

export function backendTest(
  harness: RunBackendHarness,
  name: string,
  body: (place: BackendUnderTest) => Promise<void>,
): ConformanceTest {
  return { name, run: () => withBackend(harness, body) };
}

export async function withBackend<T>(
  harness: RunBackendHarness,
  body: (place: BackendUnderTest) => Promise<T>,
): Promise<T> {
  const place = await harness.open();
  try {
    return await body(place);
  } finally {
    await place.close();
  }
}

/** A key of the shape that the engine makes. */
export function aKey(): RunKey {
  return `interlock:conformance:{${aToken()}}`;
}

export function aToken(): string {
  return crypto.randomUUID();
}

/** A value as the engine makes it: a stamp that no other value has, then a body. */
export function aValue(body = 'paused'): Uint8Array {
  const stamp = crypto.getRandomValues(new Uint8Array(STAMP_BYTES));
  return concat(stamp, new TextEncoder().encode(body));
}

export function stampOf(value: Uint8Array): Uint8Array {
  return value.slice(0, STAMP_BYTES);
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
