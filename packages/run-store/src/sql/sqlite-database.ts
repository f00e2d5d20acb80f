/** SQLite as this package sees it: what libsql, better-sqlite3 and node:sqlite have in common. */
import { RunStoreError } from '../errors.js';

export type SqliteValue = null | number | string | Uint8Array;

export interface SqliteStatement {
  run(...values: SqliteValue[]): unknown;
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

/** `new Database(path)` of libsql or better-sqlite3, `new DatabaseSync(path)` of node:sqlite. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
}

/** Everything that the driver writes lies in these; `prefix` begins their names. */
export function createTables(database: SqliteDatabase, prefix: string): void {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${prefix}runs (
      key TEXT NOT NULL,
      -- 'v' waiting, 'w' claimed, 't:<token>' taken
      slot TEXT NOT NULL,
      value BLOB NOT NULL,
      expires_at INTEGER,
      tenant TEXT,
      principal TEXT,
      kind TEXT,
      entry BLOB,
      claim_token TEXT,
      fence INTEGER,
      lease_until INTEGER,
      PRIMARY KEY (key, slot)
    );
    CREATE INDEX IF NOT EXISTS ${prefix}runs_expiry ON ${prefix}runs (expires_at) WHERE expires_at IS NOT NULL;
    CREATE INDEX IF NOT EXISTS ${prefix}runs_tenant ON ${prefix}runs (tenant, principal) WHERE tenant IS NOT NULL;
    CREATE TABLE IF NOT EXISTS ${prefix}run_cells (key TEXT PRIMARY KEY, value BLOB NOT NULL, expires_at INTEGER);
    CREATE TABLE IF NOT EXISTS ${prefix}run_outcomes (
      key TEXT PRIMARY KEY, token TEXT NOT NULL, value BLOB, expires_at INTEGER NOT NULL
    );
    CREATE TABLE IF NOT EXISTS ${prefix}run_releases (key TEXT PRIMARY KEY, token TEXT NOT NULL, expires_at INTEGER);
    CREATE TABLE IF NOT EXISTS ${prefix}run_fence (id INTEGER PRIMARY KEY CHECK (id = 1), last INTEGER NOT NULL);
    INSERT OR IGNORE INTO ${prefix}run_fence VALUES (1, 0);
  `);
}

export function checkDatabase(database: SqliteDatabase): SqliteDatabase {
  if (typeof database?.prepare === 'function' && typeof database.exec === 'function') return database;
  throw new RunStoreError(
    'INVALID_OPTION',
    'The option `database` must be an open database of libsql, better-sqlite3 or node:sqlite; or use openSqlite({ path }).',
  );
}

export function checkTablePrefix(prefix: string): string {
  if (/^[a-z_][a-z0-9_]{0,30}$/.test(prefix)) return prefix;
  throw new RunStoreError(
    'INVALID_OPTION',
    'The option `tablePrefix` must be 1 to 31 characters of a–z, 0–9 and "_", not beginning with a digit.',
  );
}

/** A statement either happens or does not: SQLite rolls a failed one back. */
export function refusal(operation: string, cause: unknown): RunStoreError {
  if (cause instanceof RunStoreError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RunStoreError('BACKEND_REFUSED', `The database refused ${operation}: ${reason}. Nothing was changed.`, {
    cause,
  });
}

export interface Row {
  readonly value: Uint8Array;
  readonly expiresAt: number | null;
  readonly claimToken: string | null;
  readonly fence: number;
  readonly leaseUntil: number;
}

/** Rows as the three libraries return them; columns are checked, since a database file is untrusted. */
export function rowOf(result: unknown): Row | undefined {
  const value = payloadOf(result);
  if (value === undefined || typeof result !== 'object' || result === null) return undefined;
  const column = (name: string): unknown => Reflect.get(result, name);
  const [expiresAt, claimToken] = [column('expires_at'), column('claim_token')];
  return {
    value,
    expiresAt: expiresAt === null || expiresAt === undefined ? null : Number(expiresAt),
    claimToken: typeof claimToken === 'string' ? claimToken : null,
    fence: Number(column('fence') ?? 0),
    leaseUntil: Number(column('lease_until') ?? 0),
  };
}

/** A row's `value`; `undefined` where there is no row. Throws `RUN_CORRUPT` where it is no BLOB. */
export function payloadOf(result: unknown): Uint8Array | undefined {
  if (typeof result !== 'object' || result === null) return undefined;
  const value: unknown = Reflect.get(result, 'value');
  if (value instanceof Uint8Array) return value;
  throw new RunStoreError('RUN_CORRUPT', 'The stored run is damaged: its value is no BLOB. It is left in place.');
}

export function blobOf(result: unknown, name = 'value'): Uint8Array | null {
  const value: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, name) : undefined;
  if (value instanceof Uint8Array) return value;
  // libsql answers `all` with ArrayBuffers, where `get` has Buffers.
  return value instanceof ArrayBuffer ? new Uint8Array(value) : null;
}

/** A run never expires under its claimer. */
export function outliving(run: Row, at: number, leaseMs: number): number | null {
  return run.expiresAt === null ? null : Math.max(run.expiresAt, at + 2 * leaseMs);
}

/** libsql takes a Buffer for a BLOB; the others take both. */
export function blob(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
