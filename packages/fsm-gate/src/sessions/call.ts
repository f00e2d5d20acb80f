/** A call between its reservation and its end: keeps its lease alive, then moves the session or leaves it. */
import type { Awaitable } from '../awaitable.js';
import type { AllowedDecision } from '../decision-types.js';
import { EffectNotRecordedError } from '../errors.js';
import type { GateEvent, GateModel, GateStep } from '../model.js';
import type { FsmSnapshot, TransitionResult } from '../snapshot.js';
import type { Line } from './queue.js';
import type { CallToken, GateCall } from './sessions-types.js';
import type { CommitOutcome, GateStore, StoredSession } from './store.js';
import type { Wish } from './wish.js';

/** What a call needs of the sessions that it belongs to. */
export interface CallHost {
  readonly model: GateModel;
  readonly store: GateStore;
  readonly leaseMs: number;
  readonly maxHoldMs: number;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  /** Lets the next caller in: when a call ends, and already when its lease is lost. */
  readonly leave: (line: Line) => void;
  /** The session moved, or was freed, or the effect could not be recorded. */
  readonly onEnd: (call: LeasedCall, end: CallEnd) => void;
}

/** How a call ended. */
export interface CallEnd {
  readonly kind: 'committed' | 'rolled_back' | 'lost';
  /** The event that moved the session. */
  readonly event: string | undefined;
  readonly reason: string | undefined;
  readonly after: FsmSnapshot;
  readonly version: number;
}

/** What was reserved. */
export interface HeldSession {
  readonly wish: Wish;
  readonly decision: AllowedDecision;
  readonly fence: number;
  readonly session: StoredSession;
  /** Its turn among the callers of this process; none where nobody waits for turns. */
  readonly line: Line | undefined;
}

/**
 * A call that holds its session's lease. One is made for each call that moves a session, and to make `#private` fields and
 * methods costs a quarter of reserve and commit on Node 20: these are private to the compiler alone. Users see a `GateCall`.
 */
export class LeasedCall implements GateCall {
  readonly key: string;
  readonly tool: string;
  readonly decision: AllowedDecision;
  readonly fence: number;
  readonly wish: Wish;
  readonly session: StoredSession;
  /** Its place among the living calls. */
  place: number;
  private readonly host: CallHost;
  private line: Line | undefined;
  /** Known from the first renewal on: most calls are over before it, and a clock is dear. */
  private heldSince: number | undefined;
  private leaseEnds: number | undefined;
  /** Made for those who ask: most calls end before anybody does. */
  private lostSignal: AbortController | undefined;
  private isLost: boolean = false;
  private ended: Awaitable<TransitionResult> | undefined;

  constructor(host: CallHost, { wish, decision, fence, session, line }: HeldSession, place: number) {
    this.key = wish.key;
    this.tool = wish.tool;
    this.decision = decision;
    this.fence = fence;
    this.wish = wish;
    this.session = session;
    this.place = place;
    this.host = host;
    this.line = line;
  }

  get token(): CallToken {
    return { key: this.key, tool: this.tool, fence: this.fence };
  }

  /** What a log may show: without the arguments, the session's context, and the store behind it. */
  toJSON(): CallToken & Pick<GateCall, 'decision'> {
    return { ...this.token, decision: this.decision };
  }

  get lost(): AbortSignal {
    this.lostSignal ??= new AbortController();
    if (this.isLost) this.abort();
    return this.lostSignal.signal;
  }

  async commit(result?: unknown): Promise<TransitionResult> {
    return this.settle(result);
  }

  settle(result?: unknown): Awaitable<TransitionResult> {
    this.ended ??= this.commitNow(result);
    return this.ended;
  }

  async rollback(reason: string): Promise<void> {
    this.ended ??= this.rollbackNow(reason);
    try {
      await this.ended;
    } catch {
      // Of a commit that failed, its caller knows.
    }
  }

  /** Ends its turn; a second time there is none to end. */
  leave(): void {
    const line = this.line;
    if (line === undefined) return;
    this.line = undefined;
    this.host.leave(line);
  }

  /** Lengthens the lease. A store that fails is asked again the next time, until the lease has run out. */
  async renew(): Promise<void> {
    const { store, leaseMs, maxHoldMs, now, onError } = this.host;
    // Whoever was told that the lease is gone must be able to rely on it.
    if (this.isLost) return;
    const asked = now();
    this.heldSince ??= asked;
    // The first renewal comes within a third of the lease.
    this.leaseEnds ??= asked + (leaseMs * 2) / 3;
    let kept = asked < this.heldSince + maxHoldMs;
    try {
      kept &&= await store.renew(this.key, this.fence, leaseMs);
      if (kept) this.leaseEnds = asked + leaseMs;
    } catch (error) {
      onError(error);
      kept = now() < this.leaseEnds;
    }
    if (kept || this.ended) return;
    this.isLost = true;
    this.leave();
    if (this.lostSignal) this.abort();
  }

  private commitNow(result: unknown): Awaitable<TransitionResult> {
    const { model, store, now } = this.host;
    const before = this.session.snapshot;
    try {
      const event = this.wish.eventFor(result);
      const step: GateStep = event ? model.step(before, event, now()) : { snapshot: before };
      const outcome = store.commit(this.key, this.fence, step.snapshot);
      if ('kind' in outcome) return this.committed(outcome, step, event);
      return (
        Promise.resolve(outcome)
          // A commit is idempotent by its fence, so one whose answer was lost is asked again.
          .catch(() => store.commit(this.key, this.fence, step.snapshot))
          .then((answer) => this.committed(answer, step, event))
          .catch((cause) => this.notRecorded(result, cause))
      );
    } catch (cause) {
      return this.notRecorded(result, cause);
    }
  }

  private committed(outcome: CommitOutcome, step: GateStep, event: GateEvent | undefined): TransitionResult {
    // Whatever else a store may answer is not a commit.
    if (outcome.kind !== 'committed') throw new Error('its lease had ended');
    const { onEnd, onError } = this.host;
    if (step.effects) attempt(step.effects, onError);
    const { snapshot: after } = step;
    try {
      onEnd(this, { kind: 'committed', event: event?.type, reason: undefined, after, version: outcome.version });
    } catch (error) {
      // It is written: nothing that is told about it may make it look otherwise.
      onError(error);
    }
    return moved(this.session.snapshot, after);
  }

  private async notRecorded(result: unknown, cause: unknown): Promise<never> {
    const { snapshot: before, version } = this.session;
    await this.release();
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.host.onEnd(this, { kind: 'lost', event: undefined, reason, after: before, version });
    throw new EffectNotRecordedError(
      `Tool ${this.tool} took effect, but the session did not move out of state ${before.state}: ${reason}. Check the effect, then force the session.`,
      result,
      { cause },
    );
  }

  private async rollbackNow(reason: string): Promise<TransitionResult> {
    await this.release();
    const { snapshot, version } = this.session;
    this.host.onEnd(this, { kind: 'rolled_back', event: undefined, reason, after: snapshot, version });
    return moved(snapshot, snapshot);
  }

  private async release(): Promise<void> {
    try {
      await this.host.store.release(this.key, this.fence);
    } catch (error) {
      this.host.onError(error);
    }
  }

  private abort(): void {
    this.lostSignal?.abort(new Error(`The lease of tool ${this.tool} on its session is gone.`));
  }
}

// The name by which Node's `console.log` asks. A class with a computed member cannot be declared under `isolatedDeclarations`.
Object.defineProperty(LeasedCall.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value: LeasedCall.prototype.toJSON,
});

function attempt(effects: () => void, onError: (error: unknown) => void): void {
  try {
    effects();
  } catch (error) {
    onError(error);
  }
}

/** What a call of a tool that moves nothing is given: there is no lease to keep and nothing to write. */
export class FreeCall implements GateCall {
  readonly key: string;
  readonly tool: string;
  readonly decision: AllowedDecision;
  readonly fence: undefined = undefined;
  readonly token: undefined = undefined;

  constructor(key: string, decision: AllowedDecision) {
    this.key = key;
    this.tool = decision.tool;
    this.decision = decision;
  }

  get lost(): AbortSignal {
    return new AbortController().signal;
  }

  async commit(): Promise<TransitionResult> {
    return this.settle();
  }

  settle(): TransitionResult {
    const { state } = this.decision;
    return { changed: false, previousState: state, currentState: state };
  }

  async rollback(): Promise<void> {}
}

/** What a step did, as the contract tells it. */
function moved(before: FsmSnapshot, after: FsmSnapshot): TransitionResult {
  return { changed: before.state !== after.state, previousState: before.state, currentState: after.state };
}
