/** Work under a lease: one worker at a time, no work of an overtaken one, and an outcome for whoever asks again. */
import type { RunBackend, RunClaims } from '../backend.js';
import { ensure, ensureSame, needed } from './assert.js';
import { aKey, aToken, aValue, backendTest, bytes, LIFE_MS, type RunBackendHarness } from './backend-harness.js';
import { asBytes } from './backend-values.js';
import type { ConformanceTest } from './harness.js';

const LEASE_MS = 120_000;
const OUTCOME_MS = 300_000;
const put = { existing: 'replace', ttlMs: LIFE_MS } as const;
const take = () => ({ token: aToken(), retainMs: 60_000 });

interface ClaimsUnderTest {
  readonly backend: RunBackend;
  readonly claims: RunClaims;
  readonly advance: (ms: number) => Promise<void>;
  /** Stores a run and claims it. */
  claimed(): Promise<{ key: string; value: Uint8Array; token: string; fence: number }>;
}

export function backendClaimSuite(harness: RunBackendHarness): ConformanceTest[] {
  const test = (name: string, body: (place: ClaimsUnderTest) => Promise<void>) =>
    backendTest(harness, name, async (place) => {
      const { backend } = place;
      const { claims } = backend;
      if (!claims) return;
      const advance = needed(place.advance, 'advance', 'claims').bind(place);
      await body({ backend, claims, advance, claimed: () => claimARun(backend, claims) });
    });
  return [
    test('a claimed run is held against others, seen by get, and not taken', async ({ backend, claims, claimed }) => {
      const { key, value } = await claimed();
      const other = await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS });
      ensure(other.kind === 'held', () => `another claim during the lease answered '${other.kind}'.`);
      ensure(other.retryInMs > 0 && other.retryInMs <= LEASE_MS, () => `retryInMs is ${other.retryInMs}.`);
      ensureSame(asBytes(await backend.get(key)), value, 'get of a claimed run');
      ensure((await backend.take(key, take())) === null, () => 'a run under a live lease was taken.');
    }),

    test('a repeated claim gets the same claim again', async ({ claims, claimed }) => {
      const { key, value, token, fence } = await claimed();
      const again = await claims.claim(key, { token, leaseMs: LEASE_MS });
      ensure(again.kind === 'claimed', () => `the repeated claim answered '${again.kind}'.`);
      ensureSame(asBytes(again.bytes), value, 'the repeated claim');
      ensureSame(again.fence, fence, 'the fence of the repeated claim');
    }),

    test("a crashed worker's run can be claimed after the lease, with a greater fence", async (place) => {
      const { claims, advance } = place;
      const crashed = await place.claimed();
      await advance(LEASE_MS + 1);
      const next = await claims.claim(crashed.key, { token: aToken(), leaseMs: LEASE_MS });
      ensure(next.kind === 'claimed', () => `a claim after the lease answered '${next.kind}'.`);
      ensureSame(asBytes(next.bytes), crashed.value, 'the run of the crashed worker');
      ensure(next.fence > crashed.fence, () => `the fence went from ${crashed.fence} to ${next.fence}.`);
      const { key, token } = crashed;
      ensureSame(await claims.extend(key, { token, leaseMs: LEASE_MS }), 'stale', 'extend by the overtaken');
      ensureSame(await claims.release(key, { token }), 'stale', 'release by the overtaken');
      ensureSame(await claims.settle(key, { token, outcomeTtlMs: OUTCOME_MS }), 'stale', 'settle by the overtaken');
    }),

    test('late work that nobody has redone is accepted', async ({ claims, advance, claimed }) => {
      const { key, token } = await claimed();
      await advance(LEASE_MS + 1);
      const settled = await claims.settle(key, { token, outcome: bytes('done'), outcomeTtlMs: OUTCOME_MS });
      ensureSame(settled, 'ok', 'settle after the lease, with nobody in between');
    }),

    test('extend keeps a claim past its first lease', async ({ claims, advance, claimed }) => {
      const { key, token } = await claimed();
      await advance(LEASE_MS * 0.75);
      ensureSame(await claims.extend(key, { token, leaseMs: LEASE_MS }), 'ok', 'extend');
      await advance(LEASE_MS * 0.5);
      const other = await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS });
      ensureSame(other.kind, 'held', 'a claim during the extended lease');
    }),

    test('a released run can be claimed at once, with a greater fence', async ({ claims, claimed }) => {
      const { key, token, fence } = await claimed();
      ensureSame(await claims.release(key, { token }), 'ok', 'release');
      ensureSame(await claims.release(key, { token }), 'ok', 'a repeated release');
      const next = await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS });
      ensure(next.kind === 'claimed' && next.fence > fence, () => `a claim after release answered '${next.kind}'.`);
    }),

    test('a settled run answers later claims with its outcome, for as long as it is kept', async (place) => {
      const { backend, claims, advance } = place;
      const { key, token } = await place.claimed();
      const settlement = { token, outcome: bytes('the answer'), outcomeTtlMs: OUTCOME_MS };
      ensureSame(await claims.settle(key, settlement), 'ok', 'settle');
      ensureSame(await claims.settle(key, settlement), 'ok', 'a repeated settle');
      ensure((await backend.get(key)) === null, () => 'get found a settled run.');
      ensure((await backend.take(key, take())) === null, () => 'take found a settled run.');
      const later = await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS });
      ensure(later.kind === 'settled', () => `a claim of a settled run answered '${later.kind}'.`);
      ensureSame(asBytes(later.outcome), bytes('the answer'), 'the outcome');
      ensureSame(asBytes(await claims.outcome(key)), bytes('the answer'), 'the outcome, looked at');
      await advance(OUTCOME_MS + 1);
      ensure((await claims.outcome(key)) === null, () => 'an outcome outlived its time.');
      const after = await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS });
      ensureSame(after.kind, 'missing', 'a claim after the outcome is gone');
    }),

    test('a run settled without an outcome is missing', async ({ claims, claimed }) => {
      const { key, token } = await claimed();
      ensure((await claims.outcome(key)) === null, () => 'there was an outcome before there was one.');
      await claims.settle(key, { token, outcomeTtlMs: OUTCOME_MS });
      ensure((await claims.outcome(key)) === null, () => 'there was an outcome though none was given.');
      const later = await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS });
      ensureSame(later.kind, 'missing', 'a claim of a run settled without an outcome');
    }),

    test('a claim whose lease has passed can be overtaken by a take', async ({ backend, claims, advance, claimed }) => {
      const { key, value, token } = await claimed();
      await advance(LEASE_MS + 1);
      ensureSame(asBytes(await backend.take(key, take())), value, 'take after the lease');
      ensureSame(await claims.settle(key, { token, outcomeTtlMs: OUTCOME_MS }), 'stale', 'settle by the overtaken');
    }),

    test('a removed run leaves its worker stale', async ({ backend, claims, claimed }) => {
      const { key, token } = await claimed();
      ensure(await backend.remove(key), () => 'remove did not find a claimed run.');
      ensureSame(await claims.extend(key, { token, leaseMs: LEASE_MS }), 'stale', 'extend of a removed run');
      const later = await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS });
      ensureSame(later.kind, 'missing', 'a claim of a removed run');
    }),

    test('a run does not expire under its worker', async ({ backend, claims, advance }) => {
      const [key, value, token] = [aKey(), aValue(), aToken()];
      await backend.put(key, value, { existing: 'replace', ttlMs: LEASE_MS / 2 });
      await claims.claim(key, { token, leaseMs: LEASE_MS });
      await advance(LEASE_MS * 1.5);
      ensureSame(asBytes(await backend.get(key)), value, 'a run past its own life, within two leases');
      ensureSame(await claims.extend(key, { token, leaseMs: LEASE_MS }), 'ok', 'extend');
    }),

    test('an expired or unknown run cannot be claimed', async ({ backend, claims, advance }) => {
      const key = aKey();
      ensureSame((await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS })).kind, 'missing', 'an unknown run');
      await backend.put(key, aValue(), put);
      await advance(LIFE_MS + 1);
      ensureSame((await claims.claim(key, { token: aToken(), leaseMs: LEASE_MS })).kind, 'missing', 'an expired run');
    }),

    test('of concurrent claims one gets the run', async ({ backend, claims }) => {
      for (let round = 0; round < 20; round += 1) {
        const key = aKey();
        await backend.put(key, aValue(), put);
        const replies = await Promise.all(
          Array.from({ length: 8 }, () => claims.claim(key, { token: aToken(), leaseMs: LEASE_MS })),
        );
        const kinds = replies.map(({ kind }) => kind).sort();
        ensureSame(kinds, ['claimed', ...Array(7).fill('held')], 'eight concurrent claims');
      }
    }),
  ];
}

async function claimARun(backend: RunBackend, claims: RunClaims): ReturnType<ClaimsUnderTest['claimed']> {
  const [key, value, token] = [aKey(), aValue(), aToken()];
  await backend.put(key, value, put);
  const reply = await claims.claim(key, { token, leaseMs: LEASE_MS });
  ensure(reply.kind === 'claimed', () => `the first claim of a waiting run answered '${reply.kind}'.`);
  ensureSame(asBytes(reply.bytes), value, 'the claimed run');
  return { key, value, token, fence: reply.fence };
}
