/**
 * A driver against the memory driver under an injected clock: whatever sequence of calls and passing time, both must
 * answer alike. fast-check shrinks a difference to the shortest sequence that shows it.
 *
 * Durations and steps of time are chosen so that no end ever comes closer than 25 s to a moment at which it is looked
 * at: a driver with a clock of its own may be slow and still has to agree.
 */
import type { AsyncCommand } from 'fast-check';
import type { RunBackend, RunIndexEntry, RunKey } from '../backend.js';
import { memoryRunBackend } from '../backends/memory.js';
import { ensureSame, needed } from './assert.js';
import {
  aKey,
  aToken,
  aValue,
  type BackendUnderTest,
  bytes,
  type RunBackendHarness,
  stampOf,
  withBackend,
} from './backend-harness.js';
import { listAll } from './backend-index.js';
import { type FastCheck, loadFastCheck } from './fast-check-peer.js';
import type { ConformanceTest } from './harness.js';
import type { ModelOptions } from './model-suite.js';

const STEPS_MS = [100_000, 300_000] as const;
const LIVES_MS = [250_000, 650_000, undefined] as const;
const TOUCHES_MS = [250_000, 1_050_000] as const;
const RETAIN_MS = 150_000;
const LEASE_MS = 225_000;
const OUTCOME_MS = 350_000;

interface Pair {
  readonly reference: RunBackend;
  readonly driver: RunBackend;
  advance(ms: number): Promise<void>;
}

/** What a call answered, in a form in which two drivers can be compared. */
type Call = (backend: RunBackend) => Promise<unknown>;

interface Named {
  readonly name: string;
  /** Absent: time passes. */
  readonly call?: Call;
  readonly ms?: number;
}

export function backendModelSuite(harness: RunBackendHarness, options: ModelOptions = {}): ConformanceTest[] {
  return [
    {
      name: 'any sequence of calls answers as the memory driver does',
      async run() {
        const fc = await loadFastCheck();
        const settings = {
          numRuns: options.numRuns ?? 60,
          ...(options.seed === undefined ? {} : { seed: options.seed }),
        };
        const { facets, expiry } = await withBackend(harness, async ({ backend }) => ({
          facets: facetsOf(backend),
          expiry: backend.capabilities.expiry,
        }));
        const property = fc.asyncProperty(commandsFor(fc, facets, expiry), (commands) =>
          withBackend(harness, async (place) => {
            const real = aPair(place);
            await fc.asyncModelRun(() => ({ model: {}, real }), commands);
          }),
        );
        await fc.assert(property, settings);
      },
    },
  ];
}

function aPair(place: BackendUnderTest): Pair {
  let now = Date.now();
  return {
    reference: memoryRunBackend({ now: () => now }),
    driver: place.backend,
    async advance(ms) {
      now += ms;
      await needed(place.advance, 'advance', 'expiry').call(place, ms);
    },
  };
}

type Facet = 'cells' | 'claims' | 'index';

function facetsOf(backend: RunBackend): ReadonlySet<Facet> {
  return new Set((['cells', 'claims', 'index'] as const).filter((facet) => backend[facet] !== undefined));
}

function commandsFor(fc: FastCheck, facets: ReadonlySet<Facet>, expiry: boolean) {
  const key = fc.constantFrom(aKey(), aKey());
  const token = fc.constantFrom(aToken(), aToken());
  const value = fc.constantFrom(aValue('one'), aValue('two'), aValue('three'));
  const cell = fc.constantFrom(bytes('a'), bytes('b'));
  const entry = facets.has('index') ? entriesFor(fc) : fc.constant(undefined);

  const values = [
    fc.tuple(key, value, fc.constantFrom(...LIVES_MS), fc.constantFrom('replace' as const, 'keep' as const), entry).map(
      ([k, v, ttlMs, existing, index]): Named => ({
        name: `put(${existing}, ${ttlMs})`,
        call: (backend) => backend.put(k, v, { existing, ttlMs, index }),
      }),
    ),
    key.map((k): Named => ({ name: 'get', call: async (backend) => text(await backend.get(k)) })),
    fc.tuple(key, token, fc.option(value, { nil: undefined })).map(([k, t, v]): Named => {
      const take = { token: t, retainMs: RETAIN_MS, ...(v ? { ifStamp: stampOf(v) } : {}) };
      return {
        name: `take(${t.slice(0, 4)}${v ? ', ifStamp' : ''})`,
        call: async (backend) => text(await backend.take(k, take)),
      };
    }),
    fc.tuple(key, fc.constantFrom(...TOUCHES_MS), entry).map(
      ([k, ttlMs]): Named => ({
        name: `touch(${ttlMs})`,
        call: (backend) => backend.touch(k, { ttlMs }),
      }),
    ),
    fc.tuple(key, token, fc.constantFrom(...TOUCHES_MS)).map(
      ([k, t, ttlMs]): Named => ({
        name: `putBack(${t.slice(0, 4)}, ${ttlMs})`,
        call: (backend) => backend.putBack(k, { token: t, ttlMs }),
      }),
    ),
    key.map((k): Named => ({ name: 'remove', call: (backend) => backend.remove(k) })),
  ];
  const cells = [
    fc.tuple(key, fc.boolean(), cell, value).map(
      ([k, fresh, next, v]): Named => ({
        name: `cell swap(${fresh ? 'from what it holds' : 'from something else'})`,
        call: async (backend) => {
          const expected = fresh ? await backend.cells!.read(k) : bytes('never written');
          return backend.cells!.swap(k, { expected, next, ifStamp: stampOf(v) });
        },
      }),
    ),
    fc.tuple(key, token, fc.boolean()).map(
      ([k, t, fresh]): Named => ({
        name: `take(${t.slice(0, 4)}, ifCell ${fresh ? 'as it is' : 'other'})`,
        call: async (backend) => {
          const ifCell = fresh ? await backend.cells!.read(k) : bytes('never written');
          return text(await backend.take(k, { token: t, retainMs: RETAIN_MS, ifCell }));
        },
      }),
    ),
  ];
  const claims = [fc.tuple(key, token).chain(([k, t]) => fc.constantFrom(...claimCalls(k, t)))];
  const lists = [fc.constant<Named>({ name: 'list', call: listed })];
  const steps = [fc.constantFrom(...STEPS_MS).map((ms): Named => ({ name: `advance(${ms})`, ms }))];

  const named = [
    ...values,
    ...(facets.has('cells') ? cells : []),
    // Twice: claims have the most states to get lost in.
    ...(facets.has('claims') ? [...claims, ...claims] : []),
    ...(facets.has('index') ? lists : []),
    ...(expiry ? steps : []),
  ];
  return fc.commands(
    named.map((arbitrary) => arbitrary.map(asCommand)),
    { maxCommands: 40, size: 'max' },
  );
}

function claimCalls(key: RunKey, token: string): Named[] {
  const who = `${token.slice(0, 4)}`;
  return [
    { name: `claim(${who})`, call: (backend) => claimed(backend, key, token) },
    { name: `extend(${who})`, call: (backend) => backend.claims!.extend(key, { token, leaseMs: LEASE_MS }) },
    { name: `release(${who})`, call: (backend) => backend.claims!.release(key, { token }) },
    {
      name: `settle(${who})`,
      call: (backend) => backend.claims!.settle(key, { token, outcome: bytes(`by ${who}`), outcomeTtlMs: OUTCOME_MS }),
    },
  ];
}

/** Without fence and remaining time, which each driver chooses for itself. */
async function claimed(backend: RunBackend, key: RunKey, token: string): Promise<string> {
  const reply = await backend.claims!.claim(key, { token, leaseMs: LEASE_MS });
  switch (reply.kind) {
    case 'claimed':
      return `claimed ${text(reply.bytes)}`;
    case 'settled':
      return `settled ${text(reply.outcome)}`;
    case 'held':
    case 'missing':
      return reply.kind;
  }
}

const TENANT: RunKey = aKey();

function entriesFor(fc: FastCheck) {
  return fc
    .record({ principal: fc.constantFrom('ann', 'bea'), kind: fc.constantFrom('approval', 'client_tool') })
    .map((entry): RunIndexEntry => ({ ...entry, tenant: TENANT, bytes: bytes(`${entry.principal} ${entry.kind}`) }));
}

async function listed(backend: RunBackend): Promise<string[]> {
  const runs = await listAll(backend.index!, { tenant: TENANT });
  return runs.map((run) => `${run.key} ${run.status} ${text(run.bytes)}`).sort();
}

function asCommand(named: Named): AsyncCommand<object, Pair> {
  return {
    check: () => true,
    async run(_model, pair) {
      if (named.ms !== undefined) await pair.advance(named.ms);
      if (!named.call) return;
      const expected = await named.call(pair.reference);
      ensureSame(await named.call(pair.driver), expected, named.name);
    },
    toString: () => named.name,
  };
}

function text(value: Uint8Array | null): string | null {
  return value && Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
