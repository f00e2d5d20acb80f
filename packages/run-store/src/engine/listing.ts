/** "What waits for you": the entry that a run has in the index, and pages of them. */
import type { IndexedRun, RunIndexEntry } from '../backend.js';
import { corrupt } from '../codec/decode.js';
import { RunStoreError } from '../errors.js';
import type { AgentPauseKind, RunScope } from '../types.js';
import { type EngineContext, isRecord, reading, readScope, writing } from './context.js';
import { checkCount } from './options.js';
import { checkName } from './scope.js';

export interface ListRunsQuery {
  readonly tenant: string;
  readonly principal?: string | undefined;
  readonly kind?: AgentPauseKind | undefined;
  /** Of the page before. */
  readonly cursor?: string | undefined;
  /** Most runs on a page. Default 50, at most 500. */
  readonly limit?: number | undefined;
}

export interface ListedRun {
  readonly runId: string;
  readonly kind: AgentPauseKind;
  readonly scope: RunScope;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  /** `'claimed'`: somebody is working on it. */
  readonly status: 'waiting' | 'claimed';
  /** Absent: never. */
  readonly expiresInSeconds?: number;
}

export interface ListedRuns {
  readonly runs: readonly ListedRun[];
  /** Absent on the last page. */
  readonly cursor?: string;
}

/** The tenant of runs that were stored without one. */
const NO_TENANT = '';

/** `undefined` where the store does not list. */
export async function indexEntryOf<TState>(
  context: EngineContext<TState>,
  run: {
    readonly runId: string;
    readonly scope: RunScope | undefined;
    readonly kind: AgentPauseKind;
    readonly storedAt: number;
  },
): Promise<RunIndexEntry | undefined> {
  if (context.indexing === 'off') return undefined;
  const [tenant, principal] = await Promise.all([
    context.keys.tenant(run.scope?.tenant ?? NO_TENANT),
    context.keys.principal(run.scope?.principal ?? ''),
  ]);
  return { tenant, principal, kind: run.kind, bytes: await context.sealer.seal(tenant, run) };
}

export async function listRuns<TState>(context: EngineContext<TState>, query: ListRunsQuery): Promise<ListedRuns> {
  const index = indexOf(context, 'list');
  const limit = Math.min(500, checkCount('limit', query.limit ?? 50));
  const tenant = await context.keys.tenant(checkName('tenant', query.tenant));
  const principal =
    query.principal === undefined ? undefined : await context.keys.principal(checkName('principal', query.principal));
  const page = await reading('list', () =>
    index.list({ tenant, principal, kind: query.kind, cursor: query.cursor, limit }),
  );
  const runs: ListedRun[] = [];
  for (const run of page.runs) {
    try {
      runs.push(await listedRun(context, tenant, run));
    } catch (error) {
      // One entry that cannot be read (its key has left the ring) must not hide all others; the event tells of it.
      if (!(error instanceof RunStoreError)) throw error;
      context.events.emit('unreadable', { key: run.key, code: error.code });
    }
  }
  return page.cursor === undefined ? { runs } : { runs, cursor: page.cursor };
}

async function listedRun<TState>(
  context: EngineContext<TState>,
  tenant: string,
  { bytes, status, expiresInMs }: IndexedRun,
): Promise<ListedRun> {
  const { value } = await context.sealer.open(tenant, bytes);
  if (!isRecord(value) || typeof value.runId !== 'string') throw corrupt('its entry in the index is malformed');
  return {
    runId: value.runId,
    kind: value.kind === 'approval' ? 'approval' : 'client_tool',
    scope: readScope(value.scope) ?? {},
    storedAt: typeof value.storedAt === 'number' ? value.storedAt : 0,
    status,
    ...(expiresInMs === undefined ? {} : { expiresInSeconds: expiresInMs / 1000 }),
  };
}

export async function eraseTenantRuns<TState>(context: EngineContext<TState>, tenant: string): Promise<number> {
  const index = indexOf(context, 'eraseTenant');
  const key = await context.keys.tenant(checkName('tenant', tenant));
  const count = await writing(context, { operation: 'eraseTenant', key }, () => index.eraseTenant(key));
  context.events.emit('erased', { key, scope: { tenant }, count });
  return count;
}

function indexOf<TState>(context: EngineContext<TState>, operation: string): NonNullable<typeof context.backend.index> {
  const { index } = context.backend;
  if (index !== undefined && context.indexing !== 'off') return index;
  const wayOut =
    index === undefined
      ? 'Use the memory, Redis, SQLite or Postgres backend.'
      : 'Give the store `encryption` (run ids in the index are then encrypted), or choose `index: "clear"`.';
  throw new RunStoreError('UNSUPPORTED', `${operation} needs an index, and this store has none. ${wayOut}`);
}
