/** `@mcp-interlock/run-store/sqlite`: paused runs in a file, with libsql, better-sqlite3 or node:sqlite. */
import { closeSync, openSync } from 'node:fs';
import { RunStoreError } from './errors.js';
import { type SqliteRunBackend, sqliteRunBackend } from './sql/sqlite-backend.js';
import type { SqliteDatabase } from './sql/sqlite-database.js';

export { nodeRuntime } from './node.js';
export { type SqliteRunBackend, type SqliteRunBackendOptions, sqliteRunBackend } from './sql/sqlite-backend.js';
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sql/sqlite-database.js';

export interface OpenSqliteOptions {
  /**
   * File of the database; `':memory:'` for one that dies with the process. If it is missing it is made, and only its
   * owner may read it (0600), which holds for the `-wal` and `-shm` beside it too.
   */
  readonly path: string;
  /** How long a write waits for another process' write, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number | undefined;
  readonly tablePrefix?: string | undefined;
  readonly now?: (() => number) | undefined;
}

/**
 * Opens a file with libsql, which installs without a compiler, in WAL mode with a sync at every commit.
 *
 * Throws `PEER_MISSING` when libsql is not installed, `BACKEND_UNAVAILABLE` when the file cannot be opened or is no
 * database of runs; it is left as it is.
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
  let database: InstanceType<typeof Database> | undefined;
  try {
    if (path !== ':memory:') makeForOwner(path);
    database = new Database(path);
    database.exec(`PRAGMA busy_timeout = ${Math.max(0, Math.floor(busyTimeoutMs))}`);
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    const opened = database;
    return { backend: sqliteRunBackend({ database, tablePrefix, now }), database, close: () => opened.close() };
  } catch (cause) {
    database?.close();
    throw cause instanceof RunStoreError ? cause : unopenable(path, cause);
  }
}

/** SQLite would make it readable for all, and gives its helpers the mode that it finds. */
function makeForOwner(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}

function unopenable(path: string, cause: unknown): RunStoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RunStoreError(
    'BACKEND_UNAVAILABLE',
    `The database file ${JSON.stringify(path)} cannot be opened: ${reason}. It is left as it is. Its folder has to exist and be writable; if the file is something else than a database of runs, pass another \`path\` (or \`tablePrefix\`), and if it is damaged, restore it.`,
    { cause },
  );
}
