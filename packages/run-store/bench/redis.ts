/**
 * Redis: the driver, and whole stores on it, against raw ioredis on the same encoded bytes: one process, one server, one
 * connection. The targets are the driver's, which gets and gives encoded bytes as raw ioredis does; a store also encodes,
 * names, checks and decodes, and its rows say what that costs.
 */
import type { AgentRunState, RunIndexEntry } from '@mcp-interlock/run-store';
import { RedisRunStore, type RedisRunStoreOptions, redisRunBackend } from '@mcp-interlock/run-store/redis';
import { printTable, type Spread } from '@mcp-interlock/test-kit/bench';
import { startRedis } from '@mcp-interlock/test-kit/redis';
import { Redis } from 'ioredis';
import { type BenchCase, type Measured, measure } from './measure.js';
import { aRunOf } from './states.js';

const KB = 1024;
/** Operations of a round: enough to outlast the clock's jitter, few enough to keep memory and time in bounds. */
const SIZES = [
  { name: '1 KB', bytes: KB, operations: { 1: 400, 64: 2048 } },
  { name: '10 KB', bytes: 10 * KB, operations: { 1: 200, 64: 1024 } },
  { name: '100 KB', bytes: 100 * KB, operations: { 1: 128, 64: 512 } },
  { name: '1 MB', bytes: KB * KB, operations: { 1: 32, 64: 128 } },
] as const;

type Operation = 'store' | 'load' | 'consume';
type SizeName = (typeof SIZES)[number]['name'];
type InFlight = 1 | 64;

/** Lowest speed asked of the driver without an index, as a share of raw. */
const SPEED_TARGETS: Record<Operation, Partial<Record<SizeName, number>>> = {
  store: { '1 KB': 0.9, '10 KB': 0.9, '100 KB': 0.9, '1 MB': 0.9 },
  load: { '1 KB': 0.9, '10 KB': 0.9, '100 KB': 0.9, '1 MB': 0.9 },
  consume: { '1 KB': 0.55, '10 KB': 0.65, '100 KB': 0.85 },
};
const INDEXED_STORE_TARGET = 0.55;
const P99_TARGET = 1.5;
const LIFE_MS = 600_000;

export interface RedisBenchOptions {
  readonly rounds: number;
  /** Names of sizes to measure. Default: all. */
  readonly sizes?: readonly string[] | undefined;
  /** Names of operations to measure. Default: all. */
  readonly operations?: readonly string[] | undefined;
  /** `'driver'`: without the whole stores. */
  readonly cases: 'driver' | 'all';
  /** `'auto'`: the client of both sides has `enableAutoPipelining`. */
  readonly pipelining: 'auto' | 'off';
}

export async function benchRedis(options: RedisBenchOptions): Promise<void> {
  const { rounds, sizes, pipelining } = options;
  const wanted = (['store', 'load', 'consume'] as const).filter(
    (operation) => !options.operations || options.operations.includes(operation),
  );
  const server = await startRedis();
  const client = new Redis(server.url, { enableAutoPipelining: pipelining === 'auto' });
  try {
    for (const size of SIZES.filter(({ name }) => !sizes || sizes.includes(name))) {
      for (const operation of wanted) {
        for (const inFlight of [1, 64] as const) {
          const operations = size.operations[inFlight];
          const all = await casesOf(client, operation, size.bytes, operations);
          const cases =
            options.cases === 'all' ? all : all.filter(({ name }) => /^(raw|raw again|driver.*)$/.test(name));
          const measured = await measure({
            cases,
            operations,
            inFlight,
            rounds,
            // Loads find the runs of the first round; consumed runs leave copies, which must not pile up.
            beforeRound: async (round) => (operation === 'load' && round >= 0 ? undefined : client.flushdb()),
          });
          printMeasured({ operation, size: size.name, inFlight, rounds, pipelining }, measured);
          await client.flushdb();
        }
      }
    }
  } finally {
    client.disconnect();
    await server.stop();
  }
}

async function casesOf(client: Redis, operation: Operation, bytes: number, operations: number): Promise<BenchCase[]> {
  const state = aRunOf(bytes);
  const cases: BenchCase[] = [];
  for (const [name, options] of Object.entries(flavours())) {
    const store = new RedisRunStore<AgentRunState>({ client, ttlSeconds: LIFE_MS / 1000, ...options });
    const encoded = Buffer.from(await store.encode('0', state));
    // The indexed store writes the same bytes as the plain one.
    const baseline = name === 'compressed' || name === 'encrypted' ? `raw, ${name}` : 'raw';
    if (name !== 'indexed') cases.push(rawCase(client, operation, { name: baseline, bytes: encoded, operations }));
    if (name === 'plain') {
      // The same once more: what the machine's noise makes of no difference at all.
      const again = { name: 'raw again', bytes: encoded, operations };
      cases.push({ ...rawCase(client, operation, again), baseline });
      cases.push(driverCase(client, operation, { name: 'driver', baseline, bytes: encoded, operations }));
    }
    if (name === 'indexed') {
      const index = { tenant: 'acme', principal: 'ann', kind: 'approval', bytes: new Uint8Array(64) };
      cases.push(
        driverCase(client, operation, { name: 'driver, indexed', baseline, bytes: encoded, operations, index }),
      );
    }
    cases.push(storeCase(operation, { name: `store, ${name}`, baseline, store, state, operations }));
  }
  return cases;
}

function flavours(): Record<string, Partial<RedisRunStoreOptions<AgentRunState>>> {
  const encryption = { activeKeyId: 'k1', keys: { k1: new Uint8Array(32).fill(7) } };
  return {
    plain: { compression: 'none' },
    compressed: { compression: { thresholdBytes: 1 } },
    encrypted: { compression: 'none', encryption, index: 'off' },
    indexed: { compression: 'none', index: 'clear' },
  };
}

function rawCase(
  client: Redis,
  operation: Operation,
  { name, bytes, operations }: { name: string; bytes: Buffer; operations: number },
): BenchCase {
  const keys = Array.from({ length: operations }, (_, i) => `raw:{${name}:${i}}`);
  const set = (key: string) => client.set(key, bytes, 'PX', LIFE_MS);
  return prepared(operation, {
    name,
    baseline: name,
    fill: () => Promise.all(keys.map(set)),
    store: (i) => set(keys[i]!),
    load: (i) => client.getBuffer(keys[i]!),
    consume: (i) => client.getdelBuffer(keys[i]!),
  });
}

function driverCase(
  client: Redis,
  operation: Operation,
  run: {
    readonly name: string;
    readonly baseline: string;
    readonly bytes: Buffer;
    readonly operations: number;
    readonly index?: RunIndexEntry;
  },
): BenchCase {
  const { name, baseline, bytes, operations, index } = run;
  const backend = redisRunBackend({ client });
  const keys = Array.from({ length: operations }, (_, i) => `${name}:{${i}}`);
  const put = (key: string) => backend.put(key, bytes, { existing: 'replace', ttlMs: LIFE_MS, index });
  return prepared(operation, {
    name,
    baseline,
    fill: () => Promise.all(keys.map(put)),
    store: (i) => put(keys[i]!),
    load: (i) => backend.get(keys[i]!),
    consume: (i) => backend.take(keys[i]!, { token: `token-${i}`, retainMs: 60_000, ttlMs: LIFE_MS }),
  });
}

function storeCase(
  operation: Operation,
  run: {
    readonly name: string;
    readonly baseline: string;
    readonly store: RedisRunStore<AgentRunState>;
    readonly state: AgentRunState;
    readonly operations: number;
  },
): BenchCase {
  const { name, baseline, store, state, operations } = run;
  const ids = Array.from({ length: operations }, (_, i) => `${name}-${i}`);
  const options = name.endsWith('indexed') ? { scope: { tenant: 'acme', principal: 'ann' } } : {};
  const put = (id: string) => store.store(id, state, options);
  return prepared(operation, {
    name,
    baseline,
    fill: () => Promise.all(ids.map(put)),
    store: (i) => put(ids[i]!),
    load: (i) => store.load(ids[i]!),
    consume: (i) => store.consume(ids[i]!),
  });
}

function prepared(
  operation: Operation,
  one: { readonly name: string; readonly baseline: string; fill(): Promise<unknown> } & Record<
    Operation,
    (i: number) => Promise<unknown>
  >,
): BenchCase {
  let isFilled = false;
  return {
    name: one.name,
    baseline: one.baseline,
    async prepare() {
      if (operation === 'store' || (operation === 'load' && isFilled)) return;
      await one.fill();
      isFilled = true;
    },
    run: one[operation],
  };
}

function printMeasured(
  what: Pick<RedisBenchOptions, 'pipelining' | 'rounds'> & { operation: Operation; size: SizeName; inFlight: InFlight },
  measured: readonly Measured[],
): void {
  const { operation, size, inFlight, rounds, pipelining } = what;
  const rows = measured.map(({ name, us, speed, p99Ratio }) => {
    const isRaw = name.startsWith('raw') && name !== 'raw again';
    const target = targetOf(name, operation, size);
    const p99Target = name.startsWith('driver') && inFlight === 64 ? P99_TARGET : undefined;
    return [
      name,
      us.median.toFixed(1),
      isRaw ? '' : range(speed),
      target === undefined ? '' : `≥ ${target}`,
      target === undefined ? '' : speed.median >= target ? 'yes' : 'NO',
      isRaw ? '' : range(p99Ratio),
      p99Target === undefined ? '' : `≤ ${p99Target}`,
      p99Target === undefined ? '' : p99Ratio.median <= p99Target ? 'yes' : 'NO',
    ];
  });
  printTable(
    `${operation}, ${size}, ${inFlight} in flight${pipelining === 'auto' ? ', autopipelining' : ''} (median of ${rounds} interleaved rounds, against raw ioredis on the same bytes)`,
    ['case', 'µs/op', 'speed (min–max)', 'target', 'met', 'p99 ratio (min–max)', 'target', 'met'],
    rows,
  );
}

function targetOf(name: string, operation: Operation, size: SizeName): number | undefined {
  if (name === 'driver') return SPEED_TARGETS[operation][size];
  return name === 'driver, indexed' && operation === 'store' && size === '1 KB' ? INDEXED_STORE_TARGET : undefined;
}

function range({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}
