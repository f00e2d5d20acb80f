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
  const slots = slotsFor(facets);
  const slot = fc.constantFrom(...slots);
  const token = fc.constantFrom(aToken(), aToken());
  const value = fc.constantFrom(aValue('one'), aValue('two'), aValue('three'));
  const life = fc.constantFrom(...LIVES_MS);
  const touch = fc.constantFrom(...TOUCHES_MS);
  const expected = fc.constantFrom<Expected>('held', 'other');
  const existing = fc.constantFrom('replace' as const, 'keep' as const);

  const values = [
    fc.tuple(slot, value, life, existing).map(([s, v, ttlMs, how]): Named => {
      const options = { existing: how, ttlMs, index: s.entry };
      return { name: `put(${s.name}, ${how}, ${ttlMs})`, call: (backend) => backend.put(s.key, v, options) };
    }),
    slot.map((s): Named => ({ name: `get(${s.name})`, call: async (backend) => text(await backend.get(s.key)) })),
    fc
      .tuple(slot, token, fc.option(value, { nil: undefined }), fc.option(life, { nil: undefined }))
      .map(([s, t, v, ttlMs]): Named => {
        // With and without the life that its store gives: a driver may move by other means where runs have no end.
        const take = { token: t, retainMs: RETAIN_MS, ttlMs, ...(v ? { ifStamp: stampOf(v) } : {}) };
        const name = `take(${s.name}, ${short(t)}${v ? ', ifStamp' : ''}${ttlMs ? `, ${ttlMs}` : ''})`;
        return { name, call: async (backend) => text(await backend.take(s.key, take)) };
      }),
    fc.tuple(slot, touch).map(([s, ttlMs]): Named => {
      const options = { ttlMs, index: s.entry };
      return { name: `touch(${s.name}, ${ttlMs})`, call: (backend) => backend.touch(s.key, options) };
    }),
    fc.tuple(slot, token, touch).map(([s, t, ttlMs]): Named => {
      const name = `putBack(${s.name}, ${short(t)}, ${ttlMs})`;
      return { name, call: (backend) => putBackListed(backend, s, { token: t, ttlMs }) };
    }),
    slot.map((s): Named => ({ name: `remove(${s.name})`, call: (backend) => backend.remove(s.key) })),
  ];
  const cells = [
    fc.tuple(slot, expected, value).map(([s, from, v]): Named => {
      const name = `swap(${s.name}, from ${from})`;
      return { name, call: (backend) => swapped(backend, s.key, from, stampOf(v)) };
    }),
    fc.tuple(slot, token, expected).map(([s, t, from]): Named => {
      const name = `take(${s.name}, ${short(t)}, ifCell ${from})`;
      return { name, call: (backend) => takenWithCell(backend, s.key, from, t) };
    }),
  ];
  const claims = [fc.tuple(slot, token).chain(([s, t]) => fc.constantFrom(...claimCalls(s, t)))];
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

/** A key, and how its runs are listed, whichever they are. */
interface Slot {
  readonly name: string;
  readonly key: RunKey;
  readonly entry: RunIndexEntry | undefined;
}

function slotsFor(facets: ReadonlySet<Facet>): Slot[] {
  return [
    { name: 'A', principal: 'ann', kind: 'approval' },
    { name: 'B', principal: 'bea', kind: 'client_tool' },
  ].map(({ name, principal, kind }) => {
    const entry = { tenant: TENANT, principal, kind, bytes: bytes(`about ${name}`) };
    return { name, key: aKey(), entry: facets.has('index') ? entry : undefined };
  });
}

function claimCalls({ key, name }: Slot, token: string): Named[] {
  const who = `${name}, ${short(token)}`;
  const settlement = { token, outcome: bytes(`by ${who}`), outcomeTtlMs: OUTCOME_MS };
  return [
    { name: `claim(${who})`, call: (backend) => claimed(backend, key, token) },
    { name: `extend(${who})`, call: (backend) => backend.claims!.extend(key, { token, leaseMs: LEASE_MS }) },
    { name: `release(${who})`, call: (backend) => backend.claims!.release(key, { token }) },
    { name: `outcome(${name})`, call: async (backend) => text(await backend.claims!.outcome(key)) },
    { name: `settle(${who})`, call: (backend) => backend.claims!.settle(key, settlement) },
  ];
}

/** What a compare-and-set expects: what the cell holds, or something that it never held. */
type Expected = 'held' | 'other';

const NEVER_WRITTEN = bytes('never written');

async function swapped(backend: RunBackend, key: RunKey, from: Expected, ifStamp: Uint8Array): Promise<boolean> {
  const expected = from === 'held' ? await backend.cells!.read(key) : NEVER_WRITTEN;
  return backend.cells!.swap(key, { expected, next: bytes('gathered'), ifStamp });
}

async function takenWithCell(backend: RunBackend, key: RunKey, from: Expected, token: string): Promise<string | null> {
  const ifCell = from === 'held' ? await backend.cells!.read(key) : NEVER_WRITTEN;
  return text(await backend.take(key, { token, retainMs: RETAIN_MS, ifCell }));
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

/** What was put back is listed for certain once it has been touched. */
async function putBackListed(backend: RunBackend, { key, entry }: Slot, copy: { token: string; ttlMs: number }) {
  const isBack = await backend.putBack(key, copy);
  if (isBack) await backend.touch(key, { ttlMs: copy.ttlMs, index: entry });
  return isBack;
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

function short(token: string): string {
  return token.slice(0, 4);
}

function text(value: Uint8Array | null): string | null {
  return value && Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
