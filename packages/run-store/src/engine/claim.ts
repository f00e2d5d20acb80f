/** Work under a lease: claim, keep alive, give back, or finish with an outcome that later callers are answered with. */
import type { RunKey } from '../backend.js';
import { startsWith } from '../bytes.js';
import { corrupt } from '../codec/decode.js';
import { RunStoreError, StaleFenceError } from '../errors.js';
import type { RunScope } from '../types.js';
import {
  demandScope,
  type EngineContext,
  isRecord,
  lookAt,
  type OpenedRun,
  openRun,
  reading,
  readScope,
  writing,
} from './context.js';
import type { CompleteDecision, RunDecision } from './decision.js';
import { checkLease, invalid } from './options.js';
import { NO_STAMP, verifyDecision } from './resume.js';

export interface ClaimRunOptions {
  /** How long the run is the claimer's without a sign of life, in milliseconds. */
  readonly leaseMs: number;
  /** Who works, for the audit events. */
  readonly owner: string;
  /** Demanded as by `resume` when the run was stored with one and a decision is given; checked whenever given. */
  readonly scope?: RunScope | undefined;
  /** Checked as by `resume` before the run is claimed. */
  readonly decision?: RunDecision | undefined;
  /** As in `ConsumeRunOptions`. */
  readonly token?: string | undefined;
}

export interface AckRunOptions {
  /** What whoever claims this run again is answered with, for `outcomeSeconds`. Plain data, as states are. */
  readonly outcome?: unknown;
}

/** A run that is being worked on. Every method throws `StaleFenceError` once somebody else has the run. */
export interface RunClaim<TState> {
  readonly state: TState;
  readonly scope: RunScope | undefined;
  /** Grows with every claim of a run id: give it to what the work writes to, which refuses lower ones. */
  readonly fence: number;
  readonly owner: string;
  /** Absent unless the claim was made with a decision. */
  readonly decision: CompleteDecision | undefined;
  /** Renews the lease, counted from now. Call it well before the lease ends. */
  extend(leaseMs: number): Promise<void>;
  /** Gives the run back: it waits again, at once. */
  release(): Promise<void>;
  /** The work is done: the run is gone for good. */
  ack(options?: AckRunOptions): Promise<void>;
}

export type ClaimResult<TState> =
  | { readonly kind: 'claimed'; readonly claim: RunClaim<TState> }
  | { readonly kind: 'held'; readonly retryInMs: number }
  /** The work was done before; this is what came of it. */
  | { readonly kind: 'settled'; readonly outcome: unknown }
  | { readonly kind: 'not_found' };

export async function claimRun<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  options: ClaimRunOptions,
): Promise<ClaimResult<TState>> {
  const { backend, events } = context;
  const { claims } = backend;
  if (claims === undefined) {
    throw new RunStoreError(
      'UNSUPPORTED',
      `The backend "${backend.name}" keeps no leases. Use consume(), or the memory, Redis, SQLite or Postgres backend.`,
    );
  }
  const { owner, scope, token = context.newToken() } = options;
  const leaseMs = checkLease(options.leaseMs);
  const looked = await lookBefore(context, key, options);
  const reply = await writing(context, { operation: 'claim', key, token }, () =>
    claims.claim(key, { token, leaseMs, ifStamp: looked.ifStamp }),
  );
  switch (reply.kind) {
    case 'missing':
      events.emit('missed', { key, by: owner });
      return { kind: 'not_found' };
    case 'held':
      events.emit('held', { key, by: owner });
      return { kind: 'held', retryInMs: reply.retryInMs };
    case 'settled': {
      const settled = await openOutcome(context, key, reply.outcome);
      if (scope !== undefined || options.decision !== undefined) demandScope(context, key, settled, scope);
      events.emit('replayed', { key, by: owner });
      return { kind: 'settled', outcome: settled.outcome };
    }
    case 'claimed':
      break;
    default:
      return reply satisfies never;
  }

  const { fence } = reply;
  if (looked.run !== undefined && !startsWith(reply.bytes, looked.run.stamp)) {
    // A living claim of this token, of an earlier run of the id: neither decision nor scope were checked against it.
    throw invalid('token', 'a fresh one: it holds the claim of an earlier run of this id');
  }
  const run = looked.run ?? (await openClaimed(context, key, { bytes: reply.bytes, token }));
  const { decision } = looked;
  events.emit('claimed', { key, scope: run.scope, by: owner, fence });
  return {
    kind: 'claimed',
    claim: createClaim(context, key, { token, fence, owner, state: run.state, scope: run.scope, decision }),
  };
}

interface Looked<TState> {
  readonly ifStamp: Uint8Array | undefined;
  readonly run?: OpenedRun<TState> | undefined;
  readonly decision?: CompleteDecision | undefined;
}

/**
 * Whoever is refused must not have held the run for a moment: its owner would be told that there is none. What found no
 * run may still find an outcome, but must not meet a run that it was not checked against.
 */
async function lookBefore<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  { decision, scope, owner }: ClaimRunOptions,
): Promise<Looked<TState>> {
  if (decision !== undefined) {
    const verified = await verifyDecision(context, key, { decision, scope, by: owner });
    return verified === undefined ? { ifStamp: NO_STAMP } : { ...verified, ifStamp: verified.run.stamp };
  }
  if (scope === undefined) return { ifStamp: undefined };
  const run = await lookAt(context, 'claim', key, scope);
  return { ifStamp: run?.stamp ?? NO_STAMP, run };
}

async function openClaimed<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  { bytes, token }: { readonly bytes: Uint8Array; readonly token: string },
): Promise<OpenedRun<TState>> {
  try {
    return await openRun(context, key, bytes);
  } catch (error) {
    // Unreadable: it must not stay under a lease that nobody works under.
    await writing(context, { operation: 'release', key }, async () => context.backend.claims?.release(key, { token }));
    throw error;
  }
}

/** A look at what came of a run; takes nothing. */
export async function readOutcome<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  scope: RunScope | undefined,
): Promise<{ readonly outcome: unknown } | null> {
  const { claims } = context.backend;
  const bytes = claims === undefined ? null : await reading('outcome', () => claims.outcome(key));
  if (bytes === null) return null;
  const settled = await openOutcome(context, key, bytes);
  if (scope !== undefined) demandScope(context, key, settled, scope);
  return { outcome: settled.outcome };
}

interface ClaimFacts<TState> {
  readonly token: string;
  readonly fence: number;
  readonly owner: string;
  readonly state: TState;
  readonly scope: RunScope | undefined;
  readonly decision: CompleteDecision | undefined;
}

function createClaim<TState>(context: EngineContext<TState>, key: RunKey, facts: ClaimFacts<TState>): RunClaim<TState> {
  const { token, fence, owner, scope } = facts;
  const { claims } = context.backend;

  async function step(
    operation: 'extend' | 'release' | 'ack',
    event: 'extended' | 'released' | 'acknowledged',
    act: (c: NonNullable<typeof claims>) => Promise<'ok' | 'stale'>,
  ): Promise<void> {
    // Only a backend with claims hands out claims.
    const reply = await writing(context, { operation, key }, () => act(claims!));
    if (reply === 'stale') {
      context.events.emit('refused', { key, scope, by: owner, fence, code: 'STALE_FENCE' });
      throw new StaleFenceError(operation, fence);
    }
    context.events.emit(event, { key, scope, by: owner, fence });
  }

  return {
    state: facts.state,
    scope,
    fence,
    owner,
    decision: facts.decision,
    async extend(leaseMs) {
      checkLease(leaseMs);
      await step('extend', 'extended', (c) => c.extend(key, { token, leaseMs }));
    },
    release: () => step('release', 'released', (c) => c.release(key, { token })),
    async ack(options = {}) {
      const outcome =
        'outcome' in options
          ? await context.sealer.seal(outcomeName(key), { outcome: options.outcome, scope })
          : undefined;
      await step('ack', 'acknowledged', (c) =>
        c.settle(key, { token, outcome, outcomeTtlMs: context.times.outcomeTtlMs }),
      );
    },
  };
}

async function openOutcome<TState>(
  context: EngineContext<TState>,
  key: RunKey,
  bytes: Uint8Array,
): Promise<{ readonly outcome: unknown; readonly scope: RunScope | undefined }> {
  const { value } = await context.sealer.open(outcomeName(key), bytes);
  if (!isRecord(value)) throw corrupt('its outcome is malformed');
  return { outcome: value.outcome, scope: readScope(value.scope) };
}

function outcomeName(key: RunKey): string {
  return `${key}:outcome`;
}
