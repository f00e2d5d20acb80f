/** Many sessions of one gate. Each call that moves a session is an interlocked reserve → execute → commit or roll back. */
import type { Awaitable } from '../awaitable.js';
import { decide } from '../decision.js';
import { errorHook } from '../error-hook.js';
import { GateError } from '../errors.js';
import type { FsmSnapshot } from '../snapshot.js';
import { assertSound } from '../verify/verify.js';
import { FreeCall } from './call.js';
import { createInterlock } from './interlock.js';
import { memoryGateStore } from './memory-store.js';
import { outcomeOfResult } from './outcome.js';
import { checkKey, createReader } from './reader.js';
import { createReporter, UNREADABLE } from './reporter.js';
import type {
  Admission,
  CallOptions,
  Contention,
  GateCall,
  GateSessions,
  GateSessionsOptions,
  GateTimers,
  OperatorNote,
  RunOutcome,
  SessionView,
} from './sessions-types.js';
import { serialisedStore } from './state-store.js';
import type { GateStore, StoredSession } from './store.js';
import { bindingOfEvent } from './wish.js';

const WAIT: Contention = { kind: 'wait', timeoutMs: 10_000 };

/**
 * Makes the sessions of a gate.
 *
 * @example
 * ```ts
 * const sessions = createGateSessions({ gate, tools: ['cart_add_item', 'cart_checkout'] });
 * const outcome = await sessions.run(sessionId, 'cart_checkout', args, () => checkout(args));
 * if (outcome.kind === 'refused') return refusalText(outcome.decision);
 * ```
 * @throws `GateError` `GATE_UNSOUND` when `tools` is given and `verifyGate` finds errors.
 */
export function createGateSessions(options: GateSessionsOptions): GateSessions {
  const { gate, tools, migrate, onDecision, leaseMs = 30_000, maxHoldMs = 3_600_000 } = options;
  const { contention = WAIT, outcomeOf = outcomeOfResult, now = Date.now } = options;
  const { timers = systemTimers, randomId = () => crypto.randomUUID() } = options;
  const { model } = gate;
  const onError = errorHook(options.onError ?? console.error);
  if (tools) assertSound(gate, tools);
  if (!(leaseMs > 0 && Number.isFinite(leaseMs)))
    throw new GateError('ARGUMENT_INVALID', 'leaseMs must be a positive number of milliseconds.');

  const store = asGateStore(options.store, now);
  const reader = createReader({ model, store, now, migrate });
  const reporter = createReporter({ model, now, onError, onDecision });
  const interlock = createInterlock({
    ...{ model, store, reader, reporter, leaseMs, maxHoldMs, contention },
    ...{ now, timers, onError, randomId },
  });
  const unsubscribe = store.subscribe?.(({ key, previous, current, version }) => {
    // It comes from outside, like all that a store gives: what is no snapshot of ours is told to nobody.
    const after = acceptable(current, version);
    if (after === undefined) return;
    const before = previous ? acceptable(previous, version) : model.start(0);
    reporter.moved(key, before, after, version, false);
  });

  const sessions: GateSessions = {
    model,

    async inspect(key) {
      return view(await reader.read(key));
    },

    async visibleTools(key, names) {
      const closed = model.closedTools((await reader.read(key)).snapshot);
      return names.filter((name) => !closed.has(name));
    },

    async decide(key, tool, args) {
      return decide(model, (await reader.read(key)).snapshot, tool, args);
    },

    async reserve(key, tool, args, callOptions) {
      return sessions.admit(key, tool, args, callOptions);
    },

    admit(key, tool, args, options): Awaitable<Admission> {
      try {
        options?.signal?.throwIfAborted();
        const binding = model.bindings.get(tool);
        if (!binding?.events.length) return admitFree(key, tool, args);
        const admission = interlock.leaseLocally(key, binding, args);
        if (admission) return admission;
        // A migration may lead into another state than the stored one, so the store cannot judge by that.
        const onlyIn = migrate ? undefined : model.openStates(binding);
        return interlock.lease({ key, binding, args, note: undefined }, onlyIn, options?.waitSignal ?? options?.signal);
      } catch (error) {
        return Promise.reject(error);
      }
    },

    async resume({ key, tool, fence }, args) {
      const binding = model.bindings.get(tool);
      if (!binding?.events.length || !(await store.renew(checkKey(key), fence, leaseMs))) return undefined;
      const { snapshot: before, version } = await reader.read(key);
      return interlock.adopt({
        ...{ key, binding, args, note: undefined, fence, before, version, line: undefined, slot: undefined },
        decision: { kind: 'allowed', tool, state: before.state, events: binding.events },
      });
    },

    async run<T>(
      key: string,
      tool: string,
      args: unknown,
      execute: (call: GateCall) => T | Promise<T>,
      callOptions: CallOptions = {},
    ): Promise<RunOutcome<T>> {
      const admission = await sessions.reserve(key, tool, args, callOptions);
      if (admission.kind === 'refused') return admission;
      const { call } = admission;
      let result: T;
      try {
        result = await execute(call);
      } catch (error) {
        await call.rollback('it threw');
        throw error;
      }
      let outcome: 'commit' | 'rollback';
      try {
        outcome = outcomeOf(result);
      } catch (error) {
        await call.rollback('its result could not be judged');
        throw error;
      }
      if (outcome === 'commit') return { kind: 'done', result, transition: await call.commit(result) };
      await call.rollback('its result says so');
      return { kind: 'rolled_back', result, state: call.decision.state };
    },

    async send(key, event, { signal, args, ...note } = {}) {
      signal?.throwIfAborted();
      const outcome = await interlock.lease({ key, binding: bindingOfEvent(event), args, note }, undefined, signal);
      if (outcome.kind === 'admitted') return outcome.call.commit();
      throw new GateError(
        'SESSION_BUSY',
        `Event ${event} was not sent: another call holds the session. Send it again.`,
      );
    },

    reset: (key, note) => overwrite(key, note, () => model.start(now())),

    force: (key, state, note) =>
      overwrite(key, note, (before) =>
        typeof state === 'string' ? model.standAt(state, now(), before) : model.accept(state),
      ),

    async end(key) {
      const last = await lastKnown(key);
      await store.delete(key);
      const before = last?.snapshot;
      reporter.record({
        kind: 'ended',
        session: key,
        state: before?.state ?? UNREADABLE,
        version: last?.version ?? 0,
      });
      // Who still looks at it finds it at its beginning.
      reporter.moved(key, before, model.start(now()), 0, true);
      reporter.forget(key);
    },

    onChange: reporter.onChange,

    close() {
      unsubscribe?.();
      interlock.close();
    },
  };
  return sessions;

  /** Nothing is taken for a tool that moves nothing. */
  function admitFree(key: string, tool: string, args: unknown): Awaitable<Admission> {
    const session = reader.read(key);
    if ('version' in session) return admitAt(session, key, tool, args);
    return session.then((found) => admitAt(found, key, tool, args));
  }

  function admitAt({ snapshot, version }: StoredSession, key: string, tool: string, args: unknown): Admission {
    const decision = decide(model, snapshot, tool, args);
    reporter.decided(key, decision, version);
    if (decision.kind === 'refused') return { kind: 'refused', decision };
    return { kind: 'admitted', call: new FreeCall(key, decision) };
  }

  async function overwrite(
    key: string,
    { by, reason }: OperatorNote,
    target: (before: FsmSnapshot | undefined) => FsmSnapshot,
  ): Promise<SessionView> {
    const before = (await lastKnown(key))?.snapshot;
    const after = target(before);
    const forced = await store.force(key, after);
    const { version } = forced;
    const state = before?.state ?? UNREADABLE;
    reporter.record({ kind: 'forced', session: key, state, nextState: after.state, version, by, reason });
    reporter.moved(key, before, after, version, true);
    return view(forced);
  }

  /** `undefined` where nobody can read what is stored: that is what operators reset sessions for. */
  async function lastKnown(key: string): Promise<StoredSession | undefined> {
    checkKey(key);
    try {
      return await reader.read(key);
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  function acceptable(snapshot: FsmSnapshot, version: number): FsmSnapshot | undefined {
    try {
      return reader.accept({ snapshot, version }).snapshot;
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  function view({ snapshot, version }: StoredSession): SessionView {
    const { state, updatedAt } = snapshot;
    return { state, version, updatedAt, snapshot, closed: model.closedTools(snapshot) };
  }
}

function asGateStore(store: GateSessionsOptions['store'], now: () => number): GateStore {
  if (store === undefined) return memoryGateStore({ now });
  if ('reserve' in store) return store;
  if (typeof store.load === 'function' && typeof store.save === 'function') return serialisedStore(store, { now });
  throw new GateError('ARGUMENT_INVALID', 'store must be a GateStore, or have load and save.');
}

const systemTimers: GateTimers = {
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  // The handle is the one that `setTimeout` of this very object returned.
  clearTimeout: (handle) => clearTimeout(handle as Parameters<typeof clearTimeout>[0]),
};
