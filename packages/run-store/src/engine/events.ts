/** What a store tells about itself: events without payloads and without run ids, and counts of them. */
import type { RunScope } from '../types.js';

export type RunEventType =
  | 'stored'
  | 'loaded'
  | 'consumed'
  /** `load`, `consume`, `resume` or `claim` of a run that is not there. */
  | 'missed'
  | 'resumed'
  /** A partial decision was kept. */
  | 'decided'
  | 'refused'
  | 'claimed'
  | 'held'
  | 'extended'
  | 'released'
  | 'acknowledged'
  | 'replayed'
  | 'touched'
  | 'cancelled'
  | 'erased'
  /** A sweep found it over. */
  | 'expired'
  | 'swept'
  | 'evicted'
  | 'unreadable'
  | 'outcome_unknown';

/** For an audit log. A run id is a capability, so the hashed key stands for it (`keyOf(runId)` names the same). */
export interface RunEvent {
  readonly type: RunEventType;
  /** Milliseconds since the epoch, by the store's `now`. */
  readonly at: number;
  /** Hashed key of the run, or of the tenant for `erased`; absent for `swept`. */
  readonly key?: string | undefined;
  readonly scope?: RunScope | undefined;
  /** Who claims, who decides: as the caller named them. */
  readonly by?: string | undefined;
  readonly fence?: number | undefined;
  /** Number of runs, for `erased` and `swept`. */
  readonly count?: number | undefined;
  /** Code of the error, for `refused`, `unreadable` and `outcome_unknown`. */
  readonly code?: string | undefined;
}

export type RunCounters = Readonly<Record<RunEventType, number>>;

export interface RunEventHooks {
  /** Called after the fact, once an event; must not block. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /** What `onEvent` threw, and other failures that no caller is told of. Default: ignored, since the run is safe. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface RunEvents {
  readonly counters: RunCounters;
  emit(type: RunEventType, details?: Omit<RunEvent, 'type' | 'at'>): void;
}

export function createRunEvents(hooks: RunEventHooks, now: () => number): RunEvents {
  const counters: Record<RunEventType, number> = {
    stored: 0,
    loaded: 0,
    consumed: 0,
    missed: 0,
    resumed: 0,
    decided: 0,
    refused: 0,
    claimed: 0,
    held: 0,
    extended: 0,
    released: 0,
    acknowledged: 0,
    replayed: 0,
    touched: 0,
    cancelled: 0,
    erased: 0,
    expired: 0,
    swept: 0,
    evicted: 0,
    unreadable: 0,
    outcome_unknown: 0,
  };
  return {
    counters,
    emit(type, details) {
      counters[type] += 1;
      if (hooks.onEvent === undefined) return;
      try {
        const returned: unknown = hooks.onEvent({ type, at: now(), ...details });
        // An async function fits the type as well, and its failure must not end the process.
        if (returned instanceof Promise) returned.catch((error: unknown) => tell(hooks, error));
      } catch (error) {
        tell(hooks, error);
      }
    },
  };
}

/** Events tell of what has happened: a hook that throws must not make a taken run look refused. */
function tell(hooks: RunEventHooks, error: unknown): void {
  try {
    hooks.onError?.(error);
  } catch {
    // There is nobody left to tell.
  }
}
