/** Takes a session's lease for a call: waits for it as the contention option says, then decides on the state found under it. */
import type { Awaitable } from '../awaitable.js';
import { openTools } from '../decision.js';
import type { RefusedDecision } from '../decision-types.js';
import type { FsmSnapshot } from '../snapshot.js';
import { type CallEnd, type CallHost, type HeldSession, LeasedCall } from './call.js';
import { MAX_DELAY_MS } from './delay.js';
import { KeyedQueue, type Line } from './queue.js';
import { checkKey, type SessionReader } from './reader.js';
import type { Reporter } from './reporter.js';
import type { Contention, GateTimers } from './sessions-types.js';
import type { ReserveOutcome, ReserveRequest } from './store.js';
import type { Wish } from './wish.js';

/** How often a store is asked again while another process holds the session, in milliseconds. */
const POLL_MS = 50;

/** The answer to a wish. */
export type LeaseOutcome = { readonly kind: 'admitted'; readonly call: LeasedCall } | Refusal;

interface Failure {
  readonly kind: 'failed';
  readonly error: unknown;
}

/** A place in the queue, and how long to wait for others than our own process. */
interface Turn {
  readonly request: ReserveRequest;
  /** For how long to wait for another process, in milliseconds. */
  readonly waitMs: number;
  readonly pollMs: number;
  readonly signal: AbortSignal | undefined;
  readonly line: Line | undefined;
}

interface Refusal {
  readonly kind: 'refused';
  readonly decision: RefusedDecision;
}

/** What an interlock works with. */
export interface InterlockOptions extends Omit<CallHost, 'onEnd' | 'leave'> {
  readonly timers: GateTimers;
  readonly reader: SessionReader;
  readonly reporter: Reporter;
  readonly contention: Contention | ((tool: string) => Contention);
  readonly randomId: () => string;
}

/** At most one call that moves a session is between `lease` and its end. */
export interface Interlock {
  /**
   * Answers at once where it can; may throw or reject. `onlyIn`: the states in which there is anything to judge. The signal is looked
   * at where there is something to wait for: reading one costs more than all of the rest.
   */
  lease(
    wish: Wish,
    onlyIn: readonly string[] | undefined,
    signal: AbortSignal | undefined,
  ): LeaseOutcome | Promise<LeaseOutcome>;
  /** A call for a lease that is ours already. */
  adopt(held: HeldSession): LeasedCall;
  /** Stops the renewals. */
  close(): void;
}

export function createInterlock(options: InterlockOptions): Interlock {
  const { model, store, leaseMs, now, timers, onError, reader, reporter, contention, randomId } = options;
  const queue = new KeyedQueue(timers);
  /** The calls in flight, in no order: a call knows its place, and the last one takes it when it ends. */
  const living: LeasedCall[] = [];
  const leave = (line: Line): void => queue.leave(line);
  const host: CallHost = { model, store, leaseMs, maxHoldMs: options.maxHoldMs, now, onError, leave, onEnd };
  const sweepMs = Math.min(leaseMs / 3, MAX_DELAY_MS);
  let sweep: unknown;
  const initial = (): FsmSnapshot => model.start(now());
  let closed = false;
  let reservations = 0;
  // Nobody else can ask with our ids; that they can be told apart is enough between our own.
  const idPrefix = randomId();

  return {
    lease(wish, onlyIn, signal) {
      checkKey(wish.key);
      const rule = typeof contention === 'function' ? contention(wish.tool) : contention;
      // Whatever may throw comes before our turn begins, or nobody would end it.
      const request = requestFor(wish.tool, onlyIn);
      if (rule.kind === 'refuse') return attempt(wish, { request, waitMs: 0, pollMs: 0, signal, line: undefined });
      const { timeoutMs: waitMs, pollMs = POLL_MS } = rule;
      const line = queue.enter(wish.key, waitMs, signal);
      if ('isTaken' in line) return attempt(wish, { request, waitMs, pollMs, signal, line });
      const since = now();
      return line.then((entered) => {
        // When the time is up before our turn comes, one last attempt tells who holds the session.
        const left = entered ? waitMs - (now() - since) : 0;
        return attempt(wish, { request, waitMs: left, pollMs, signal, line: entered });
      });
    },

    adopt: begin,

    close() {
      timers.clearTimeout(sweep);
      sweep = undefined;
      closed = true;
    },
  };

  function requestFor(tool: string, onlyIn: readonly string[] | undefined): ReserveRequest {
    reservations += 1;
    const id = `${idPrefix}.${reservations}`;
    return { id, tool, initial, leaseMs, onlyIn };
  }

  function attempt(wish: Wish, turn: Turn): LeaseOutcome | Promise<LeaseOutcome> {
    let answer: Awaitable<ReserveOutcome>;
    try {
      answer = store.reserve(wish.key, turn.request);
      // Where a store answers at once and the call is let through, nothing has to wait for anything.
      if ('kind' in answer && answer.kind === 'granted') {
        const judged = judgeUnderLease(wish, answer, turn.line);
        if (judged instanceof LeasedCall) return { kind: 'admitted', call: judged };
        return giveBack(wish.key, answer.fence, judged).finally(() => end(turn));
      }
    } catch (error) {
      answer = Promise.reject(error);
    }
    return poll(wish, turn, answer);
  }

  async function poll(wish: Wish, turn: Turn, first: Awaitable<ReserveOutcome>): Promise<LeaseOutcome> {
    const { request, waitMs, pollMs, signal, line } = turn;
    let call: LeasedCall | undefined;
    let deadline: number | undefined;
    try {
      for (let outcome = await first; ; outcome = await store.reserve(wish.key, request)) {
        if (outcome.kind === 'granted') {
          const judged = judgeUnderLease(wish, outcome, line);
          if (!(judged instanceof LeasedCall)) return await giveBack(wish.key, outcome.fence, judged);
          call = judged;
          return { kind: 'admitted', call };
        }
        if (outcome.kind === 'elsewhere' || waitMs <= 0) return refuse(wish, outcome);
        deadline ??= now() + waitMs;
        const left = deadline - now();
        if (left <= 0) return refuse(wish, outcome);
        await pause(Math.min(pollMs, left, Math.max(outcome.expiresInMs, 1)), signal);
      }
    } finally {
      // A call that was let through ends its turn itself.
      if (!call) end(turn);
    }
  }

  function end({ line }: Turn): void {
    if (line) leave(line);
  }

  async function giveBack(key: string, fence: number, judged: Refusal | Failure): Promise<Refusal> {
    try {
      await store.release(key, fence);
    } catch (error) {
      onError(error);
    }
    if (judged.kind === 'failed') throw judged.error;
    return judged;
  }

  function judgeUnderLease(
    wish: Wish,
    { session: stored, fence }: Extract<ReserveOutcome, { kind: 'granted' }>,
    line: Line | undefined,
  ): LeasedCall | Refusal | Failure {
    try {
      const session = reader.accept(stored);
      const decision = wish.judge(session.snapshot);
      reporter.decided(wish.key, decision, session.version, fence, wish.event);
      if (decision.kind === 'refused') return { kind: 'refused', decision };
      return begin({ wish, decision, fence, session, line });
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

  function begin(held: HeldSession): LeasedCall {
    const call = new LeasedCall(host, held, living.length);
    living.push(call);
    if (!closed) sweep ??= afterAThird();
    return call;
  }

  /** One timer renews the leases of all living calls; a call that is over by then has cost none. */
  function afterAThird(): unknown {
    const timer = timers.setTimeout(() => {
      sweep = living.length > 0 ? afterAThird() : undefined;
      // A copy: a call that ends meanwhile changes the places.
      for (const call of [...living]) void call.renew();
    }, sweepMs);
    // Renewing leases is no reason to keep a process alive.
    (timer as { unref?: () => void } | undefined)?.unref?.();
    return timer;
  }

  function onEnd(call: LeasedCall, { kind, event, reason, after, version }: CallEnd): void {
    const { key, wish, session } = call;
    const before = session.snapshot;
    forget(call);
    call.leave();
    if (reporter.audited) {
      const moved = kind === 'committed';
      reporter.record({
        kind,
        session: key,
        tool: call.tool,
        event: moved ? event : wish.event,
        fence: call.fence,
        state: before.state,
        nextState: moved ? after.state : undefined,
        version,
        reason: reason ?? wish.note?.reason,
        by: wish.note?.by,
      });
    }
    if (after !== before) reporter.moved({ key, before, after, version, local: true });
  }

  function forget(call: LeasedCall): void {
    const last = living.pop();
    if (last === undefined || last === call) return;
    living[call.place] = last;
    last.place = call.place;
  }

  function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
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
