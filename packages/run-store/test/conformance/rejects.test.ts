import { describe, expect, test } from 'vitest';
import { memoryRunBackend, type RunBackend, type RunClaims, type RunIndex } from '../../src/index.js';
import { checkRunBackend } from '../../src/testing/index.js';

/** One defect at a time, put into a driver that is otherwise right. */
const DEFECTS: Record<string, (right: RunBackend, now: () => number) => Partial<RunBackend>> = {
  'answers a repeated take with null': (right) => ({
    take: (key, options) => right.take(key, { ...options, token: crypto.randomUUID() }),
  }),
  'takes a later run with an old token, as RENAME does': (right) => ({
    async take(key, options) {
      const later = await right.get(key);
      return later === null
        ? right.take(key, options)
        : right.take(key, { ...options, token: `${options.token}${later[0]}` });
    },
  }),
  'leaves a taken run where it was': (right) => ({ take: (key) => right.get(key) }),
  'ignores the stamp': (right) => ({ take: (key, { ifStamp: _, ...options }) => right.take(key, options) }),
  'ignores the cell': (right) => ({ take: (key, { ifCell: _, ...options }) => right.take(key, options) }),
  'forgets when runs end': (right) => ({
    put: (key, value, { ttlMs: _, ...options }) => right.put(key, value, options),
  }),
  'does not extend when touched': () => ({ touch: async () => true }),
  'prolongs a run when it is read': (right) => ({
    async get(key) {
      await right.touch(key, { ttlMs: 600_000 });
      return right.get(key);
    },
  }),
  "treats 'keep' as 'replace'": (right) => ({
    put: (key, value, options) => right.put(key, value, { ...options, existing: 'replace' }),
  }),
  'lets anybody undo a take': (right) => {
    const tokens = new Map<string, string>();
    return {
      take(key, options) {
        tokens.set(key, options.token);
        return right.take(key, options);
      },
      putBack: (key, options) => right.putBack(key, { ...options, token: tokens.get(key) ?? options.token }),
    };
  },
  'swaps a cell whatever it holds': (right) => ({
    cells: {
      read: (key) => right.cells!.read(key),
      swap: async (key, change) => right.cells!.swap(key, { ...change, expected: await right.cells!.read(key) }),
    },
  }),
  'gives every claimer the run': (right) => ({
    claims: withClaims(right, {
      async claim(key) {
        const value = await right.get(key);
        return value ? { kind: 'claimed', bytes: value, fence: 1 } : { kind: 'missing' };
      },
    }),
  }),
  'never ends a lease': (right) => ({
    claims: withClaims(right, { claim: (key, request) => right.claims!.claim(key, { ...request, leaseMs: 1e12 }) }),
  }),
  'gives every claim the same fence': (right) => ({
    claims: withClaims(right, {
      async claim(key, request) {
        const reply = await right.claims!.claim(key, request);
        return reply.kind === 'claimed' ? { ...reply, fence: 7 } : reply;
      },
    }),
  }),
  'lets an overtaken worker settle': (right) => ({ claims: withClaims(right, { settle: async () => 'ok' }) }),
  'forgets outcomes': (right) => ({
    claims: withClaims(right, {
      settle: (key, { outcome: _, ...settlement }) => right.claims!.settle(key, settlement),
    }),
  }),
  'takes a run under a live lease': (right) => ({
    async take(key, options) {
      const reply = await right.claims!.claim(key, { token: 'nobody', leaseMs: 1 });
      return reply.kind === 'held' ? right.get(key) : right.take(key, options);
    },
  }),
  "lists everybody's runs": (right) => {
    const tenants = new Set<string>();
    return {
      put(key, value, options) {
        if (options.index) tenants.add(options.index.tenant);
        return right.put(key, value, options);
      },
      index: withIndex(right, {
        async list(query) {
          const pages = await Promise.all([...tenants].map((tenant) => right.index!.list({ ...query, tenant })));
          return { runs: pages.flatMap(({ runs }) => runs) };
        },
      }),
    };
  },
  'shows the first page only': (right) => ({
    index: withIndex(right, {
      async list({ cursor: _, ...query }) {
        return { runs: (await right.index!.list(query)).runs };
      },
    }),
  }),
  'erases without counting': (right) => ({ index: withIndex(right, { eraseTenant: async () => 0 }) }),
  'sweeps what still lives': (right) => {
    const keys = new Set<string>();
    return {
      put(key, value, options) {
        keys.add(key);
        return right.put(key, value, options);
      },
      async sweep() {
        for (const key of keys) await right.remove(key);
        return keys.size;
      },
    };
  },
};

describe('the kit rejects a driver that', () => {
  test.each(Object.entries(DEFECTS))('%s', async (_name, defect) => {
    const { failed } = await checkRunBackend(
      {
        name: 'defective',
        async open() {
          let now = 1_700_000_000_000;
          const right = memoryRunBackend({ now: () => now });
          const backend: RunBackend = { ...right, ...defect(right, () => now) };
          const advance = async (ms: number) => {
            now += ms;
          };
          return { backend, advance, close: async () => {} };
        },
      },
      // The sentences must do: whether a random sequence shows a defect is left out of it.
      { model: { numRuns: 1, seed: 1 } },
    );
    const sentences = failed.map(({ name }) => name).filter((name) => !name.startsWith('any sequence'));
    expect(sentences).not.toEqual([]);
  });
});

function withClaims(right: RunBackend, part: Partial<RunClaims>): RunClaims {
  return { ...right.claims!, ...part };
}

function withIndex(right: RunBackend, part: Partial<RunIndex>): RunIndex {
  return { ...right.index!, ...part };
}
