/** Takes a session's lease for a call: waits for it as the contention option says, then decides on the state found under it. */
import { type CallEnd, type CallHost, LeasedCall } from './call.js';
import { openTools } from './decision.js';
import type { AllowedDecision, GateDecision, RefusedDecision } from './decision-types.js';
import type { GateEvent } from './model.js';
import { KeyedQueue, type Leave } from './queue.js';
import { checkKey, type SessionReader } from './reader.js';
import type { Reporter } from './reporter.js';
import type { Contention, GateTimers, OperatorNote } from './sessions-types.js';
import type { FsmSnapshot } from './snapshot.js';
import type { ReserveOutcome, StoredSession } from './store.js';

/** How often a store is asked again while another process holds the session, in milliseconds. */
const POLL_MS = 50;

/** What a call under a lease is about. */
export interface HeldWish {
  readonly key: string;
  /** `event:NAME` for an event that no tool stands for. */
  readonly tool: string;
  /** Named in the audit while it is not known yet which of several events it will be. */
  readonly event: string | undefined;
  /** The event that a result stands for. */
  readonly eventFor: (result: unknown) => GateEvent | undefined;
  /** Who sends an event from outside, and why. */
  readonly note?: Partial<OperatorNote> | undefined;
}

/** A call that wants to move a session. */
export interface Wish extends HeldWish {
  /** The decision, once the state is known. */
  readonly judge: (snapshot: FsmSnapshot) => GateDecision;
  readonly onlyIn: readonly string[] | undefined;
}

/** The answer to a wish. */
export type LeaseOutcome = { readonly kind: 'admitted'; readonly call: LeasedCall } | Refusal;

interface Refusal {
  readonly kind: 'refused';
  readonly decision: RefusedDecision;
}

/** What an interlock works with. */
export interface InterlockOptions extends Omit<CallHost, 'onEnd'> {
  readonly timers: GateTimers;
  readonly reader: SessionReader;
  readonly reporter: Reporter;
  readonly contention: Contention | ((tool: string) => Contention);
  readonly randomId: () => string;
}

/** At most one call that moves a session is between `lease` and its end. */
export interface Interlock {
  lease(wish: Wish, signal: AbortSignal | undefined): Promise<LeaseOutcome>;
  /** A call for a lease that is ours already. */
  adopt(wish: HeldWish, decision: AllowedDecision, session: StoredSession, fence: number): LeasedCall;
  /** Stops the renewals. */
  close(): void;
}

export function createInterlock(options: InterlockOptions): Interlock {
  const { model, store, leaseMs, now, timers, onError, reader, reporter, contention, randomId } = options;
  const queue = new KeyedQueue(timers);
  const living = new Map<LeasedCall, { readonly wish: HeldWish; readonly leave: Leave | undefined }>();
  const host: CallHost = { model, store, leaseMs, maxHoldMs: options.maxHoldMs, now, onError, onEnd };
  const sweepMs = leaseMs / 3;
  let sweep: unknown;
  let reservations = 0;
  // Nobody else can ask with our ids; that they can be told apart is enough between our own.
  const idPrefix = randomId();

  return {
    async lease(wish, signal) {
      signal?.throwIfAborted();
      const rule = typeof contention === 'function' ? contention(wish.tool) : contention;
      if (rule.kind === 'refuse') return attempt(wish, 0, POLL_MS, signal, undefined);
      const deadline = now() + rule.timeoutMs;
      const entered = queue.enter(checkKey(wish.key), rule.timeoutMs, signal);
      // When the time is up before our turn comes, one last attempt tells who holds the session.
      const leave = entered instanceof Promise ? await entered : entered;
      let outcome: LeaseOutcome | undefined;
      try {
        outcome = await attempt(wish, leave ? deadline : 0, rule.pollMs ?? POLL_MS, signal, leave);
        return outcome;
      } finally {
        if (outcome?.kind !== 'admitted') leave?.();
      }
    },

    adopt: (wish, decision, session, fence) => begin(wish, decision, session, fence, undefined),

    close() {
      timers.clearTimeout(sweep);
      sweep = undefined;
      living.clear();
    },
  };

  async function attempt(
    wish: Wish,
    deadline: number,
    pollMs: number,
    signal: AbortSignal | undefined,
    leave: Leave | undefined,
  ): Promise<LeaseOutcome> {
    const { key, tool, onlyIn } = wish;
    reservations += 1;
    const id = `${idPrefix}.${reservations}`;
    const request = { id, tool, initial: model.start(now()), leaseMs, onlyIn };
    for (;;) {
      const answer = store.reserve(checkKey(key), request);
      const outcome = answer instanceof Promise ? await answer : answer;
      if (outcome.kind === 'granted') {
        const judged = judgeUnderLease(wish, outcome, leave);
        if (judged instanceof LeasedCall) return { kind: 'admitted', call: judged };
        await release(key, outcome.fence);
        if (judged.kind === 'refused') return judged;
        throw judged.error;
      }
      const left = deadline - now();
      if (outcome.kind === 'elsewhere' || left <= 0) return refuse(wish, outcome);
      await pause(Math.min(pollMs, left, Math.max(outcome.expiresInMs, 1)), signal);
    }
  }

  function judgeUnderLease(
    wish: Wish,
    { session: stored, fence }: Extract<ReserveOutcome, { kind: 'granted' }>,
    leave: Leave | undefined,
  ): LeasedCall | Refusal | { readonly kind: 'failed'; readonly error: unknown } {
    try {
      const session = reader.accept(stored);
      const decision = wish.judge(session.snapshot);
      reporter.decided(wish.key, decision, session.version, fence, wish.event);
      if (decision.kind === 'refused') return { kind: 'refused', decision };
      return begin(wish, decision, session, fence, leave);
    } catch (error) {
      return { kind: 'failed', error };
    }
  }

  function refuse(wish: Wish, outcome: Exclude<ReserveOutcome, { kind: 'granted' }>): Refusal {
    const { snapshot, version } = reader.accept(outcome.session);
    const judged = wish.judge(snapshot);
    const decision: RefusedDecision =
      judged.kind === 'refused'
        ? judged
        : {
            kind: 'refused',
            reason: 'busy',
            tool: judged.tool,
            state: judged.state,
            openTools: openTools(model, snapshot),
            holder: outcome.kind === 'held' ? outcome.tool : '',
            retryAfterMs: outcome.kind === 'held' ? outcome.expiresInMs : 0,
          };
    reporter.decided(wish.key, decision, version, undefined, wish.event);
    return { kind: 'refused', decision };
  }

  function begin(
    wish: HeldWish,
    decision: AllowedDecision,
    session: StoredSession,
    fence: number,
    leave: Leave | undefined,
  ): LeasedCall {
    // The others need not wait for a call that has lost its lease.
    const call = new LeasedCall(host, {
      key: wish.key,
      eventFor: wish.eventFor,
      decision,
      session,
      fence,
      onLost: leave,
    });
    living.set(call, { wish, leave });
    sweep ??= afterAThird();
    return call;
  }

  /** One timer renews the leases of all living calls; a call that is over by then has cost none. */
  function afterAThird(): unknown {
    const timer = timers.setTimeout(() => {
      sweep = living.size > 0 ? afterAThird() : undefined;
      for (const call of living.keys()) void call.renew();
    }, sweepMs);
    // Renewing leases is no reason to keep a process alive.
    (timer as { unref?: () => void } | undefined)?.unref?.();
    return timer;
  }

  function onEnd({ call, kind, event, reason, before, after, version }: CallEnd): void {
    const { wish, leave } = living.get(call) ?? {};
    living.delete(call);
    leave?.();
    const { key: session, tool, fence } = call;
    if (reporter.audited) {
      const nextState = kind === 'committed' ? after.state : undefined;
      const what = {
        kind,
        session,
        tool,
        event: kind === 'committed' ? event : wish?.event,
        fence,
        state: before.state,
        nextState,
        version,
      };
      reporter.record({ ...what, reason: reason ?? wish?.note?.reason, by: wish?.note?.by });
    }
    if (kind === 'committed') reporter.moved({ key: session, before, after, version, local: true });
  }

  async function release(key: string, fence: number): Promise<void> {
    try {
      await store.release(key, fence);
    } catch (error) {
      onError(error);
    }
  }

  function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = timers.setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, ms);
      const abort = (): void => {
        timers.clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
