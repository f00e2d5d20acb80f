/** Listing on SQLite: the entry lies in the run's own row, so that it cannot outlive the run. */
import type { IndexedRun, RunIndex, RunKey } from '../backend.js';
import { sequenceAfter } from '../backends/cursor.js';
import { blobOf, refusal, type SqliteStatement, type SqliteValue } from './sqlite-database.js';

export function createSqliteIndex(context: {
  readonly sql: (text: string) => SqliteStatement;
  readonly now: () => number;
  readonly inOneStep: <T>(operation: string, step: () => T) => Promise<T>;
  readonly remove: (key: RunKey) => boolean;
}): RunIndex {
  const { sql, now, inOneStep, remove } = context;
  return {
    async list({ tenant, principal, kind, cursor, limit }) {
      const at = now();
      const values: SqliteValue[] = [tenant, sequenceAfter(cursor), at];
      let narrowed = '';
      for (const [column, value] of [
        ['principal', principal],
        ['kind', kind],
      ] as const) {
        if (value === undefined) continue;
        narrowed += ` AND ${column} = ?`;
        values.push(value);
      }
      const rows = listedRows(
        sql(
          `SELECT rowid AS id, key, entry, expires_at, slot, lease_until FROM %runs AS run
           WHERE tenant = ? AND rowid > ? AND slot IN ('v', 'w') AND (expires_at IS NULL OR expires_at > ?)${narrowed}
             AND (slot = 'v' OR NOT EXISTS (SELECT 1 FROM %runs AS newer WHERE newer.key = run.key AND newer.slot = 'v'
               AND (newer.expires_at IS NULL OR newer.expires_at > ?)))
           ORDER BY rowid LIMIT ?`,
        ),
        [...values, at, limit + 1],
      );
      const runs = rows.slice(0, limit).map((listed) => runOf(listed, at));
      return rows.length > limit ? { runs, cursor: String(Reflect.get(rows[limit - 1]!, 'id')) } : { runs };
    },
    eraseTenant: (tenant) =>
      inOneStep('eraseTenant', () => {
        const rows = listedRows(sql('SELECT DISTINCT key FROM %runs WHERE tenant = ?'), [tenant]);
        const erased = rows.filter((listed) => remove(String(Reflect.get(listed, 'key')))).length;
        // Copies that were taken a moment ago go as well.
        sql('DELETE FROM %runs WHERE tenant = ?').run(tenant);
        return erased;
      }),
  };
}

function listedRows(statement: SqliteStatement, values: readonly SqliteValue[]): readonly object[] {
  try {
    return statement.all(...values).filter((row): row is object => typeof row === 'object' && row !== null);
  } catch (cause) {
    throw refusal('list', cause);
  }
}

function runOf(row: object, at: number): IndexedRun {
  const [key, expiresAt, slot, leaseUntil]: unknown[] = ['key', 'expires_at', 'slot', 'lease_until'].map((column) =>
    Reflect.get(row, column),
  );
  return {
    key: String(key),
    bytes: blobOf(row, 'entry') ?? new Uint8Array(),
    status: slot === 'w' && Number(leaseUntil) > at ? 'claimed' : 'waiting',
    ...(typeof expiresAt === 'number' ? { expiresInMs: expiresAt - at } : {}),
  };
}
