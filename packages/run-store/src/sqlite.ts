/** `@mcp-interlock/run-store/sqlite`: paused runs in a file, with libsql, better-sqlite3 or node:sqlite. */
import { RunStoreError } from './errors.js';
import { type SqliteRunBackend, sqliteRunBackend } from './sql/sqlite-backend.js';
import type { SqliteDatabase } from './sql/sqlite-database.js';

export { nodeRuntime } from './node.js';
export { type SqliteRunBackend, type SqliteRunBackendOptions, sqliteRunBackend } from './sql/sqlite-backend.js';
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sql/sqlite-database.js';

export interface OpenSqliteOptions {
  /** File of the database, made if it is missing; `':memory:'` for one that dies with the process. */
  readonly path: string;
  /** How long a write waits for another process' write, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number | undefined;
  readonly tablePrefix?: string | undefined;
  readonly now?: (() => number) | undefined;
}

/**
 * Opens a file with libsql, which installs without a compiler, in WAL mode with a sync at every commit.
 *
 * Throws `PEER_MISSING` when libsql is not installed.
 *
 * @example
 * const { backend, close } = await openSqlite({ path: 'runs.db' });
 */
export async function openSqlite(
  options: OpenSqliteOptions,
): Promise<{ readonly backend: SqliteRunBackend; readonly database: SqliteDatabase; close(): void }> {
  const { path, busyTimeoutMs = 5_000, tablePrefix, now } = options;
  const { default: Database } = await import('libsql').catch((cause: unknown) => {
    throw new RunStoreError(
      'PEER_MISSING',
      'openSqlite needs the package libsql: npm install libsql. Or open better-sqlite3 or node:sqlite and use sqliteRunBackend({ database }).',
      { cause },
    );
  });
  const database = new Database(path);
  database.exec(`PRAGMA busy_timeout = ${Math.max(0, Math.floor(busyTimeoutMs))}`);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  return { backend: sqliteRunBackend({ database, tablePrefix, now }), database, close: () => database.close() };
}
