/** Gates over whole XState machines: nested and parallel states, history, guards, context, tags. */
import type { AnyStateMachine, EventFromLogic, InputFrom, StateValueFrom, TagsFrom } from 'xstate';
import { type BindOptions, makeBinding } from './binding.js';
import { GateError } from './errors.js';
import { GateBase, type GateOptions } from './gate-base.js';
import type { GateModel } from './model.js';
import type { FsmSnapshot, TransitionResult } from './snapshot.js';
import { type Condition, MachineModel } from './xstate/machine-model.js';
import { pathOf } from './xstate/state-text.js';

/** The paths of a machine's states: `'cart'`, `'cart.full'`; of a machine whose type does not tell, any string. */
export type PathOf<M extends AnyStateMachine> = PathsIn<StateValueFrom<M>>;

type PathsIn<V> = V extends string
  ? V
  : { [K in keyof V & string]: K | `${K}.${PathsIn<NonNullable<V[K]>>}` }[keyof V & string];

/** The types of the events that a machine takes. */
export type MachineEvent<M extends AnyStateMachine> = EventFromLogic<M>['type'];

/** When a tool is open: a state's path, a tag, or "the machine can take this event now". */
export type OpenWhen<M extends AnyStateMachine> =
  | PathOf<M>
  | { readonly tag: TagsFrom<M> }
  /** Guards see the arguments of a call as `event.args`. Without them (in a list), a guard that throws leaves the tool open. */
  | { readonly can: MachineEvent<M> };

/** Options of `machineGate`. */
export interface MachineGateOptions<M extends AnyStateMachine> extends GateOptions {
  /** The input of the machine, for each new session. */
  readonly input?: InputFrom<M>;
}

/** Brings a snapshot of another definition into this one; `undefined` refuses it. */
export type Migration = (snapshot: FsmSnapshot, reason: Error) => FsmSnapshot | undefined;

/**
 * Makes a gate from a machine of XState's `setup()` or `createMachine()`.
 *
 * The machine is told `{ type, args, result }`: the event of the binding, and the arguments and result of the call. Its custom
 * actions run once the step is committed, those of the initial entry never.
 *
 * @example
 * ```ts
 * const gate = machineGate(checkoutMachine)
 *   .bindTool('cart_add', 'cart', 'ADD')
 *   .bindTool('pay', { can: 'PAY' }, 'PAY')
 *   .bindTool('cancel', { tag: 'cancellable' }, 'CANCEL');
 * const sessions = createGateSessions({ gate, store });
 * ```
 * @throws `GateError` `MACHINE_UNSUPPORTED` for a machine that needs a living actor (`invoke`, `after`, spawned actors), and for
 * a context that JSON cannot keep.
 */
export function machineGate<M extends AnyStateMachine>(
  machine: M,
  options: MachineGateOptions<M> = {},
): MachineGate<M> {
  if (typeof machine?.getPersistedSnapshot !== 'function')
    throw new GateError('CONFIG_INVALID', 'machineGate needs a machine of the package xstate, version 5.');
  if (Object.keys(machine.states).length === 0)
    throw new GateError('CONFIG_INVALID', `Machine ${machine.id} has no states, so there is nothing to gate by.`);
  return new MachineGate(machine, new MachineModel(machine, options.input), options);
}

/** One session's gate over a machine. Made by `machineGate`. */
export class MachineGate<M extends AnyStateMachine = AnyStateMachine> extends GateBase {
  readonly machine: M;
  readonly #model: MachineModel;

  /** Use `machineGate`. */
  constructor(machine: M, model: MachineModel, options: GateOptions) {
    super((now) => model.start(now), options);
    this.machine = machine;
    this.#model = model;
  }

  /** The machine and the bindings as pure functions, apart from this gate's current state. */
  override get model(): GateModel {
    return this.#model;
  }

  /** The canonical path text of the current state, such as `checkout.(cart.full|pay.open)`. */
  get currentState(): string {
    return this.at.state;
  }

  /** Binds a tool: it is open while any of the conditions holds. Binding it again replaces the earlier binding. */
  bindTool(
    toolName: string,
    openWhen: OpenWhen<M> | readonly OpenWhen<M>[],
    transition?: MachineEvent<M> | BindOptions<MachineEvent<M>> | '',
  ): this {
    // A condition is never an array, which the compiler cannot see through the generic type.
    const list = (Array.isArray(openWhen) ? openWhen : [openWhen]) as readonly OpenWhen<AnyStateMachine>[];
    const conditions = list.map((when) => conditionOf(toolName, when));
    const binding = makeBinding(
      toolName,
      conditions.map(({ text }) => text),
      transition as string | BindOptions | undefined,
    );
    this.#model.bind({ ...binding, conditions });
    return this;
  }

  /** The event bound to a tool, if any; of several, the first. */
  getTransitionEvent(toolName: string): MachineEvent<M> | undefined {
    // Bound events went through `bindTool`, which takes no other.
    return this.#model.bindings.get(toolName)?.events[0] as MachineEvent<M> | undefined;
  }

  /** Sends an event, with what the machine's guards and actions shall see as `event.args`. Rejects with what they throw. */
  async transition(eventType: MachineEvent<M>, args?: unknown): Promise<TransitionResult> {
    return this.move({ type: eventType, args });
  }

  /**
   * Goes to where a snapshot stands, telling nobody. A missing snapshot is ignored.
   *
   * @throws `GateError` `SNAPSHOT_FOREIGN` for one of another machine or definition that `migrate` does not bring over,
   * `SNAPSHOT_INVALID` for one that cannot be revived.
   */
  restore(snap: FsmSnapshot | undefined, migrate?: Migration): void {
    if (!snap) return;
    try {
      this.at = this.#model.accept(snap);
    } catch (error) {
      const migrated = error instanceof GateError ? migrate?.(snap, error) : undefined;
      if (!migrated) throw error;
      this.at = this.#model.accept(migrated);
    }
  }

  /** A snapshot of this definition that stands in the given state: what a migration returns. */
  snapshotAt(state: string, options: { readonly context?: unknown } = {}): FsmSnapshot {
    return this.#model.standAt(state, this.now(), undefined, options.context);
  }

  /** A gate of the same machine, bindings and current state that moves on its own and calls nobody back. */
  clone(): MachineGate<M> {
    const copy = new MachineGate(this.machine, this.#model.copy(), this.options);
    copy.at = this.at;
    return copy;
  }
}

function conditionOf(tool: string, when: OpenWhen<AnyStateMachine>): Condition {
  if (typeof when === 'string') return { kind: 'state', text: when, path: pathOf(when) };
  if (typeof when === 'object' && when !== null) {
    if ('tag' in when && typeof when.tag === 'string') return { kind: 'tag', text: `tag:${when.tag}`, tag: when.tag };
    if ('can' in when && typeof when.can === 'string') return { kind: 'can', text: `can:${when.can}`, event: when.can };
  }
  throw new GateError('BINDING_INVALID', `Tool ${tool} must be bound to a state's path, { tag } or { can: event }.`);
}
