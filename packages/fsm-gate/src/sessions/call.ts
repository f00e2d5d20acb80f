/** A call between its reservation and its end: keeps its lease alive, then moves the session or leaves it. */
import type { Awaitable } from '../awaitable.js';
import { eventOf } from '../binding.js';
import type { AllowedDecision } from '../decision-types.js';
import { EffectNotRecordedError } from '../errors.js';
import type { GateEvent, GateModel, GateStep, ToolBinding } from '../model.js';
import type { FsmSnapshot, TransitionResult } from '../snapshot.js';
import type { LocalSlots, Slot } from './memory-store.js';
import type { KeyedQueue, Line } from './queue.js';
import type { Reporter } from './reporter.js';
import type { CallToken, GateCall, OperatorNote } from './sessions-types.js';
import type { CommitOutcome, GateStore } from './store.js';
import { onlyEvent, type Wish } from './wish.js';

/** The line of a session's callers; whoever has the turn is at work on a call. */
export type CallLine = Line<LeasedCall>;

/** What a call needs of the sessions that it belongs to. */
export interface CallHost {
  readonly model: GateModel;
  readonly store: GateStore;
  /** The store's slots, where it is one of this process. */
  readonly slots: LocalSlots | undefined;
  readonly reporter: Reporter;
  readonly leaseMs: number;
  readonly maxHoldMs: number;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  /** The callers of this process: the next one is let in when a call ends, and already when its lease is lost. */
  readonly queue: KeyedQueue<LeasedCall>;
  /** A call that stands in no line has ended. */
  readonly forget: (call: LeasedCall) => void;
}

/** Since when a call is known to hold its session, and until when, in milliseconds since the epoch. */
interface Renewal {
  readonly heldSince: number;
  leaseEnds: number;
}

/** What was reserved. */
export interface HeldSession extends Wish {
  readonly decision: AllowedDecision;
  readonly fence: number;
  /** The session as it was found. */
  readonly before: FsmSnapshot;
  readonly version: number;
  /** Its turn among the callers of this process; none where nobody waits for turns. */
  readonly line: CallLine | undefined;
  /** Where the session lies, in a store of this process. */
  readonly slot: Slot | undefined;
}

/**
 * A call that holds its session's lease. One is made for each call that moves a session, and to make `#private` fields and
 * methods costs a quarter of reserve and commit on Node 20: these are private to the compiler alone. Users see a `GateCall`.
 */
export class LeasedCall implements GateCall {
  readonly key: string;
  readonly decision: AllowedDecision;
  readonly fence: number;
  private readonly host: CallHost;
  private readonly binding: ToolBinding;
  private readonly args: unknown;
  private readonly note: Partial<OperatorNote> | undefined;
  private readonly before: FsmSnapshot;
  private readonly version: number;
  private line: CallLine | undefined;
  private readonly slot: Slot | undefined;
  private ended: Awaitable<TransitionResult> | undefined;
  /** Known from the first renewal on: most calls are over before it, and a clock is dear. */
  private renewal?: Renewal;
  /** Made for those who ask: most calls end before anybody does. */
  private lostSignal?: AbortController;
  private isLost?: true;

  constructor(host: CallHost, held: HeldSession) {
    this.key = held.key;
    this.decision = held.decision;
    this.fence = held.fence;
    this.host = host;
    this.binding = held.binding;
    this.args = held.args;
    this.note = held.note;
    this.before = held.before;
    this.version = held.version;
    this.line = held.line;
    this.slot = held.slot;
    this.ended = undefined;
  }

  get tool(): string {
    return this.binding.tool;
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
    this.ended ??= this.giveUp('rolled_back', reason);
    try {
      await this.ended;
    } catch {
      // Of a commit that failed, its caller knows.
    }
  }

  /** Lengthens the lease. A store that fails is asked again the next time, until the lease has run out. */
  async renew(): Promise<void> {
    const { store, leaseMs, maxHoldMs, now, onError } = this.host;
    // Whoever was told that the lease is gone must be able to rely on it.
    if (this.isLost) return;
    const asked = now();
    // The first renewal comes within a third of the lease.
    this.renewal ??= { heldSince: asked, leaseEnds: asked + (leaseMs * 2) / 3 };
    const { renewal } = this;
    let kept = asked < renewal.heldSince + maxHoldMs;
    try {
      kept &&= await store.renew(this.key, this.fence, leaseMs);
      if (kept) renewal.leaseEnds = asked + leaseMs;
    } catch (error) {
      onError(error);
      kept = now() < renewal.leaseEnds;
    }
    if (kept || this.ended) return;
    this.isLost = true;
    this.endTurn();
    if (this.lostSignal) this.abort();
  }

  private commitNow(result: unknown): Awaitable<TransitionResult> {
    const { model, slots, now } = this.host;
    const { before, slot } = this;
    try {
      const event = eventOf(this.binding, this.args, result);
      const at = now();
      const step: GateStep = event ? model.step(before, event, at) : { snapshot: before };
      if (!slots || !slot) return this.commitToStore(step, event, result);
      if (slots.commit(slot, this.fence, step.snapshot, at)) return this.committed(slot.version, step, event);
      throw leaseEnded();
    } catch (cause) {
      return this.notRecorded(result, cause);
    }
  }

  private async commitToStore(
    step: GateStep,
    event: GateEvent | undefined,
    result: unknown,
  ): Promise<TransitionResult> {
    const commit = async (): Promise<CommitOutcome> => this.host.store.commit(this.key, this.fence, step.snapshot);
    try {
      // A commit is idempotent by its fence, so one whose answer was lost is asked again.
      const outcome = await commit().catch(commit);
      // Whatever else a store may answer is not a commit.
      if (outcome.kind === 'committed') return this.committed(outcome.version, step, event);
      throw leaseEnded();
    } catch (cause) {
      return this.notRecorded(result, cause);
    }
  }

  private committed(version: number, step: GateStep, event: GateEvent | undefined): TransitionResult {
    const { onError, reporter } = this.host;
    const { key, before } = this;
    const { snapshot: after } = step;
    try {
      step.effects?.();
    } catch (error) {
      onError(error);
    }
    try {
      this.endTurn();
      if (reporter.audited) this.record('committed', version, event?.type, after);
      if (after !== before) reporter.moved(key, before, after, version, true);
    } catch (error) {
      // It is written: nothing that is told about it may make it look otherwise.
      onError(error);
    }
    return moved(before, after);
  }

  private async notRecorded(result: unknown, cause: unknown): Promise<never> {
    const reason = cause instanceof Error ? cause.message : String(cause);
    await this.giveUp('lost', reason);
    throw new EffectNotRecordedError(
      `Tool ${this.tool} took effect, but the session did not move out of state ${this.before.state}: ${reason}. Check the effect, then force the session.`,
      result,
      { cause },
    );
  }

  /** Ends the call with the session as it was. */
  private async giveUp(kind: 'rolled_back' | 'lost', reason: string): Promise<TransitionResult> {
    await release(this.host, this.key, this.fence);
    this.endTurn();
    this.record(kind, this.version, onlyEvent(this.binding), undefined, reason);
    return moved(this.before, this.before);
  }

  /** A second time there is none to end. */
  private endTurn(): void {
    const { host, line } = this;
    if (line) {
      this.line = undefined;
      host.queue.leave(line);
    } else host.forget(this);
  }

  private record(
    kind: 'committed' | 'rolled_back' | 'lost',
    version: number,
    event: string | undefined,
    after: FsmSnapshot | undefined,
    reason?: string,
  ): void {
    const { key: session, tool, fence, before, note } = this;
    this.host.reporter.record({
      ...{ kind, session, tool, event, fence, version },
      state: before.state,
      nextState: after?.state,
      reason: reason ?? note?.reason,
      by: note?.by,
    });
  }

  private abort(): void {
    this.lostSignal?.abort(new Error(`The lease of tool ${this.tool} is gone.`));
  }
}

// The name by which Node's `console.log` asks. A class with a computed member cannot be declared under `isolatedDeclarations`.
Object.defineProperty(LeasedCall.prototype, Symbol.for('nodejs.util.inspect.custom'), {
  value: LeasedCall.prototype.toJSON,
});

/** Frees a session as it was found; where that fails, its lease will expire. */
export async function release({ store, onError }: CallHost, key: string, fence: number): Promise<void> {
  try {
    await store.release(key, fence);
  } catch (error) {
    onError(error);
  }
}

function leaseEnded(): Error {
  return new Error('its lease had ended');
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
    return moved(this.decision, this.decision);
  }

  async rollback(): Promise<void> {}
}

/** What a step did, as the contract tells it. */
function moved(before: { readonly state: string }, after: { readonly state: string }): TransitionResult {
  return { changed: before.state !== after.state, previousState: before.state, currentState: after.state };
}
