/**
 * The backend on SQLite. Storing, loading and taking are one statement each; steps that look before they write are one
 * immediate transaction, begun and ended without giving up the thread.
 */
import type {
  ClaimReply,
  PutOptions,
  RunBackend,
  RunBackendCapabilities,
  RunCells,
  RunClaims,
  RunIndex,
  RunKey,
  TakeOptions,
} from '../backend.js';
import { sameBytes, startsWith } from '../bytes.js';
import {
  blob,
  blobOf,
  checkDatabase,
  checkTablePrefix,
  createTables,
  outliving,
  payloadOf,
  type Row,
  refusal,
  rowOf,
  type SqliteDatabase,
  type SqliteStatement,
} from './sqlite-database.js';
import { createSqliteIndex } from './sqlite-index.js';
import { createSqliteStep } from './sqlite-step.js';
import { createSqliteSweep } from './sqlite-sweep.js';

export interface SqliteRunBackendOptions {
  /** Open database of libsql, better-sqlite3 or node:sqlite. The caller closes it. */
  readonly database: SqliteDatabase;
  /** Begins the names of the tables, which are created if they are missing. Default `'interlock_'`. */
  readonly tablePrefix?: string | undefined;
  /** Milliseconds since the epoch; decides what has expired. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

export interface SqliteRunBackend extends RunBackend {
  readonly cells: RunCells;
  readonly claims: RunClaims;
  readonly index: RunIndex;
}

const capabilities: RunBackendCapabilities = {
  atomicTake: 'store',
  retrySafeTake: true,
  expiry: true,
  durability: 'store-restart',
  shared: true,
};

/** Every so many stores, as many again of what has expired is deleted: a database that nobody sweeps stays bounded. */
const SWEEP_EVERY = 64;

/**
 * @example
 * const database = new Database('runs.db'); // libsql
 * const runs = createRunStore({ backend: sqliteRunBackend({ database }), runtime: nodeRuntime });
 */
export function sqliteRunBackend(options: SqliteRunBackendOptions): SqliteRunBackend {
  const { now = Date.now } = options;
  const database = checkDatabase(options.database);
  const prefix = checkTablePrefix(options.tablePrefix ?? 'interlock_');
  createTables(database, prefix);
  const statements = new Map<string, SqliteStatement>();
  const sql = (text: string): SqliteStatement => {
    let statement = statements.get(text);
    if (statement === undefined) {
      statement = database.prepare(text.replaceAll('%', prefix));
      statements.set(text, statement);
    }
    return statement;
  };

  const inOneStep = createSqliteStep(database);
  const sweep = createSqliteSweep({ sql, now, inOneStep });
  let putsSinceSweep = 0;

  const row = (key: RunKey, slot: string): Row | undefined =>
    rowOf(
      sql(
        `SELECT value, expires_at, claim_token, fence, lease_until FROM %runs
         WHERE key = ? AND slot = ? AND (expires_at IS NULL OR expires_at > ?)`,
      ).get(key, slot, now()),
    );
  /** Of the row, the value alone: every further column of a result costs about as much as looking for the row. */
  const valueAt = (key: RunKey, slot: string): Uint8Array | undefined =>
    payloadOf(
      sql('SELECT value FROM %runs WHERE key = ? AND slot = ? AND (expires_at IS NULL OR expires_at > ?)').get(
        key,
        slot,
        now(),
      ),
    );
  const deleteRow = (key: RunKey, slot: string): unknown =>
    sql('DELETE FROM %runs WHERE key = ? AND slot = ?').run(key, slot);
  const cellOf = (key: RunKey): Uint8Array | null =>
    blobOf(
      sql('SELECT value FROM %run_cells WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)').get(key, now()),
    );

  function insert(key: RunKey, bytes: Uint8Array, { ttlMs, index }: PutOptions): void {
    sql(
      `INSERT INTO %runs (key, slot, value, expires_at, tenant, principal, kind, entry) VALUES (?, 'v', ?, ?, ?, ?, ?, ?)
       ON CONFLICT (key, slot) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at,
         tenant = excluded.tenant, principal = excluded.principal, kind = excluded.kind, entry = excluded.entry`,
    ).run(
      key,
      blob(bytes),
      ttlMs === undefined ? null : now() + ttlMs,
      index?.tenant ?? null,
      index?.principal ?? null,
      index?.kind ?? null,
      index === undefined ? null : blob(index.bytes),
    );
  }

  async function put(key: RunKey, bytes: Uint8Array, put: PutOptions): Promise<'stored' | 'exists'> {
    putsSinceSweep += 1;
    if (putsSinceSweep >= SWEEP_EVERY) {
      putsSinceSweep = 0;
      await sweep({ limit: 2 * SWEEP_EVERY });
    }
    if (put.existing === 'keep') {
      return inOneStep('store', () => {
        const present = row(key, 'v') ?? row(key, 'w');
        if (present !== undefined) return startsWith(present.value, bytes) ? 'stored' : 'exists';
        insert(key, bytes, put);
        return 'stored';
      });
    }
    try {
      insert(key, bytes, put);
      return 'stored';
    } catch (cause) {
      throw refusal('store', cause);
    }
  }

  async function take(key: RunKey, options: TakeOptions): Promise<Uint8Array | null> {
    const { token, retainMs, ifStamp, ifCell } = options;
    const at = now();
    if (ifStamp === undefined && ifCell === undefined) {
      try {
        const taken = blobOf(
          sql(
            `UPDATE OR IGNORE %runs SET slot = ?, expires_at = ?, lease_until = expires_at
             WHERE key = ? AND slot = 'v' AND (expires_at IS NULL OR expires_at > ?) AND typeof(value) = 'blob' RETURNING value`,
          ).get(copyOf(token), at + retainMs, key, at),
        );
        if (taken !== null) return taken;
      } catch (cause) {
        throw refusal('consume', cause);
      }
    }
    return inOneStep('consume', () => {
      const earlier = row(key, copyOf(token));
      if (earlier !== undefined) return earlier.value;
      const held = row(key, 'w');
      const waits = row(key, 'v');
      const run = waits ?? (held !== undefined && held.leaseUntil <= at ? held : undefined);
      if (run === undefined || (ifStamp !== undefined && !startsWith(run.value, ifStamp))) return null;
      if (ifCell !== undefined && !sameBytes(cellOf(key), ifCell)) return null;
      deleteRow(key, copyOf(token));
      sql(
        'UPDATE %runs SET slot = ?, expires_at = ?, lease_until = expires_at, claim_token = NULL WHERE key = ? AND slot = ?',
      ).run(copyOf(token), at + retainMs, key, waits === undefined ? 'w' : 'v');
      sql('UPDATE %run_cells SET expires_at = ? WHERE key = ?').run(at + retainMs, key);
      return run.value;
    });
  }

  async function claim(
    key: RunKey,
    { token, leaseMs, ifStamp }: Parameters<RunClaims['claim']>[1],
  ): Promise<ClaimReply> {
    return inOneStep('claim', (): ClaimReply => {
      const at = now();
      const held = row(key, 'w');
      if (held !== undefined && held.leaseUntil > at) {
        if (held.claimToken !== token) return { kind: 'held', retryInMs: held.leaseUntil - at };
        return { kind: 'claimed', bytes: held.value, fence: held.fence };
      }
      const waits = row(key, 'v');
      const run = waits ?? held;
      if (run === undefined) {
        const outcome = outcomeOf(key);
        return outcome === null ? { kind: 'missing' } : { kind: 'settled', outcome };
      }
      if (ifStamp !== undefined && !startsWith(run.value, ifStamp)) return { kind: 'missing' };
      const fence = nextFence(at);
      if (waits !== undefined) deleteRow(key, 'w');
      sql(
        `UPDATE %runs SET slot = 'w', claim_token = ?, fence = ?, lease_until = ?, expires_at = ? WHERE key = ? AND slot = ?`,
      ).run(token, fence, at + leaseMs, outliving(run, at, leaseMs), key, waits === undefined ? 'w' : 'v');
      sql('DELETE FROM %run_releases WHERE key = ?').run(key);
      return { kind: 'claimed', bytes: run.value, fence };
    });
  }

  function nextFence(at: number): number {
    const next = sql('UPDATE %run_fence SET last = max(last + 1, ?) WHERE id = 1 RETURNING last').get(Math.floor(at));
    return Number(typeof next === 'object' && next !== null ? Reflect.get(next, 'last') : Number.NaN);
  }

  const outcomeOf = (key: RunKey): Uint8Array | null =>
    blobOf(sql('SELECT value FROM %run_outcomes WHERE key = ? AND expires_at > ?').get(key, now()));
  const settledBy = (key: RunKey, token: string): boolean =>
    sql('SELECT 1 FROM %run_outcomes WHERE key = ? AND token = ? AND expires_at > ?').get(key, token, now()) != null;

  const claims: RunClaims = {
    claim,
    extend: (key, { token, leaseMs }) =>
      inOneStep('extend', () => {
        const held = row(key, 'w');
        if (held?.claimToken !== token) return 'stale';
        const at = now();
        sql(`UPDATE %runs SET lease_until = ?, expires_at = ? WHERE key = ? AND slot = 'w'`).run(
          at + leaseMs,
          outliving(held, at, leaseMs),
          key,
        );
        return 'ok';
      }),
    release: (key, { token }) =>
      inOneStep('release', () => {
        const held = row(key, 'w');
        if (held?.claimToken !== token) {
          return sql('SELECT 1 FROM %run_releases WHERE key = ? AND token = ?').get(key, token) != null
            ? 'ok'
            : 'stale';
        }
        if (row(key, 'v') !== undefined) deleteRow(key, 'w');
        else {
          deleteRow(key, 'v');
          sql(`UPDATE %runs SET slot = 'v', claim_token = NULL, lease_until = 0 WHERE key = ? AND slot = 'w'`).run(key);
        }
        sql('INSERT OR REPLACE INTO %run_releases VALUES (?, ?, ?)').run(key, token, held.expiresAt);
        return 'ok';
      }),
    outcome: async (key) => outcomeOf(key),
    settle: (key, { token, outcome, outcomeTtlMs }) =>
      inOneStep('ack', () => {
        if (row(key, 'w')?.claimToken !== token) return settledBy(key, token) ? 'ok' : 'stale';
        deleteRow(key, 'w');
        // A cell beside a newer run is that run's.
        if (row(key, 'v') === undefined) sql('DELETE FROM %run_cells WHERE key = ?').run(key);
        const value = outcome === undefined ? null : blob(outcome);
        sql('INSERT OR REPLACE INTO %run_outcomes VALUES (?, ?, ?, ?)').run(key, token, value, now() + outcomeTtlMs);
        return 'ok';
      }),
  };

  const cells: RunCells = {
    read: async (key) => cellOf(key),
    swap: (key, { expected, next, ifStamp }) =>
      inOneStep('swap', () => {
        const waits = row(key, 'v');
        if (waits === undefined || !startsWith(waits.value, ifStamp)) return false;
        if (!sameBytes(cellOf(key), expected)) return false;
        sql('INSERT OR REPLACE INTO %run_cells VALUES (?, ?, ?)').run(key, blob(next), waits.expiresAt);
        return true;
      }),
  };

  /** Those of 'v' and 'w' that live and carry the stamp; without one, that live. */
  const meant = (key: RunKey, ifStamp: Uint8Array | undefined): string[] =>
    ['v', 'w'].filter((slot) => {
      const found = row(key, slot);
      return found !== undefined && (ifStamp === undefined || startsWith(found.value, ifStamp));
    });

  const removeInStep = (key: RunKey, ifStamp?: Uint8Array): boolean => {
    const slots = meant(key, ifStamp);
    if (slots.length === 0 && ifStamp !== undefined) return false;
    for (const slot of ifStamp === undefined ? ['v', 'w'] : slots) deleteRow(key, slot);
    // A cell beside a run that stays is that run's.
    if (row(key, 'v') === undefined) sql('DELETE FROM %run_cells WHERE key = ?').run(key);
    for (const table of ['run_outcomes', 'run_releases']) sql(`DELETE FROM %${table} WHERE key = ?`).run(key);
    return slots.length > 0;
  };

  return {
    name: 'sqlite',
    capabilities,
    put,
    get: async (key) => valueAt(key, 'v') ?? valueAt(key, 'w') ?? null,
    take,
    putBack: (key, { token }) =>
      inOneStep('putBack', () => {
        if (row(key, copyOf(token)) === undefined || row(key, 'v') !== undefined) return false;
        deleteRow(key, 'v');
        // A copy has no lease: the column keeps when the run would have been over.
        sql(`UPDATE %runs SET slot = 'v', expires_at = lease_until, lease_until = NULL WHERE key = ? AND slot = ?`).run(
          key,
          copyOf(token),
        );
        return true;
      }),
    touch: (key, { ttlMs, ifStamp }) =>
      inOneStep('touch', () => {
        const slots = meant(key, ifStamp);
        if (slots.length === 0) return false;
        const expiresAt = now() + ttlMs;
        for (const slot of slots) {
          sql(
            `UPDATE %runs SET expires_at = CASE slot WHEN 'w' THEN max(?, 2 * lease_until - ?) ELSE ? END
             WHERE key = ? AND slot = ?`,
          ).run(expiresAt, now(), expiresAt, key, slot);
        }
        sql('UPDATE %run_cells SET expires_at = ? WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)').run(
          expiresAt,
          key,
          now(),
        );
        return true;
      }),
    remove: (key, { ifStamp } = {}) => inOneStep('cancel', () => removeInStep(key, ifStamp)),
    cells,
    claims,
    index: createSqliteIndex({ sql, now, inOneStep, remove: removeInStep }),
    sweep,
  };
}

function copyOf(token: string): string {
  return `t:${token}`;
}
