/** What a call wants of its session: known before the session's state is, and told of when the call ends. */
import { eventOf } from '../binding.js';
import { decideBound } from '../decision.js';
import type { GateDecision } from '../decision-types.js';
import type { GateEvent, GateModel, ToolBinding } from '../model.js';
import type { FsmSnapshot } from '../snapshot.js';
import type { OperatorNote } from './sessions-types.js';

/** A wish to move a session. */
export interface Wish {
  readonly key: string;
  /** `event:NAME` for an event that no tool stands for. */
  readonly tool: string;
  /** Named in the audit while it is not known yet which of several events it will be. */
  readonly event: string | undefined;
  /** Who sends an event from outside, and why. */
  readonly note: Partial<OperatorNote> | undefined;
  /** The decision, once the state is known. */
  judge(snapshot: FsmSnapshot): GateDecision;
  /** The event that a result stands for. */
  eventFor(result: unknown): GateEvent | undefined;
}

/** A call of a tool that moves the session. A class, since one is made for each call: its methods are shared. */
export class ToolWish implements Wish {
  readonly key: string;
  readonly tool: string;
  readonly event: string | undefined;
  readonly note: undefined = undefined;
  readonly model: GateModel;
  readonly binding: ToolBinding;
  readonly args: unknown;

  constructor(model: GateModel, binding: ToolBinding, key: string, args: unknown) {
    const { tool, events } = binding;
    this.key = key;
    this.tool = tool;
    this.event = events.length === 1 ? events[0] : undefined;
    this.model = model;
    this.binding = binding;
    this.args = args;
  }

  judge(snapshot: FsmSnapshot): GateDecision {
    return decideBound(this.model, snapshot, this.binding, this.args);
  }

  eventFor(result: unknown): GateEvent | undefined {
    return eventOf(this.binding, this.args, result);
  }
}

/** An event from outside any tool; the machine alone says what it does. */
export class EventWish implements Wish {
  readonly key: string;
  readonly tool: string;
  readonly event: string;
  readonly note: Partial<OperatorNote>;
  readonly args: unknown;

  constructor(key: string, event: string, args: unknown, note: Partial<OperatorNote>) {
    this.key = key;
    this.tool = `event:${event}`;
    this.event = event;
    this.note = note;
    this.args = args;
  }

  judge({ state }: FsmSnapshot): GateDecision {
    return { kind: 'allowed', tool: this.tool, state, events: [this.event] };
  }

  eventFor(): GateEvent {
    return { type: this.event, args: this.args };
  }
}
