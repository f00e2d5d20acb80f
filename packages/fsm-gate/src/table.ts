/** Turns a flat config into the table that transitions are looked up in, refusing what cannot work. */
import type { FsmConfig } from './config.js';
import { GateError } from './errors.js';

/** One state of the table: where each event leads. Final states lead nowhere, whatever their `on` says. */
export interface TableState {
  readonly name: string;
  readonly final: boolean;
  readonly next: ReadonlyMap<string, TableState>;
  /** The events named in the config, those of a final state included. */
  readonly events: readonly string[];
}

/** A config, checked. */
export interface StateTable {
  readonly id: string;
  readonly initial: TableState;
  readonly states: ReadonlyMap<string, TableState>;
}

/** What a flat table cannot honour; silently dropping it would gate by another machine than the author wrote. */
const NEEDS_XSTATE = ['states', 'initial', 'always', 'after', 'invoke', 'entry', 'exit', 'onDone', 'history'];

/**
 * Checks a config and builds its table.
 *
 * @throws `GateError` `CONFIG_INVALID`, naming the field and what to do.
 */
export function buildTable(config: FsmConfig): StateTable {
  if (!isRecord(config)) refuse('config', 'must be an object { initial, states }');
  const { id = 'gate', initial, states } = config;
  if (typeof id !== 'string' || id === '') refuse('id', 'must be a non-empty string, or be left out');
  if (!isRecord(states) || Object.keys(states).length === 0) refuse('states', 'must name at least one state');

  const table = new Map<string, { name: string; final: boolean; next: Map<string, TableState>; events: string[] }>();
  for (const [name, state] of Object.entries(states)) {
    const at = `states.${name}`;
    if (!isRecord(state)) refuse(at, 'must be an object, {} for a state without events');
    const foreign = NEEDS_XSTATE.find((key) => Object.hasOwn(state, key));
    if (foreign) refuse(`${at}.${foreign}`, 'needs a whole machine; use machineGate of @mcp-interlock/fsm-gate/xstate');
    if (state.type !== undefined && state.type !== 'final') refuse(`${at}.type`, "can only be 'final'");
    if (state.on !== undefined && !isRecord(state.on)) refuse(`${at}.on`, "must be an object { EVENT: 'target' }");
    table.set(name, { name, final: state.type === 'final', next: new Map(), events: Object.keys(state.on ?? {}) });
  }

  for (const row of table.values()) {
    for (const event of row.events) {
      const at = `states.${row.name}.on.${event}`;
      if (event === '' || event.includes('*'))
        refuse(at, 'must be an exact event name; wildcards need @mcp-interlock/fsm-gate/xstate');
      const target: unknown = states[row.name]?.on?.[event];
      if (typeof target !== 'string')
        refuse(at, 'must be the name of a state; guards and actions need @mcp-interlock/fsm-gate/xstate');
      const next = table.get(target) ?? refuse(at, `leads to ${unknownState(target, table)}`);
      if (!row.final) row.next.set(event, next);
    }
  }
  return { id, initial: table.get(initial) ?? refuse('initial', `is ${unknownState(initial, table)}`), states: table };
}

/**
 * The same machine for XState's `createMachine`. States are numbered: XState reads dots and `#` in a target as paths, a flat
 * config reads them as part of the name.
 */
export function asMachine({ id, initial, states }: StateTable): Record<string, unknown> {
  const names = [...states.keys()];
  const alias = (name: string): string => `s${names.indexOf(name)}`;
  const aliased = [...states.values()].map((state) => [
    alias(state.name),
    {
      ...(state.final && { type: 'final' }),
      on: Object.fromEntries([...state.next].map(([event, next]) => [event, alias(next.name)])),
    },
  ]);
  return { id, initial: alias(initial.name), states: Object.fromEntries(aliased) };
}

function unknownState(name: unknown, table: ReadonlyMap<string, unknown>): string {
  return `${JSON.stringify(name)}, which is none of the states: ${[...table.keys()].join(', ')}`;
}

function refuse(field: string, problem: string): never {
  throw new GateError('CONFIG_INVALID', `The gate's config cannot work: ${field} ${problem}.`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
