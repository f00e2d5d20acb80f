/** Cells, claims and listing on Postgres; the functions they call are in `postgres-schema.ts`. */
import type { ClaimReply, IndexedRun, IndexPage, IndexQuery, RunCells, RunClaims } from '../backend.js';
import { sequenceAfter } from '../backends/cursor.js';

export type Query = (text: string, ...values: unknown[]) => Promise<readonly object[]>;
export type Write = (operation: string, text: string, ...values: unknown[]) => Promise<readonly object[]>;
export interface Database {
  readonly rows: Query;
  readonly write: Write;
}

export function createCells({ rows, write }: Database): RunCells {
  return {
    async read(key) {
      const sql = 'SELECT value FROM %run_cells WHERE key = $2 AND (expires_at IS NULL OR expires_at > @at)';
      return bytesIn((await rows(sql, key))[0], 'value');
    },
    async swap(key, { expected, next, ifStamp }) {
      // The run's row is locked: a take that comes between waits for us, or we find the run gone.
      const swapped = await write(
        'swap',
        `WITH run AS (SELECT key, expires_at FROM %runs WHERE key = $2 AND slot = 'v'
            AND (expires_at IS NULL OR expires_at > @at) AND substring(value FROM 1 FOR length($3::bytea)) = $3::bytea FOR UPDATE)
         INSERT INTO %run_cells AS cell SELECT key, $4::bytea, expires_at FROM run
           WHERE $5::bytea IS NULL OR EXISTS (SELECT 1 FROM %run_cells WHERE key = $2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
           WHERE CASE WHEN $5::bytea IS NULL THEN cell.expires_at <= @at
             ELSE cell.value = $5::bytea AND (cell.expires_at IS NULL OR cell.expires_at > @at) END
         RETURNING key`,
        key,
        ifStamp,
        next,
        expected,
      );
      return swapped.length === 1;
    },
  };
}

export function createClaims({ rows, write }: Database): RunClaims {
  return {
    async claim(key, { token, leaseMs, ifStamp }) {
      const sql = 'SELECT kind, bytes, detail FROM %claim($1::bigint, $2, $3, $4::bigint, $5::bytea)';
      return claimReply((await write('claim', sql, key, token, leaseMs, ifStamp ?? null))[0]);
    },
    async extend(key, { token, leaseMs }) {
      const extended = await write(
        'extend',
        `UPDATE %runs SET lease_until = @at + $4::bigint, expires_at =
           CASE WHEN expires_at IS NULL THEN NULL ELSE greatest(expires_at, @at + 2 * $4::bigint) END
         WHERE key = $2 AND slot = 'w' AND claim_token = $3 AND (expires_at IS NULL OR expires_at > @at) RETURNING key`,
        key,
        token,
        leaseMs,
      );
      return extended.length === 1 ? 'ok' : 'stale';
    },
    async release(key, { token }) {
      const [row] = await write('release', 'SELECT %release($1::bigint, $2, $3) AS reply', key, token);
      return column(row, 'reply') === 'ok' ? 'ok' : 'stale';
    },
    async outcome(key) {
      const sql = 'SELECT value FROM %run_outcomes WHERE key = $2 AND expires_at > @at';
      return bytesIn((await rows(sql, key))[0], 'value');
    },
    async settle(key, { token, outcome, outcomeTtlMs }) {
      const [row] = await write(
        'ack',
        `WITH gone AS (DELETE FROM %runs WHERE key = $2 AND slot = 'w' AND claim_token = $3
            AND (expires_at IS NULL OR expires_at > @at) RETURNING key),
          -- A cell beside a newer run is that run's.
          cell AS (DELETE FROM %run_cells WHERE key IN (SELECT key FROM gone)
            AND NOT EXISTS (SELECT 1 FROM %runs WHERE key = $2 AND slot = 'v' AND (expires_at IS NULL OR expires_at > @at))),
          kept AS (INSERT INTO %run_outcomes SELECT key, $3, $4::bytea, @at + $5::bigint FROM gone
            ON CONFLICT (key) DO UPDATE SET token = excluded.token, value = excluded.value, expires_at = excluded.expires_at
            RETURNING key)
         SELECT (SELECT count(*) FROM kept)
           + (SELECT count(*) FROM %run_outcomes WHERE key = $2 AND token = $3 AND expires_at > @at) AS settled`,
        key,
        token,
        outcome ?? null,
        outcomeTtlMs,
      );
      return Number(column(row, 'settled')) > 0 ? 'ok' : 'stale';
    },
  };
}

function claimReply(row: object | undefined): ClaimReply {
  const bytes = bytesIn(row, 'bytes');
  const detail = Number(column(row, 'detail'));
  switch (column(row, 'kind')) {
    case 'claimed':
      return bytes === null ? { kind: 'missing' } : { kind: 'claimed', bytes, fence: detail };
    case 'held':
      return { kind: 'held', retryInMs: detail };
    case 'settled':
      return bytes === null ? { kind: 'missing' } : { kind: 'settled', outcome: bytes };
    default:
      return { kind: 'missing' };
  }
}

export async function listRuns(rows: Query, query: IndexQuery): Promise<IndexPage> {
  const { tenant, principal, kind, cursor, limit } = query;
  const found = await rows(
    `SELECT id, key, entry, slot = 'w' AND lease_until > @at AS claimed, expires_at - @at AS life FROM %runs AS run
     WHERE tenant = $2 AND id > $3::bigint AND slot IN ('v', 'w') AND (expires_at IS NULL OR expires_at > @at)
       AND ($4::text IS NULL OR principal = $4) AND ($5::text IS NULL OR kind = $5)
       AND (slot = 'v' OR NOT EXISTS (SELECT 1 FROM %runs AS newer WHERE newer.key = run.key AND newer.slot = 'v'
         AND (newer.expires_at IS NULL OR newer.expires_at > @at)))
     ORDER BY id LIMIT $6`,
    tenant,
    sequenceAfter(cursor),
    principal ?? null,
    kind ?? null,
    limit + 1,
  );
  const runs = found.slice(0, limit).map((row): IndexedRun => {
    const life = column(row, 'life');
    return {
      key: String(column(row, 'key')),
      bytes: bytesIn(row, 'entry') ?? new Uint8Array(),
      status: column(row, 'claimed') === true ? 'claimed' : 'waiting',
      ...(life === null || life === undefined ? {} : { expiresInMs: Number(life) }),
    };
  });
  return found.length > limit ? { runs, cursor: String(column(found[limit - 1], 'id')) } : { runs };
}

export function column(row: object | undefined, name: string): unknown {
  return row === undefined ? undefined : Reflect.get(row, name);
}

export function bytesIn(row: object | undefined, name: string): Uint8Array | null {
  const value = column(row, name);
  if (value instanceof Uint8Array) return value;
  if (value === null || value === undefined) return null;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  // As the wire has it, where a client leaves `bytea` unparsed.
  const hex = typeof value === 'string' ? /^\\x((?:[0-9a-f]{2})*)$/.exec(value)?.[1] : undefined;
  if (hex !== undefined)
    return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
  throw new TypeError(
    `the Postgres client returned a bytea as ${typeof value}, neither as bytes nor as hexadecimal text`,
  );
}
