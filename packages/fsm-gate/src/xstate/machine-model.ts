/** The model of an XState machine: pure steps on whole persisted snapshots. */
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  initialTransition,
  transition as step,
} from 'xstate';
import { GateError } from '../errors.js';
import type { DeclaredState, GateEvent, GateModel, GateStep, ToolBinding } from '../model.js';
import type { FsmSnapshot } from '../snapshot.js';
import { definitionHash, isConditional, livingNeed, nodesOf, refuseLivingParts } from './definition.js';
import { matches, parseStateText, pathOf, pathText, textOf } from './state-text.js';

/** When a tool is open: in a state (by its path), under a tag, or whenever the machine can take an event. */
export type Condition =
  | { readonly kind: 'state'; readonly text: string; readonly path: readonly string[] }
  | { readonly kind: 'tag'; readonly text: string; readonly tag: string }
  | { readonly kind: 'can'; readonly text: string; readonly event: string };

/** A machine's binding keeps its conditions; `states` of the plain binding has their texts. */
export interface MachineBinding extends ToolBinding {
  readonly conditions: readonly Condition[];
}

export class MachineModel implements GateModel {
  readonly id: string;
  readonly machine: AnyStateMachine;
  readonly states: readonly DeclaredState[];
  readonly conditional: boolean;
  readonly wildcards: boolean;
  readonly #definition: string;
  readonly #input: unknown;
  readonly #events: readonly string[];
  readonly #tags: ReadonlySet<string>;
  readonly #paths: ReadonlySet<string>;
  readonly #bindings: Map<string, MachineBinding>;
  readonly #rebound: string[];
  /** Reviving a snapshot costs more than anything that is asked of it, and one snapshot is asked many things. */
  readonly #revived: WeakMap<object, AnyMachineSnapshot> = new WeakMap();
  /** The start of every session, where the context is not made anew for each. */
  #start: FsmSnapshot | undefined;

  constructor(machine: AnyStateMachine, input: unknown, from?: MachineModel) {
    if (!from) refuseLivingParts(machine);
    const nodes = nodesOf(machine.root);
    this.id = machine.id;
    this.machine = machine;
    this.#input = input;
    this.#definition = definitionHash(machine);
    this.conditional = isConditional(machine);
    this.#paths = new Set(nodes.map((node) => pathText(node.path)));
    this.#tags = new Set(nodes.flatMap(({ tags }) => tags));
    const named = nodes.flatMap(({ ownEvents }) => ownEvents as readonly string[]);
    this.wildcards = named.some((event) => event.includes('*'));
    this.#events = [...new Set(named)].filter((event) => event !== '' && !event.includes('*'));
    this.states = nodes
      .filter(({ type }) => type === 'atomic' || type === 'final')
      .map((node) => ({
        name: pathText(node.path),
        final: node.type === 'final' || machine.root.type === 'final',
        events: [node, ...ancestors(node)].flatMap(({ ownEvents }) => ownEvents as readonly string[]),
      }));
    this.#bindings = new Map(from?.bindings as Map<string, MachineBinding> | undefined);
    this.#rebound = [...(from?.rebound ?? [])];
    this.start(0);
  }

  get bindings(): ReadonlyMap<string, MachineBinding> {
    return this.#bindings;
  }

  get rebound(): readonly string[] {
    return this.#rebound;
  }

  /** The same machine with bindings of its own. */
  copy(): MachineModel {
    return new MachineModel(this.machine, this.#input, this);
  }

  bind(binding: MachineBinding): void {
    if (this.#bindings.has(binding.tool)) this.#rebound.push(binding.tool);
    this.#bindings.set(binding.tool, binding);
  }

  knows(condition: string): boolean {
    if (condition.startsWith('tag:')) return this.#tags.has(condition.slice(4));
    if (condition.startsWith('can:')) return this.wildcards || this.#events.includes(condition.slice(4));
    return this.#paths.has(condition);
  }

  partsOf(snapshot: FsmSnapshot): readonly string[] {
    const { value } = this.#revive(snapshot);
    return this.states.map(({ name }) => name).filter((name) => matches(value, pathOf(name)));
  }

  start(now: number): FsmSnapshot {
    if (!this.#start) {
      // The cast: a machine that takes no input is given undefined, which its type cannot say here.
      const [first] = initialTransition(this.machine, this.#input as never);
      const start = this.#persist(first as AnyMachineSnapshot, now);
      // A context that is made by a function may differ for each session.
      if (typeof this.machine.config.context === 'function') return start;
      this.#start = start;
    }
    return { ...this.#start, updatedAt: now };
  }

  standAt(state: string, now: number, from?: FsmSnapshot, context?: unknown): FsmSnapshot {
    const regions = new Set(
      nodesOf(this.machine.root)
        .filter((node) => node.parent?.type === 'parallel' && node.type === 'atomic')
        .map((node) => pathText(node.path)),
    );
    const value = parseStateText(state, (path) => regions.has(pathText(path)));
    try {
      if (value === undefined) throw new Error('it is no state text');
      const kept = context ?? this.#revive(from ?? this.start(now)).context;
      // The casts: what is resolved here is checked by XState, which throws on unknown states.
      const { root } = this.machine;
      const found = this.machine.resolveState({ value: value as never, context: kept as never }) as AnyMachineSnapshot;
      const ended = typeof found.value === 'string' && root.states[found.value]?.type === 'final';
      const settled = ended
        ? (this.machine.resolveState({
            value: value as never,
            context: kept as never,
            status: 'done',
          }) as AnyMachineSnapshot)
        : found;
      return this.#persist(settled, now);
    } catch (cause) {
      throw new GateError(
        'SNAPSHOT_FOREIGN',
        `Machine ${this.id} cannot stand in state ${state}: ${reasonOf(cause)}.`,
        {
          cause,
        },
      );
    }
  }

  accept(snapshot: FsmSnapshot): FsmSnapshot {
    const { state, updatedAt, machine } = snapshot ?? {};
    if (typeof state !== 'string' || typeof updatedAt !== 'number')
      throw new GateError(
        'SNAPSHOT_INVALID',
        'A stored snapshot must be { state, updatedAt, machine }; reset the session.',
      );
    if (machine?.id !== this.id || machine.definition !== this.#definition)
      throw new GateError(
        'SNAPSHOT_FOREIGN',
        `The stored snapshot is of ${machine ? `machine ${machine.id} in another definition` : 'no machine'}, not of this machine ${this.id}; give a migrate option, or reset the session.`,
      );
    this.#revive(snapshot);
    return snapshot;
  }

  isOpen({ tool }: ToolBinding, snapshot: FsmSnapshot, args?: unknown): boolean {
    // As this model has it, with its conditions.
    const binding = this.#bindings.get(tool);
    return !binding || this.#holds(binding, this.#revive(snapshot), args, 'closed');
  }

  closedTools(snapshot: FsmSnapshot): ReadonlySet<string> {
    const revived = this.#revive(snapshot);
    const closed = [...this.#bindings.values()].filter((binding) => !this.#holds(binding, revived, undefined, 'open'));
    return new Set(closed.map(({ tool }) => tool));
  }

  openStates(): undefined {
    return undefined;
  }

  step(snapshot: FsmSnapshot, event: GateEvent, now: number): GateStep {
    const before = this.#revive(snapshot);
    // Pure steps would leave a final state, which no actor does.
    if (before.status !== 'active') return { snapshot };
    const [after, actions] = step(this.machine, before, event);
    if (after === before) return { snapshot };
    if (after.status === 'error') throw after.error;
    const need =
      actions.map(livingNeed).find(Boolean) ?? (Object.keys(after.children).length ? 'spawns an actor' : undefined);
    if (need)
      throw new GateError(
        'MACHINE_UNSUPPORTED',
        `Event ${event.type} of machine ${this.id} ${need}, which needs a living actor.`,
      );
    const moved = textOf(after.value) !== snapshot.state;
    const next = this.#persist(after as AnyMachineSnapshot, moved ? now : snapshot.updatedAt);
    if (actions.length === 0) return { snapshot: next };
    return {
      snapshot: next,
      effects: () => {
        for (const action of actions) action.exec?.(action.info, action.params);
      },
    };
  }

  eventsAt(snapshot: FsmSnapshot): readonly string[] {
    const revived = this.#revive(snapshot);
    // Wildcards take events that no state names.
    const bound = [...this.#bindings.values()].flatMap(({ events }) => events);
    return [...new Set([...this.#events, ...bound])].filter((type) => can(revived, type, undefined) === true);
  }

  isFinal(snapshot: FsmSnapshot): boolean {
    return this.#revive(snapshot).status !== 'active';
  }

  /** Where it is, where it would go back to, and what it can take now: a context that only counts would have no end. */
  keyOf(snapshot: FsmSnapshot): string {
    const { historyValue } = this.#revive(snapshot);
    const past = Object.entries(historyValue).map(([id, nodes]) => [id, nodes.map((node) => node.id).sort()]);
    return JSON.stringify([snapshot.state, past, this.eventsAt(snapshot)]);
  }

  /** `doubt`: what holds where a guard cannot be evaluated, as without the arguments that it looks at. */
  #holds(binding: MachineBinding, at: AnyMachineSnapshot, args: unknown, doubt: 'open' | 'closed'): boolean {
    return binding.conditions.some((condition) => {
      switch (condition.kind) {
        case 'state':
          return matches(at.value, condition.path);
        case 'tag':
          return at.hasTag(condition.tag);
        case 'can':
          return can(at, condition.event, args) ?? doubt === 'open';
        default:
          return condition satisfies never;
      }
    });
  }

  #persist(snapshot: AnyMachineSnapshot, now: number): FsmSnapshot {
    refuseUnstorable(snapshot.context, 'context');
    const persisted: unknown = JSON.parse(JSON.stringify(this.machine.getPersistedSnapshot(snapshot)));
    const memo = { id: this.id, definition: this.#definition, snapshot: persisted };
    this.#revived.set(memo, snapshot);
    return { state: textOf(snapshot.value), updatedAt: now, machine: memo };
  }

  #revive(snapshot: FsmSnapshot): AnyMachineSnapshot {
    const memo = snapshot.machine;
    const known = memo && this.#revived.get(memo);
    if (known) return known;
    try {
      if (!memo) throw new Error('it holds no machine');
      // An actor that is not started is the public way to revive a snapshot; it runs nothing.
      const revived = createActor(this.machine, {
        snapshot: memo.snapshot as never,
      }).getSnapshot() as AnyMachineSnapshot;
      if (textOf(revived.value) !== snapshot.state) throw new Error(`its machine is in ${textOf(revived.value)}`);
      this.#revived.set(memo, revived);
      return revived;
    } catch (cause) {
      throw new GateError(
        'SNAPSHOT_INVALID',
        `A stored snapshot of machine ${this.id} in state ${snapshot.state} cannot be revived: ${reasonOf(cause)}. Reset the session.`,
        { cause },
      );
    }
  }
}

/** `undefined` where a guard threw. */
function can(snapshot: AnyMachineSnapshot, type: string, args: unknown): boolean | undefined {
  try {
    return snapshot.status === 'active' && snapshot.can({ type, args });
  } catch {
    return undefined;
  }
}

/** A session is stored as JSON; a context that JSON loses would come back as another one. */
function refuseUnstorable(value: unknown, at: string): void {
  if (typeof value === 'object' && value !== null) {
    const proto: unknown = Object.getPrototypeOf(value);
    if (!Array.isArray(value) && proto !== Object.prototype && proto !== null)
      throw new GateError(
        'MACHINE_UNSUPPORTED',
        `${at} is a ${value.constructor?.name}, which JSON cannot keep; store plain data.`,
      );
    for (const [key, part] of Object.entries(value)) refuseUnstorable(part, `${at}.${key}`);
  } else if (
    ['bigint', 'function', 'symbol'].includes(typeof value) ||
    (typeof value === 'number' && !Number.isFinite(value))
  )
    throw new GateError('MACHINE_UNSUPPORTED', `${at} is ${String(value)}, which JSON cannot keep; store plain data.`);
}

function ancestors(node: { readonly parent?: AnyStateMachine['root'] | undefined }): AnyStateMachine['root'][] {
  return node.parent ? [node.parent, ...ancestors(node.parent)] : [];
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
