/** What a call wants of its session: known before the session's state is, and told of when the call ends. */
import { decideBound } from '../decision.js';
import type { GateDecision } from '../decision-types.js';
import type { GateModel, ToolBinding } from '../model.js';
import type { FsmSnapshot } from '../snapshot.js';
import type { OperatorNote } from './sessions-types.js';

/** A wish to move a session: by a call of a tool, or by an event from outside any tool. */
export interface Wish {
  readonly key: string;
  readonly binding: ToolBinding;
  readonly args: unknown;
  /** Who sends an event from outside, and why; `undefined` for a tool. */
  readonly note: Partial<OperatorNote> | undefined;
}

/** The binding that stands for an event which no tool sends. */
export function bindingOfEvent(event: string): ToolBinding {
  return { tool: `event:${event}`, states: [], events: [event], eventFor: undefined, guard: undefined };
}

/** The decision on a wish. An event from outside is let through: the machine alone says what it does. */
export function judge(model: GateModel, { binding, args, note }: Wish, snapshot: FsmSnapshot): GateDecision {
  if (note === undefined) return decideBound(model, snapshot, binding, args);
  return { kind: 'allowed', tool: binding.tool, state: snapshot.state, events: binding.events };
}

/** Named in the audit while it is not known yet which of several events it will be. */
export function onlyEvent({ events }: ToolBinding): string | undefined {
  return events.length === 1 ? events[0] : undefined;
}
