/** SQLite ends nothing by itself: what has expired is deleted here, a bounded number of runs a call. */
import type { SweepOptions } from '../backend.js';
import type { SqliteStatement } from './sqlite-database.js';

export function createSqliteSweep(context: {
  readonly sql: (text: string) => SqliteStatement;
  readonly now: () => number;
  readonly inOneStep: <T>(operation: string, step: () => T) => Promise<T>;
}): (options: SweepOptions) => Promise<number> {
  const { sql, now, inOneStep } = context;
  return async ({ limit, onExpired }) => {
    const expired = await inOneStep('sweep', () => {
      const at = now();
      const pick = (slots: string): string =>
        `DELETE FROM %runs WHERE rowid IN (SELECT rowid FROM %runs WHERE expires_at <= ? AND slot ${slots} LIMIT ?)`;
      const gone = sql(`${pick("IN ('v', 'w')")} RETURNING key`).all(at, limit);
      sql(pick("NOT IN ('v', 'w')")).run(at, limit);
      for (const table of ['run_cells', 'run_outcomes', 'run_releases']) {
        sql(`DELETE FROM %${table} WHERE expires_at <= ?`).run(at);
      }
      return gone.map(Object);
    });
    for (const deleted of expired) onExpired?.(String(Reflect.get(deleted, 'key')));
    return expired.length;
  };
}
