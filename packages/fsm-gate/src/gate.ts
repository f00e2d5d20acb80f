/** A gate over a flat state machine: one current state, the tools bound to it, and who is told when it moves. */
import { type BindOptions, makeBinding } from './binding.js';
import type { EventOf, FsmConfig, StateOf } from './config.js';
import { loadXState } from './engine.js';
import { FlatModel } from './flat-model.js';
import { GateBase, type GateOptions } from './gate-base.js';
import type { GateModel } from './model.js';
import type { FsmSnapshot, TransitionResult } from './snapshot.js';
import { asMachine, buildTable } from './table.js';

/**
 * Decides which MCP tools exist in the current state of a workflow. Use it alone for one session in one process; give it to
 * `createGateSessions` for many.
 *
 * A literal config makes state and event names part of the type: a misspelt one does not compile.
 *
 * @example
 * ```ts
 * const gate = new StateMachineGate({
 *   initial: 'empty',
 *   states: { empty: { on: { ADD_ITEM: 'has_items' } }, has_items: {} },
 * });
 * gate.bindTool('cart_add_item', ['empty', 'has_items'], 'ADD_ITEM').bindTool('cart_checkout', 'has_items');
 * gate.isToolAllowed('cart_checkout'); // false
 * await gate.transition('ADD_ITEM'); // { changed: true, previousState: 'empty', currentState: 'has_items' }
 * ```
 */
export class StateMachineGate<const C extends FsmConfig = FsmConfig> extends GateBase {
  readonly config: C;
  #model: FlatModel;

  /** @throws `GateError` `CONFIG_INVALID` for a config that cannot work: an unknown `initial` or target, a wildcard event, … */
  constructor(config: C, options: GateOptions = {}) {
    const model = new FlatModel(buildTable(config));
    super((now) => model.start(now), options);
    this.config = config;
    this.#model = model;
  }

  /** The machine and the bindings as pure functions, apart from this gate's current state. */
  override get model(): GateModel {
    return this.#model;
  }

  /** The state the gate is in. */
  get currentState(): StateOf<C> {
    // The state is one of the config's by construction: the table holds no other.
    return this.at.state as StateOf<C>;
  }

  /**
   * Tries the config on XState, where that is installed.
   *
   * @returns whether an actor of the config ran. The gate decides by its own table either way, with the same answers.
   */
  async init(): Promise<boolean> {
    const xstate = await loadXState();
    if (!xstate) return false;
    try {
      const actor = xstate.createActor(xstate.createMachine(asMachine(this.#model.table)));
      actor.start();
      actor.stop();
      return true;
    } catch (error) {
      this.report(error);
      return false;
    }
  }

  /**
   * Binds a tool to states: it exists in these and in no other. Binding it again replaces the earlier binding.
   *
   * @param allowedStates one state or several; one that the machine has not is accepted here and found by `verifyGate`.
   * @param transition the event that a successful call sends, or options: several events, a guard.
   */
  bindTool(
    toolName: string,
    allowedStates: StateOf<C> | readonly StateOf<C>[],
    transition?: EventOf<C> | BindOptions<EventOf<C>> | '',
  ): this {
    const states = typeof allowedStates === 'string' ? [allowedStates] : allowedStates;
    this.#model.bind(makeBinding(toolName, states, transition));
    return this;
  }

  /** The event bound to a tool, if any; of several, the first. */
  getTransitionEvent(toolName: string): EventOf<C> | undefined {
    // Bound events went through `bindTool`, which takes no other.
    return this.#model.bindings.get(toolName)?.events[0] as EventOf<C> | undefined;
  }

  /**
   * Sends an event. The move happens at once, in the order of the calls; callbacks have run when the promise resolves.
   *
   * @returns `changed: false` for an unknown event, a self-loop, and anything sent to a final state. Never rejects.
   */
  transition(eventType: EventOf<C>): Promise<TransitionResult> {
    return Promise.resolve(this.transitionNow(eventType));
  }

  /** The same, for code that must not yield. */
  transitionNow(eventType: EventOf<C>): TransitionResult {
    return this.move({ type: eventType });
  }

  /** Goes to where a snapshot stands, telling nobody. One of an unknown state, or none at all, is ignored. */
  restore(snap: FsmSnapshot | undefined): void {
    if (!snap || !this.#model.table.states.has(snap.state)) return;
    this.at = { state: snap.state, updatedAt: Number.isFinite(snap.updatedAt) ? snap.updatedAt : this.now() };
  }

  /** A gate of the same config, bindings and current state that moves on its own and calls nobody back. */
  clone(): StateMachineGate<C> {
    const copy = new StateMachineGate<C>(this.config, this.options);
    copy.#model = new FlatModel(this.#model.table, this.#model);
    copy.at = this.at;
    return copy;
  }
}
