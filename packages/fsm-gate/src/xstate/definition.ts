/** Reads a machine's definition: what it needs that a gate has not, and a hash by which stored snapshots are recognised. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { GateError } from '../errors.js';

/** Builtin actions that are addressed to a living actor. */
const LIVING: Readonly<Record<string, string>> = {
  'xstate.spawnChild': 'spawns an actor',
  'xstate.stopChild': 'stops an actor',
  'xstate.sendTo': 'sends to an actor',
  'xstate.emit': 'emits to the listeners of an actor',
  'xstate.cancel': 'cancels a delayed event',
};

/**
 * A gate keeps a session as data between two calls; nothing of it runs meanwhile. What needs a running actor is refused.
 *
 * @throws `GateError` `MACHINE_UNSUPPORTED`, naming the state and the reason.
 */
export function refuseLivingParts(machine: AnyStateMachine): void {
  for (const node of nodesOf(machine.root)) {
    if (node.invoke.length > 0) refuse(node, 'invokes an actor');
    if (node.after.length > 0) refuse(node, 'has delayed transitions (after)');
    const transitions = [...node.transitions.values(), node.always ?? []].flat();
    for (const action of [node.entry, node.exit, ...transitions.map(({ actions }) => actions)].flat()) {
      const need = livingNeed(resolved(machine, action));
      if (need) refuse(node, need);
    }
  }
}

/** The reason why an action needs a living actor, if it does. Also for the actions that a step hands back. */
export function livingNeed(action: unknown): string | undefined {
  const { type, delay } = (action ?? {}) as { type?: unknown; delay?: unknown };
  if (type === 'xstate.raise' && delay !== undefined) return 'raises a delayed event';
  return typeof type === 'string' && Object.hasOwn(LIVING, type) ? LIVING[type] : undefined;
}

/** Whether guards or context have a say, so that the graph without arguments is only a part. */
export function isConditional(machine: AnyStateMachine): boolean {
  if (machine.config.context !== undefined) return true;
  return nodesOf(machine.root).some((node) =>
    [...node.transitions.values(), node.always ?? []].flat().some(({ guard }) => guard !== undefined),
  );
}

/** Every state node, the root first. */
export function nodesOf(node: AnyStateNode): AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap((child) => nodesOf(child as AnyStateNode))];
}

/**
 * A hash of the structure: states, transitions, the names of guards and actions, the initial context. The source of inline
 * functions is left out: it changes with every build, and stored sessions must not.
 */
export function definitionHash(machine: AnyStateMachine): string {
  return hash(canonical({ config: machine.config, version: machine.version }));
}

/** Words in a machine's config that change nothing of what it does. */
const SILENT = new Set(['description', 'meta', 'types', 'schemas', '_special']);

function canonical(value: unknown): string {
  if (typeof value === 'function') {
    const { type } = value as { type?: unknown };
    return `fn:${typeof type === 'string' ? type : ''}`;
  }
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value).filter(([key, part]) => !SILENT.has(key) && part !== undefined);
  // The order of states and transitions is part of what a machine means.
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`).join()}}`;
}

/** cyrb53, twice with different seeds: tells definitions apart, protects against nobody. */
function hash(text: string): string {
  return [1, 2].map((seed) => cyrb53(text, seed).toString(16).padStart(14, '0')).join('');
}

function cyrb53(text: string, seed: number): number {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}

/** Named actions are looked up: setup() may give a builtin any name. */
function resolved(machine: AnyStateMachine, action: unknown): unknown {
  const name = typeof action === 'string' ? action : (action as { type?: unknown } | null)?.type;
  const actions = machine.implementations.actions as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && Object.hasOwn(actions, name) ? actions[name] : action;
}

function refuse(node: AnyStateNode, reason: string): never {
  const state = node.path.length > 0 ? `state ${node.path.join('.')}` : 'its root';
  throw new GateError(
    'MACHINE_UNSUPPORTED',
    `Machine ${node.machine.id} cannot be a gate: ${state} ${reason}, which needs a living actor. Do that in a tool or outside, and send the machine an event.`,
  );
}
