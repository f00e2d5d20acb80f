/** The pure heart of every gate: what a machine and its tool bindings say about a snapshot, without holding any session. */
import type { FsmSnapshot } from './snapshot.js';

/**
 * Looks at a call's arguments before it runs. `true` or `undefined` lets it pass; a string refuses it and is the reason told
 * to the model. A guard that throws refuses too.
 */
export type ArgumentGuard = (args: unknown, context: GuardContext) => true | string | undefined;

/** Where the guarded call stands. */
export interface GuardContext {
  readonly tool: string;
  readonly state: string;
}

/** When a tool is open, what its success does to the machine, and which arguments it takes. */
export interface ToolBinding {
  readonly tool: string;
  /** The states in which the tool is open; for machines also a description of the condition (`tag:paying`, `can:PAY`). */
  readonly states: readonly string[];
  /** The events that a successful call may send; empty for a tool that moves nothing. */
  readonly events: readonly string[];
  /** Picks one of several events by the call's result. */
  readonly eventFor: EventChooser | undefined;
  readonly guard: ArgumentGuard | undefined;
}

/** Picks the event of a successful call: one of those declared, or `undefined` to stay. */
export type EventChooser<Event extends string = string> = (result: unknown, args: unknown) => Event | undefined;

/** What the machine is told: the event's name, with the arguments and result of the call where there was one. */
export interface GateEvent {
  readonly type: string;
  readonly args?: unknown;
  readonly result?: unknown;
}

/** A state as it was declared. */
export interface DeclaredState {
  readonly name: string;
  readonly final: boolean;
  /** The events that the state names in its definition, accepted or not. */
  readonly events: readonly string[];
}

/**
 * A machine with its bindings, as functions of a snapshot. Nothing in it changes but by binding another tool, so one model
 * serves every session.
 */
export interface GateModel {
  readonly id: string;
  /** The bound tools by name. A tool that is not in here is ungated: always open, moves nothing. */
  readonly bindings: ReadonlyMap<string, ToolBinding>;
  /** `bindTool` calls that replaced an earlier binding, for `verifyGate`. */
  readonly rebound: readonly string[];
  /** Every declared state that a session can rest in. */
  readonly states: readonly DeclaredState[];
  /** Whether guards or context decide about transitions, so that exploring without arguments may miss some. */
  readonly conditional: boolean;
  /** Whether a condition of a binding (`ToolBinding.states`) names something that the machine has. */
  knows(condition: string): boolean;
  /** Whether some state takes events that it does not name. */
  readonly wildcards: boolean;
  /** The declared states that a snapshot is in: one, or of a parallel machine several. */
  partsOf(snapshot: FsmSnapshot): readonly string[];
  /** The snapshot of a new session. */
  start(now: number): FsmSnapshot;
  /** The snapshot that stands in the named state; a machine takes its context over from `from`. Throws `SNAPSHOT_FOREIGN`. */
  standAt(state: string, now: number, from: FsmSnapshot | undefined): FsmSnapshot;
  /** Checks what a store gave back. Throws `GateError` (`SNAPSHOT_INVALID`, `SNAPSHOT_FOREIGN`) instead of guessing. */
  accept(snapshot: FsmSnapshot): FsmSnapshot;
  /** Whether the tool of the binding is open at the snapshot. */
  isOpen(binding: ToolBinding, snapshot: FsmSnapshot, args?: unknown): boolean;
  /** The bound tools that are closed at the snapshot. */
  closedTools(snapshot: FsmSnapshot): ReadonlySet<string>;
  /** The state texts in which a tool is open, where that alone decides; `undefined` where the whole snapshot is needed. */
  openStates(binding: ToolBinding): readonly string[] | undefined;
  /** The snapshot after the event; the same object where the machine does not take it. Effects wait for the commit. */
  step(snapshot: FsmSnapshot, event: GateEvent, now: number): GateStep;
  /** The events worth trying at the snapshot. */
  eventsAt(snapshot: FsmSnapshot): readonly string[];
  /** Whether the session is over: no event will ever be taken. */
  isFinal(snapshot: FsmSnapshot): boolean;
  /** Two snapshots with one key are explored as one; of a machine with context that is an approximation. */
  keyOf(snapshot: FsmSnapshot): string;
}

/** Anything with a model: a `StateMachineGate`, or a gate of `@mcp-interlock/fsm-gate/xstate`. */
export interface GateLike {
  readonly model: GateModel;
}

/** One step of the machine. */
export interface GateStep {
  readonly snapshot: FsmSnapshot;
  /** The machine's own actions, to run once the step is committed. */
  readonly effects?: () => void;
}
