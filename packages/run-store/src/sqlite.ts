/** `@mcp-interlock/run-store/sqlite`: paused runs in a file, with libsql, better-sqlite3 or node:sqlite. */
import { closeSync, openSync, statSync } from 'node:fs';
import { RunStoreError } from './errors.js';
import { type SqliteRunBackend, sqliteRunBackend } from './sql/sqlite-backend.js';
import type { SqliteDatabase } from './sql/sqlite-database.js';

export { nodeRuntime } from './node.js';
export { type SqliteRunBackend, type SqliteRunBackendOptions, sqliteRunBackend } from './sql/sqlite-backend.js';
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sql/sqlite-database.js';

export interface OpenSqliteOptions {
  /**
   * File of the database; `':memory:'` for one that dies with the process. If it is missing it is made, and only its
   * owner may read it (0600), which holds for the `-wal` and `-shm` beside it too. The mode of one that exists is kept.
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
 * Throws `INVALID_OPTION` for a path that is none, `PEER_MISSING` when libsql is not installed, `BACKEND_UNAVAILABLE` when the file cannot be opened or is no
 * database of runs; it is left as it is.
 *
 * @example
 * const { backend, close } = await openSqlite({ path: 'runs.db' });
 */
export async function openSqlite(
  options: OpenSqliteOptions,
): Promise<{ readonly backend: SqliteRunBackend; readonly database: SqliteDatabase; close(): void }> {
  const { busyTimeoutMs = 5_000, tablePrefix, now } = options;
  const path = checkPath(options.path);
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

/** SQLite takes what begins as a URL for one: for another file than the one that was made for its owner, or none. */
function checkPath(path: unknown): string {
  if (typeof path === 'string' && path !== '' && (path === ':memory:' || !/^[a-z][a-z0-9+.-]+:/i.test(path)))
    return path;
  throw new RunStoreError(
    'INVALID_OPTION',
    "The option `path` must be the path of a file as text, or ':memory:'. For a URL (file:, libsql:) open the database yourself and use sqliteRunBackend({ database }).",
  );
}

/** SQLite would make it readable for all, and gives its helpers the mode that it finds. */
function makeForOwner(path: string): void {
  const present = statSync(path, { throwIfNoEntry: false });
  if (present === undefined) closeSync(openSync(path, 'a', 0o600));
  else if (!present.isFile()) throw new Error('it is no file'); // A pipe would hold the process for ever.
}

function unopenable(path: string, cause: unknown): RunStoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RunStoreError(
    'BACKEND_UNAVAILABLE',
    `The database file ${JSON.stringify(path)} cannot be opened: ${reason}. It is left as it is. Its folder has to exist and be writable; if the file is something else than a database of runs, pass another \`path\` (or \`tablePrefix\`), and if it is damaged, restore it.`,
    { cause },
  );
}
