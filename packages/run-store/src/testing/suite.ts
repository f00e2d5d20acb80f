/** What every suite of the kit is written with: a test that opens a place of its own and closes it again. */
import type { ConformanceTest, RunStoreHarness, StoreUnderTest } from './harness.js';

/** Lifetime that the tests give runs: long, so that a slow machine never expires one by itself. */
export const TTL_SECONDS = 600;

export function testOn(
  harness: RunStoreHarness,
  name: string,
  body: (place: StoreUnderTest) => Promise<void>,
): ConformanceTest {
  return { name, run: () => withPlace(harness, body) };
}

export async function withPlace<T>(harness: RunStoreHarness, body: (place: StoreUnderTest) => Promise<T>): Promise<T> {
  const place = await harness.open({ ttlSeconds: TTL_SECONDS });
  try {
    return await body(place);
  } finally {
    await place.close();
  }
}

let runIds = 0;

/** A run id that no other test uses, of characters that every store takes. */
export function aRunId(): string {
  runIds += 1;
  return `run-${runIds.toString(36)}-${crypto.randomUUID()}`;
}
