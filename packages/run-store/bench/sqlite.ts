/** The SQLite driver and a store on it against the same SQL by hand, on the same file settings (WAL, a sync a commit). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentRunState, createRunStore } from '@mcp-interlock/run-store';
import { nodeRuntime, openSqlite, type SqliteDatabase, sqliteRunBackend } from '@mcp-interlock/run-store/sqlite';
import { printTable } from '@mcp-interlock/test-kit/bench';
import { type BenchCase, measure } from './measure.js';
import { aRunOf } from './states.js';

const LIFE_MS = 600_000;
const OPERATIONS = 200;
const TARGET = 0.8;

type Operation = 'store' | 'load' | 'consume';
type Operations = Record<Operation, (i: number) => Promise<unknown>>;

export async function benchSqlite({ rounds }: { readonly rounds: number }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'interlock-bench-'));
  const { database, close } = await openSqlite({ path: join(folder, 'runs.db') });
  try {
    for (const [size, bytes] of [
      ['1 KB', 1024],
      ['10 KB', 10 * 1024],
    ] as const) {
      for (const operation of ['store', 'load', 'consume'] as const) {
        const cases = await casesOf(database, operation, bytes);
        const measured = await measure({ cases, operations: OPERATIONS, inFlight: 1, rounds });
        const rows = measured.map(({ name, us, speed }, index) => [
          name,
          us.median.toFixed(1),
          index === 0 ? '' : `${speed.median.toFixed(2)} (${speed.min.toFixed(2)}–${speed.max.toFixed(2)})`,
          name === NAMES.driver_ ? `≥ ${TARGET}` : '',
          name === NAMES.driver_ ? (speed.median >= TARGET ? 'yes' : 'NO') : '',
        ]);
        printTable(
          `SQLite (libsql): ${operation}, ${size} (median of ${rounds} interleaved rounds, against the same SQL by hand)`,
          ['case', 'µs/op', 'speed (min–max)', 'target', 'met'],
          rows,
        );
      }
    }
  } finally {
    close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function casesOf(database: SqliteDatabase, operation: Operation, bytes: number): Promise<BenchCase[]> {
  const state = aRunOf(bytes);
  // Each case has tables of its own, of the same shape; the driver makes those of the one by hand as well.
  const backends = ['hand_', 'driver_', 'store_'].map((tablePrefix) => sqliteRunBackend({ database, tablePrefix }));
  const store = createRunStore<AgentRunState>({
    backend: backends[2]!,
    ttlSeconds: LIFE_MS / 1000,
    compression: 'none',
    runtime: nodeRuntime,
  });
  const encoded = await store.encode('0', state);
  const driver = backends[1]!;
  const byHand = statementsOf(database, encoded);
  return [
    prepared(database, operation, 'hand_', byHand),
    prepared(database, operation, 'driver_', {
      store: (i) => driver.put(`{${i}}`, encoded, { existing: 'replace', ttlMs: LIFE_MS }),
      load: (i) => driver.get(`{${i}}`),
      consume: (i) => driver.take(`{${i}}`, { token: `token-${i}`, retainMs: 60_000, ttlMs: 600_000 }),
    }),
    prepared(database, operation, 'store_', {
      store: (i) => store.store(`${i}`, state),
      load: (i) => store.load(`${i}`),
      consume: (i) => store.consume(`${i}`),
    }),
  ];
}

/** The driver's own statements, prepared once and called without it. */
function statementsOf(database: SqliteDatabase, value: Uint8Array): Operations {
  const insert = database.prepare(
    `INSERT INTO hand_runs (key, slot, value, expires_at, tenant, principal, kind, entry) VALUES (?, 'v', ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key, slot) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at,
       tenant = excluded.tenant, principal = excluded.principal, kind = excluded.kind, entry = excluded.entry`,
  );
  const select = database.prepare(
    `SELECT value FROM hand_runs WHERE key = ? AND slot = 'v' AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const take = database.prepare(
    `UPDATE OR IGNORE hand_runs SET slot = ?, expires_at = ?
     WHERE key = ? AND slot = 'v' AND (expires_at IS NULL OR expires_at > ?) RETURNING value`,
  );
  const bytes = Buffer.from(value);
  return {
    store: async (i) => insert.run(`{${i}}`, bytes, Date.now() + LIFE_MS, null, null, null, null),
    load: async (i) => select.get(`{${i}}`, Date.now()),
    consume: async (i) => take.get(`t:token-${i}`, Date.now() + 60_000, `{${i}}`, Date.now()),
  };
}

const NAMES: Record<string, string> = { hand_: 'SQL by hand', driver_: 'driver', store_: 'store, plain' };

/** Loads find the runs of the first round, consumes need new ones in every round, stores need none. */
function prepared(database: SqliteDatabase, operation: Operation, prefix: string, operations: Operations): BenchCase {
  const fill = async () => {
    for (let i = 0; i < OPERATIONS; i += 1) await operations.store(i);
  };
  let isFilled = false;
  return {
    name: NAMES[prefix]!,
    baseline: NAMES.hand_!,
    async prepare() {
      if (operation === 'load' && isFilled) return;
      database.exec(`DELETE FROM ${prefix}runs`);
      if (operation !== 'store') await fill();
      isFilled = true;
    },
    run: operations[operation],
  };
}
