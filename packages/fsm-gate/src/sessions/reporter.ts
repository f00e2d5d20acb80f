/** Tells the audit of every decision, and listeners of every change; neither can disturb a call. */
import type { AuditRecord } from '../audit/audit-types.js';
import { isPending } from '../awaitable.js';
import type { GateDecision, RefusedDecision } from '../decision-types.js';
import type { GateModel } from '../model.js';
import type { FsmSnapshot } from '../snapshot.js';
import type { SessionChange } from './sessions-types.js';

/** The state of a session whose bytes could not be read. */
export const UNREADABLE: string = '(unreadable)';

type Listener = (change: SessionChange) => void;

/** What the sessions report through. */
export interface Reporter {
  /** Whether anybody reads the records. */
  readonly audited: boolean;
  record(record: Omit<AuditRecord, 'gate' | 'time'>): void;
  /** Records the answer to a call; `fence` is set where a lease was taken for it. */
  decided(key: string, decision: GateDecision, version: number, fence?: number, event?: string): void;
  /** Tells the listeners, if the state or what is open differs. `before` is `undefined` where it could not be read. */
  moved(key: string, before: FsmSnapshot | undefined, after: FsmSnapshot, version: number, local: boolean): void;
  /** `onChange` of `GateSessions`. */
  onChange(keyOrListener: string | Listener, listener?: Listener): () => void;
  /** Drops the listeners of a session. */
  forget(key: string): void;
}

/** One reporter for each `createGateSessions`. */
export function createReporter(options: {
  readonly model: GateModel;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
  readonly onDecision: ((record: AuditRecord) => void) | undefined;
}): Reporter {
  const { model, now, onError, onDecision } = options;
  const everyKey = new Listeners();
  const byKey = new Map<string, Listeners>();

  const record: Reporter['record'] = (entry) => {
    if (onDecision) tell(onDecision, { ...entry, gate: model.id, time: now() });
  };

  return {
    audited: onDecision !== undefined,
    record,

    decided(session, decision, version, fence, event) {
      if (!onDecision) return;
      const { tool, state } = decision;
      const told = { session, tool, event, state, version };
      if (decision.kind === 'refused') record({ ...told, kind: 'refused', reason: why(decision) });
      else record({ ...told, kind: fence === undefined ? 'allowed' : 'reserved', fence });
    },

    moved(key, before, after, version, local) {
      if (before === after || (everyKey.all.length === 0 && !byKey.has(key))) return;
      const visibleChanged = !before || !sameTools(model.closedTools(before), model.closedTools(after));
      const previousState = before ? before.state : UNREADABLE;
      const currentState = after.state;
      if (previousState === currentState && !visibleChanged) return;
      const change = { key, previousState, currentState, version, visibleChanged, local };
      for (const { listener } of everyKey.all) tell(listener, change);
      // Looked up now: one of the others may have unsubscribed it.
      for (const { listener } of byKey.get(key)?.all ?? []) tell(listener, change);
    },

    onChange(keyOrListener, listener) {
      if (typeof keyOrListener === 'function') return everyKey.add(keyOrListener);
      const key = keyOrListener;
      const listeners = byKey.get(key) ?? new Listeners();
      byKey.set(key, listeners);
      const remove = listeners.add(listener as Listener);
      return () => {
        remove();
        if (listeners.all.length === 0 && byKey.get(key) === listeners) byKey.delete(key);
      };
    },

    forget: (key) => void byKey.delete(key),
  };

  function tell<T>(listener: (news: T) => unknown, news: T): void {
    try {
      const answer = listener(news);
      // An async listener's rejection must not become an unhandled one.
      if (isPending(answer)) answer.then(undefined, onError);
    } catch (error) {
      onError(error);
    }
  }
}

function why(decision: RefusedDecision): string {
  const { reason } = decision;
  if (reason === 'closed') return reason;
  return `${reason}: ${reason === 'busy' ? decision.holder : decision.detail}`;
}

/** Those who listen. The list is never changed but replaced, so that whoever is being told needs no copy of it. */
class Listeners {
  all: readonly { readonly listener: Listener }[] = [];

  /** Each registration is its own entry, so that a listener registered twice is removed once. */
  add(listener: Listener): () => void {
    const entry = { listener };
    this.all = [...this.all, entry];
    return () => {
      this.all = this.all.filter((other) => other !== entry);
    };
  }
}

function sameTools(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  if (one === other) return true;
  return one.size === other.size && [...one].every((tool) => other.has(tool));
}
