/** The backend on Postgres: every operation one statement over anything that has a `query` method. */
import {
  type PutOptions,
  type RunBackend,
  type RunBackendCapabilities,
  type RunCells,
  type RunClaims,
  type RunIndex,
  type RunKey,
  STAMP_BYTES,
  type TakeOptions,
  type TouchOptions,
} from '../backend.js';
import { RunStoreError } from '../errors.js';
import { bytesIn, column, createCells, createClaims, listRuns } from './postgres-facets.js';
import { createSchema } from './postgres-schema.js';

/** `Pool` and `Client` of pg, `PGlite`, and whatever else answers like them. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface PostgresRunBackendOptions {
  /** The caller closes it. */
  readonly client: PostgresClient;
  /** Begins the names of tables and functions. Default `'interlock_'`. */
  readonly tablePrefix?: string | undefined;
  /** `'create'` (default): tables and functions are made before the first use; `'expect'`: they are there. */
  readonly schema?: 'create' | 'expect' | undefined;
  /** Milliseconds since the epoch, for tests. Default: the server's clock. */
  readonly now?: (() => number) | undefined;
}

export interface PostgresRunBackend extends RunBackend {
  readonly cells: RunCells;
  readonly claims: RunClaims;
  readonly index: RunIndex;
  /** Makes tables and functions; otherwise the first use does. May run in many processes at once. */
  prepare(): Promise<void>;
}

const capabilities: RunBackendCapabilities = {
  atomicTake: 'store',
  retrySafeTake: true,
  expiry: true,
  durability: 'store-restart',
  shared: true,
};

/**
 * @example
 * const runs = createRunStore({ backend: postgresRunBackend({ client: new Pool() }), runtime: nodeRuntime });
 */
export function postgresRunBackend(options: PostgresRunBackendOptions): PostgresRunBackend {
  const { client, now } = options;
  if (typeof client?.query !== 'function') {
    throw new RunStoreError(
      'INVALID_OPTION',
      'The option `client` must have a method query(text, values), as a Pool of pg or a PGlite has.',
    );
  }
  const prefix = options.tablePrefix ?? 'interlock_';
  if (!/^[a-z_][a-z0-9_]{0,30}$/.test(prefix)) {
    throw new RunStoreError(
      'INVALID_OPTION',
      'The option `tablePrefix` must be 1 to 31 characters of a–z, 0–9 and "_".',
    );
  }
  let prepared: Promise<unknown> | undefined = options.schema === 'expect' ? Promise.resolve() : undefined;

  async function prepare(): Promise<void> {
    prepared ??= client.query(createSchema(prefix)).catch((error) => {
      prepared = undefined; // The next use tries again.
      throw error;
    });
    await prepared;
  }

  /** `%` is the prefix, `@at` the time. A parameter takes the place of the clock only where the caller brought one. */
  async function rows(text: string, ...values: unknown[]): Promise<readonly object[]> {
    await prepare();
    const at = now === undefined ? null : Math.floor(now());
    const sql = text.replaceAll('%', prefix).replaceAll('@at', `${prefix}at($1::bigint)`);
    const result = await client.query(sql, [at, ...values]);
    return result.rows.filter((row): row is object => typeof row === 'object' && row !== null);
  }

  async function write(operation: string, text: string, ...values: unknown[]): Promise<readonly object[]> {
    try {
      return await rows(text, ...values);
    } catch (cause) {
      throw isRefusal(cause) ? refusal(operation, cause) : cause;
    }
  }

  async function put(
    key: RunKey,
    bytes: Uint8Array,
    { ttlMs, existing, index }: PutOptions,
  ): Promise<'stored' | 'exists'> {
    const entry = [index?.tenant ?? null, index?.principal ?? null, index?.kind ?? null, index?.bytes ?? null];
    if (existing === 'keep') {
      const [row] = await write(
        'store',
        'SELECT %put_if_absent($1::bigint, $2, $3, $4::bigint, $5::int, $6, $7, $8, $9) AS stored',
        key,
        bytes,
        ttlMs ?? null,
        STAMP_BYTES,
        ...entry,
      );
      return column(row, 'stored') === true ? 'stored' : 'exists';
    }
    await write(
      'store',
      `INSERT INTO %runs (key, slot, value, expires_at, tenant, principal, kind, entry)
       VALUES ($2, 'v', $3, @at + $4::bigint, $5, $6, $7, $8)
       ON CONFLICT (key, slot) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at,
         tenant = excluded.tenant, principal = excluded.principal, kind = excluded.kind, entry = excluded.entry`,
      key,
      bytes,
      ttlMs ?? null,
      ...entry,
    );
    return 'stored';
  }

  async function get(key: RunKey): Promise<Uint8Array | null> {
    const [row] = await rows(
      `SELECT value FROM %runs WHERE key = $2 AND slot IN ('v', 'w') AND (expires_at IS NULL OR expires_at > @at)
       ORDER BY slot LIMIT 1`,
      key,
    );
    return bytesIn(row, 'value');
  }

  async function take(key: RunKey, { token, retainMs, ifStamp, ifCell }: TakeOptions): Promise<Uint8Array | null> {
    if (ifStamp === undefined && ifCell === undefined) {
      const [taken] = await write(
        'consume',
        `UPDATE %runs SET slot = $3, expires_at = @at + $4::bigint, lease_until = expires_at
         WHERE key = $2 AND slot = 'v' AND (expires_at IS NULL OR expires_at > @at)
           AND NOT EXISTS (SELECT 1 FROM %runs WHERE key = $2 AND slot = $3) RETURNING value`,
        key,
        `t:${token}`,
        retainMs,
      );
      if (taken !== undefined) return bytesIn(taken, 'value');
    }
    const cell = ifCell === undefined ? 'any' : ifCell === null ? 'empty' : 'is';
    const [row] = await write(
      'consume',
      'SELECT %take($1::bigint, $2, $3, $4::bigint, $5::bytea, $6, $7::bytea) AS value',
      key,
      token,
      retainMs,
      ifStamp ?? null,
      cell,
      ifCell ?? null,
    );
    return bytesIn(row, 'value');
  }

  async function touch(key: RunKey, { ttlMs, ifStamp }: TouchOptions): Promise<boolean> {
    const [row] = await write(
      'touch',
      `WITH touched AS (UPDATE %runs SET expires_at =
            greatest(@at + $3::bigint, CASE slot WHEN 'w' THEN 2 * lease_until - @at END)
          WHERE key = $2 AND slot IN ('v', 'w') AND (expires_at IS NULL OR expires_at > @at) AND ${isMeant('$4')} RETURNING key),
        cell AS (UPDATE %run_cells SET expires_at = @at + $3::bigint
          WHERE key IN (SELECT key FROM touched) AND (expires_at IS NULL OR expires_at > @at))
       SELECT count(*) AS runs FROM touched`,
      key,
      ttlMs,
      ifStamp ?? null,
    );
    return Number(column(row, 'runs')) > 0;
  }

  /** Deletes the runs that `where` picks, with what belongs to them; answers with how many were alive. */
  async function removeRuns(
    operation: string,
    where: string,
    value: string,
    ifStamp: Uint8Array | undefined,
  ): Promise<number> {
    const [row] = await write(
      operation,
      `WITH gone AS (DELETE FROM %runs WHERE ${where}
          AND (slot NOT IN ('v', 'w') OR ${isMeant('$3')})
          RETURNING key, slot, slot IN ('v', 'w') AND (expires_at IS NULL OR expires_at > @at) AS alive),
        -- A run that stays keeps the cell.
        staying AS (SELECT key FROM %runs WHERE slot = 'v' AND key IN (SELECT key FROM gone)
          AND key NOT IN (SELECT key FROM gone WHERE slot = 'v')),
        emptied AS (SELECT key FROM gone UNION SELECT $2 WHERE $3::bytea IS NULL),
        cells AS (DELETE FROM %run_cells WHERE key IN (SELECT key FROM emptied EXCEPT SELECT key FROM staying)),
        outcomes AS (DELETE FROM %run_outcomes WHERE key IN (SELECT key FROM emptied)),
        releases AS (DELETE FROM %run_releases WHERE key IN (SELECT key FROM emptied))
       SELECT count(DISTINCT key) FILTER (WHERE alive) AS runs FROM gone`,
      value,
      ifStamp ?? null,
    );
    return Number(column(row, 'runs'));
  }

  return {
    name: 'postgres',
    capabilities,
    prepare,
    put,
    get,
    take,
    touch,
    remove: async (key, { ifStamp } = {}) =>
      (await removeRuns('cancel', `key = $2 AND slot IN ('v', 'w')`, key, ifStamp)) > 0,
    putBack: async (key, { token }) => {
      const sql = 'SELECT %put_back($1::bigint, $2, $3) AS back';
      return column((await write('putBack', sql, key, token))[0], 'back') === true;
    },
    cells: createCells({ rows, write }),
    claims: createClaims({ rows, write }),
    index: {
      list: (query) => listRuns(rows, query),
      eraseTenant: (tenant) => removeRuns('eraseTenant', 'tenant = $2', tenant, undefined),
    },
    async sweep({ limit, onExpired }) {
      const gone = await write(
        'sweep',
        `WITH gone AS (DELETE FROM %runs WHERE id IN
            (SELECT id FROM %runs WHERE expires_at <= @at AND slot IN ('v', 'w') LIMIT $2) RETURNING key),
          copies AS (DELETE FROM %runs WHERE id IN
            (SELECT id FROM %runs WHERE expires_at <= @at AND slot NOT IN ('v', 'w') LIMIT $2)),
          cells AS (DELETE FROM %run_cells WHERE expires_at <= @at),
          outcomes AS (DELETE FROM %run_outcomes WHERE expires_at <= @at),
          releases AS (DELETE FROM %run_releases WHERE expires_at <= @at)
         SELECT key FROM gone`,
        limit,
      );
      for (const row of gone) onExpired?.(String(column(row, 'key')));
      return gone.length;
    },
  };
}

/** Of a run: it carries the stamp in the parameter, or that is null. */
function isMeant(stamp: string): string {
  return `(${stamp}::bytea IS NULL OR substring(value FROM 1 FOR octet_length(${stamp}::bytea)) = ${stamp}::bytea)`;
}

/** The server has answered, and not with the loss of the connection: the statement was rolled back. `EPIPE` is no SQLSTATE. */
function isRefusal(error: unknown): boolean {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P|40003|E)/.test(code);
}

function refusal(operation: string, cause: unknown): RunStoreError {
  const reason = cause instanceof Error ? cause.message : 'unknown reason';
  return new RunStoreError('BACKEND_REFUSED', `Postgres refused ${operation}: ${reason}. Nothing was changed.`, {
    cause,
  });
}
