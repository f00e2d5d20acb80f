/** A call between its reservation and its end: keeps the lease alive, then moves the session or leaves it. */
import type { AllowedDecision } from './decision-types.js';
import { EffectNotRecordedError } from './errors.js';
import type { GateEvent, GateModel, GateStep } from './model.js';
import type { CallToken, GateCall, GateTimers } from './sessions-types.js';
import type { FsmSnapshot, TransitionResult } from './snapshot.js';
import type { GateStore, StoredSession } from './store.js';

/** What a call needs of the sessions that it belongs to. */
export interface CallHost {
  readonly model: GateModel;
  readonly store: GateStore;
  readonly leaseMs: number;
  readonly maxHoldMs: number;
  readonly now: () => number;
  readonly timers: GateTimers;
  readonly onError: (error: unknown) => void;
  /** The session moved, or was freed, or the effect could not be recorded. */
  readonly onEnd: (end: CallEnd) => void;
}

/** How a call ended. */
export interface CallEnd {
  readonly call: LeasedCall;
  readonly kind: 'committed' | 'rolled_back' | 'lost';
  /** The event that moved the session. */
  readonly event: string | undefined;
  readonly reason: string | undefined;
  readonly before: FsmSnapshot;
  readonly after: FsmSnapshot;
  readonly version: number;
}

/** What was reserved. */
export interface HeldSession {
  readonly key: string;
  readonly decision: AllowedDecision;
  /** The event that a result stands for. */
  readonly eventFor: (result: unknown) => GateEvent | undefined;
  readonly fence: number;
  readonly session: StoredSession;
}

/** A call that holds its session's lease. */
export class LeasedCall implements GateCall {
  readonly key: string;
  readonly tool: string;
  readonly decision: AllowedDecision;
  readonly fence: number;
  readonly #host: CallHost;
  readonly #eventFor: (result: unknown) => GateEvent | undefined;
  readonly #session: StoredSession;
  readonly #lost: AbortController = new AbortController();
  readonly #heldSince: number;
  #leaseEnds: number;
  #timer: unknown;
  #ended: Promise<TransitionResult> | undefined;

  constructor(host: CallHost, call: HeldSession) {
    this.#host = host;
    this.key = call.key;
    this.tool = call.decision.tool;
    this.decision = call.decision;
    this.fence = call.fence;
    this.#eventFor = call.eventFor;
    this.#session = call.session;
    this.#heldSince = host.now();
    this.#leaseEnds = this.#heldSince + host.leaseMs;
    this.#scheduleRenewal();
  }

  get token(): CallToken {
    return { key: this.key, tool: this.tool, fence: this.fence };
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  commit(result?: unknown): Promise<TransitionResult> {
    this.#ended ??= this.#commit(result);
    return this.#ended;
  }

  async rollback(reason: string): Promise<void> {
    this.#ended ??= this.#rollback(reason);
    // Of a commit that failed, its caller knows.
    await this.#ended.catch(() => undefined);
  }

  /** Stops renewing; the lease runs out by itself. */
  abandon(): void {
    this.#host.timers.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #commit(result: unknown): Promise<TransitionResult> {
    this.abandon();
    const { model, store, now, onError } = this.#host;
    const before = this.#session.snapshot;
    try {
      const event = this.#eventFor(result);
      const { snapshot: after, effects }: GateStep = event ? model.step(before, event, now()) : { snapshot: before };
      const outcome = await twice(() => store.commit(this.key, this.fence, after));
      if (outcome.kind === 'lost') throw new Error('its lease had ended');
      try {
        effects?.();
      } catch (error) {
        onError(error);
      }
      this.#end({ kind: 'committed', event: event?.type, after, version: outcome.version });
      return moved(before, after);
    } catch (cause) {
      await this.#release();
      const why = cause instanceof Error ? cause.message : String(cause);
      this.#end({ kind: 'lost', reason: why });
      throw new EffectNotRecordedError(
        `Tool ${this.tool} took effect, but the session did not move out of state ${before.state}: ${why}. Check the effect, then force the session.`,
        result,
        { cause },
      );
    }
  }

  async #rollback(reason: string): Promise<TransitionResult> {
    this.abandon();
    await this.#release();
    const { snapshot } = this.#session;
    this.#end({ kind: 'rolled_back', reason });
    return moved(snapshot, snapshot);
  }

  async #release(): Promise<void> {
    try {
      await this.#host.store.release(this.key, this.fence);
    } catch (error) {
      this.#host.onError(error);
    }
  }

  #end(end: Pick<CallEnd, 'kind'> & Partial<CallEnd>): void {
    const { snapshot: before, version } = this.#session;
    this.#host.onEnd({ call: this, before, after: before, version, event: undefined, reason: undefined, ...end });
  }

  #scheduleRenewal(): void {
    this.#timer = this.#host.timers.setTimeout(() => void this.#renew(), this.#host.leaseMs / 3);
  }

  async #renew(): Promise<void> {
    const { store, leaseMs, maxHoldMs, now, onError } = this.#host;
    const asked = now();
    let kept = asked < this.#heldSince + maxHoldMs;
    try {
      kept &&= await store.renew(this.key, this.fence, leaseMs);
      if (kept) this.#leaseEnds = asked + leaseMs;
    } catch (error) {
      // The store may be back before the lease has run out.
      onError(error);
      kept = now() < this.#leaseEnds;
    }
    if (this.#timer === undefined) return;
    if (kept) this.#scheduleRenewal();
    else this.#lost.abort(new Error(`The lease of tool ${this.tool} on its session is gone.`));
  }
}

/** A commit is idempotent by its fence, so one whose answer was lost is asked again. */
async function twice<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch {
    return attempt();
  }
}

/** What a call of a tool that moves nothing is given: there is no lease to keep and nothing to write. */
export function freeCall(key: string, decision: AllowedDecision): GateCall {
  const stays = { changed: false, previousState: decision.state, currentState: decision.state };
  return {
    key,
    tool: decision.tool,
    decision,
    fence: undefined,
    token: undefined,
    lost: new AbortController().signal,
    commit: async () => stays,
    rollback: async () => undefined,
  };
}

/** What a step did, as the contract tells it. */
export function moved(before: FsmSnapshot, after: FsmSnapshot): TransitionResult {
  return { changed: before.state !== after.state, previousState: before.state, currentState: after.state };
}
