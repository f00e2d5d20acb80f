/** The model of a flat config: a table for the machine, a map for the bindings, and nothing else. */
import { GateError } from './errors.js';
import type { DeclaredState, GateEvent, GateModel, GateStep, ToolBinding } from './model.js';
import type { FsmSnapshot } from './snapshot.js';
import type { StateTable } from './table.js';

/** Pure but for `bind`. Shared by all sessions of a gate. */
export class FlatModel implements GateModel {
  readonly conditional: boolean = false;
  readonly wildcards: boolean = false;
  readonly table: StateTable;
  readonly #bindings: Map<string, ToolBinding>;
  readonly #rebound: string[];
  /** The bound tools closed in each state; a list of a thousand tools is then one lookup a name. */
  readonly #closed: Map<string, ReadonlySet<string>> = new Map();

  constructor(table: StateTable, from?: FlatModel) {
    this.table = table;
    this.#bindings = new Map(from?.bindings);
    this.#rebound = [...(from?.rebound ?? [])];
  }

  get id(): string {
    return this.table.id;
  }

  get bindings(): ReadonlyMap<string, ToolBinding> {
    return this.#bindings;
  }

  get rebound(): readonly string[] {
    return this.#rebound;
  }

  get states(): readonly DeclaredState[] {
    return [...this.table.states.values()];
  }

  bind(binding: ToolBinding): void {
    if (this.#bindings.has(binding.tool)) this.#rebound.push(binding.tool);
    this.#bindings.set(binding.tool, binding);
    this.#closed.clear();
  }

  knows(condition: string): boolean {
    return this.table.states.has(condition);
  }

  partsOf({ state }: FsmSnapshot): readonly string[] {
    return [state];
  }

  start(now: number): FsmSnapshot {
    return { state: this.table.initial.name, updatedAt: now };
  }

  standAt(state: string, now: number): FsmSnapshot {
    return this.accept({ state, updatedAt: now });
  }

  accept(snapshot: FsmSnapshot): FsmSnapshot {
    const { state, updatedAt, machine } = snapshot ?? {};
    if (typeof state !== 'string' || typeof updatedAt !== 'number') throw invalid();
    if (machine || !this.table.states.has(state)) throw foreign(state, this.id);
    return snapshot;
  }

  isOpen({ states }: ToolBinding, { state }: FsmSnapshot): boolean {
    return states.includes(state);
  }

  closedTools({ state }: FsmSnapshot): ReadonlySet<string> {
    let closed = this.#closed.get(state);
    if (!closed) {
      closed = new Set([...this.#bindings.values()].filter((b) => !b.states.includes(state)).map((b) => b.tool));
      // Of states only: what asks may come from elsewhere, and there is no end to what it may name.
      if (this.table.states.has(state)) this.#closed.set(state, closed);
    }
    return closed;
  }

  openStates({ states }: ToolBinding): readonly string[] {
    return states;
  }

  step(snapshot: FsmSnapshot, event: GateEvent, now: number): GateStep {
    const at = this.table.states.get(snapshot.state);
    const next = at?.next.get(event.type);
    return { snapshot: !next || next === at ? snapshot : { state: next.name, updatedAt: now } };
  }

  eventsAt({ state }: FsmSnapshot): readonly string[] {
    return [...(this.table.states.get(state)?.next.keys() ?? [])];
  }

  isFinal({ state }: FsmSnapshot): boolean {
    return this.table.states.get(state)?.final ?? false;
  }

  keyOf({ state }: FsmSnapshot): string {
    return state;
  }
}

function invalid(): GateError {
  return new GateError('SNAPSHOT_INVALID', 'A stored snapshot must be { state, updatedAt }; reset the session.');
}

function foreign(state: string, gate: string): GateError {
  return new GateError(
    'SNAPSHOT_FOREIGN',
    `The stored state ${JSON.stringify(state)} is none of gate ${gate}; give a migrate option, or reset the session.`,
  );
}
