/** Takes a session's lease for a call: waits for it as the contention option says, then decides on the state found under it. */
import { decideBound, openTools } from '../decision.js';
import type { RefusedDecision } from '../decision-types.js';
import type { ToolBinding } from '../model.js';
import type { FsmSnapshot } from '../snapshot.js';
import { type CallHost, type CallLine, type HeldSession, LeasedCall, release } from './call.js';
import { MAX_DELAY_MS } from './delay.js';
import { type Slot, slotsOf } from './memory-store.js';
import { KeyedQueue } from './queue.js';
import { checkKey, type SessionReader } from './reader.js';
import type { Contention, GateTimers } from './sessions-types.js';
import type { ReserveOutcome, ReserveRequest } from './store.js';
import { judge, onlyEvent, type Wish } from './wish.js';

/** How often a store is asked again while another process holds the session, in milliseconds. */
const POLL_MS = 50;

/** The answer to a wish. */
export type LeaseOutcome = { readonly kind: 'admitted'; readonly call: LeasedCall } | Refusal;

/** For how long to wait for other processes than our own, and how often to ask, in milliseconds. */
interface Patience {
  readonly timeoutMs: number;
  readonly pollMs?: number;
}

interface Refusal {
  readonly kind: 'refused';
  readonly decision: RefusedDecision;
}

/** What an interlock works with. */
export interface InterlockOptions extends Omit<CallHost, 'slots' | 'queue' | 'forget'> {
  readonly timers: GateTimers;
  readonly reader: SessionReader;
  readonly contention: Contention | ((tool: string) => Contention);
  readonly randomId: () => string;
}

/** At most one call that moves a session is between `lease` and its end. */
export interface Interlock {
  /**
   * `lease` for a tool whose session lies free in this process, which is most calls of most servers, and then nothing is made but
   * the call itself. `undefined` otherwise: `lease` it.
   */
  leaseLocally(key: string, binding: ToolBinding, args: unknown): LeaseOutcome | undefined;
  /**
   * Waits for the lease as the contention option says. `onlyIn`: the states in which there is anything to judge. The signal is
   * looked at where there is something to wait for.
   */
  lease(wish: Wish, onlyIn: readonly string[] | undefined, signal: AbortSignal | undefined): Promise<LeaseOutcome>;
  /** A call for a lease that is ours already. */
  adopt(held: HeldSession): LeasedCall;
  /** Stops the renewals. */
  close(): void;
}

export function createInterlock(options: InterlockOptions): Interlock {
  const { model, store, leaseMs, maxHoldMs, now, timers, onError, reader, reporter, contention, randomId } = options;
  const queue = new KeyedQueue<LeasedCall>(timers);
  /** The calls in flight that stand in no line. The others are found by their lines. */
  const strays = new Set<LeasedCall>();
  const local = slotsOf(store);
  // A commit reads the time once, for the lease and for the snapshot: both must be told by one clock.
  const slots = local?.now === now ? local : undefined;
  const host: CallHost = {
    ...{ model, store, slots, queue, reporter, leaseMs, maxHoldMs, now, onError },
    forget: (call) => void strays.delete(call),
  };
  const sweepMs = Math.min(leaseMs / 3, MAX_DELAY_MS);
  /** The timer of the next renewals; none while nothing is in flight. */
  let sweep: unknown;
  const initial = (): FsmSnapshot => model.start(now());
  let reservations = 0;
  // Nobody else can ask with our ids; that they can be told apart is enough between our own.
  const ourId = randomId();

  return {
    leaseLocally(key, binding, args) {
      const slot = slots?.findFree(key);
      // A machine's snapshot is shared with the machine while it steps: a store that copies it keeps the two apart.
      if (!slots || !slot || slot.snapshot.machine || !isOurs(slot)) return undefined;
      const line = queue.enterFree(key);
      if (!line) return undefined;
      const { snapshot: before, version } = slot;
      const fence = slots.take(slot, binding.tool, leaseMs);
      let call: LeasedCall | undefined;
      try {
        const decision = decideBound(model, before, binding, args);
        reporter.decided(key, decision, version, fence, onlyEvent(binding));
        if (decision.kind === 'refused') return { kind: 'refused', decision };
        call = begin({ key, binding, args, note: undefined, decision, fence, before, version, line, slot });
        return { kind: 'admitted', call };
      } finally {
        if (!call) {
          slots.free(slot, fence);
          queue.leave(line);
        }
      }
    },

    async lease(wish, onlyIn, signal) {
      const { key, binding } = wish;
      checkKey(key);
      const rule = typeof contention === 'function' ? contention(binding.tool) : contention;
      // Whatever may throw comes before our turn begins, or nobody would end it.
      reservations += 1;
      const request = { id: `${ourId}.${reservations}`, tool: binding.tool, initial, leaseMs, onlyIn };
      if (rule.kind === 'refuse') return attempt(wish, request, undefined, { timeoutMs: 0 }, signal);
      const since = now();
      const entered = queue.enter(key, rule.timeoutMs, signal);
      // A turn that is ours must not be overtaken while we wait for what is there.
      const line = 'isTaken' in entered ? entered : await entered;
      // When the time is up before our turn comes, one last attempt tells who holds the session.
      const timeoutMs = line ? rule.timeoutMs - (now() - since) : 0;
      return attempt(wish, request, line, { ...rule, timeoutMs }, signal);
    },

    adopt: begin,

    close() {
      timers.clearTimeout(sweep);
      // Something, so that no timer is set again.
      sweep = true;
    },
  };

  /** One that is not is for `lease` to refuse or to migrate. */
  function isOurs(slot: Slot): boolean {
    try {
      model.accept(slot.snapshot);
      return true;
    } catch {
      return false;
    }
  }

  /** With the turn of a line, which ends with the call or here; with none where nobody waits for turns. */
  async function attempt(
    wish: Wish,
    request: ReserveRequest,
    line: CallLine | undefined,
    { timeoutMs: waitMs, pollMs = POLL_MS }: Patience,
    signal: AbortSignal | undefined,
  ): Promise<LeaseOutcome> {
    let call: LeasedCall | undefined;
    let deadline: number | undefined;
    try {
      for (;;) {
        const outcome = await store.reserve(wish.key, request);
        if (outcome.kind === 'granted') {
          const { fence, session } = outcome;
          try {
            const { snapshot: before, version } = reader.accept(session);
            const decision = judge(model, wish, before);
            reporter.decided(wish.key, decision, version, fence, onlyEvent(wish.binding));
            if (decision.kind === 'refused') return { kind: 'refused', decision };
            call = begin({ ...wish, decision, fence, before, version, line, slot: undefined });
            return { kind: 'admitted', call };
          } finally {
            if (!call) await release(host, wish.key, fence);
          }
        }
        if (outcome.kind === 'elsewhere' || waitMs <= 0) return refuse(wish, outcome);
        deadline ??= now() + waitMs;
        const left = deadline - now();
        if (left <= 0) return refuse(wish, outcome);
        await pause(Math.min(pollMs, left, Math.max(outcome.expiresInMs, 1)), signal);
      }
    } finally {
      // A call that was let through ends its turn itself.
      if (!call && line) queue.leave(line);
    }
  }

  function refuse(wish: Wish, outcome: Exclude<ReserveOutcome, { kind: 'granted' }>): Refusal {
    const { snapshot, version } = reader.accept(outcome.session);
    const judged = judge(model, wish, snapshot);
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
    reporter.decided(wish.key, decision, version, undefined, onlyEvent(wish.binding));
    return { kind: 'refused', decision };
  }

  function begin(held: HeldSession): LeasedCall {
    const call = new LeasedCall(host, held);
    if (held.line) held.line.work = call;
    else strays.add(call);
    sweep ??= afterAThird();
    return call;
  }

  /** One timer renews the leases of all living calls; a call that is over by then has cost none. */
  function afterAThird(): unknown {
    const timer = timers.setTimeout(() => {
      const living = [...queue.working(), ...strays];
      sweep = living.length > 0 ? afterAThird() : undefined;
      for (const call of living) void call.renew();
    }, sweepMs);
    // Renewing leases is no reason to keep a process alive.
    (timer as { unref?: () => void } | undefined)?.unref?.();
    return timer;
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
