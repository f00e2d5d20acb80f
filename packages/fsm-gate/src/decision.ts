/** Decides about one call, finds the way to a closed tool, and words a refusal for a model. */
import type { GateDecision, RefusedDecision } from './decision-types.js';
import { tryStep } from './graph.js';
import type { GateModel, GuardContext, ToolBinding } from './model.js';
import type { FsmSnapshot } from './snapshot.js';

/** How many states a search for a way in looks at before it gives up. */
const SEARCH_LIMIT = 2_000;

/** The same for a search that tells contexts apart, whose steps are dear. */
const CONTEXT_SEARCH_LIMIT = 100;

/**
 * Whether the tool may run at the snapshot with these arguments. Pure; a guard that throws refuses.
 *
 * @example
 * ```ts
 * decide(gate.model, gate.snapshot(), 'cart_pay');
 * // { kind: 'refused', reason: 'closed', state: 'empty', openTools: ['cart_add_item'], wayIn: ['cart_add_item', 'cart_checkout'], … }
 * ```
 */
export function decide(model: GateModel, snapshot: FsmSnapshot, tool: string, args?: unknown): GateDecision {
  const binding = model.bindings.get(tool);
  if (!binding) return { kind: 'allowed', tool, state: snapshot.state, events: NONE };
  return decideBound(model, snapshot, binding, args);
}

/** The same for a tool whose binding is known. */
export function decideBound(
  model: GateModel,
  snapshot: FsmSnapshot,
  binding: ToolBinding,
  args: unknown,
): GateDecision {
  const { tool, events, guard } = binding;
  const { state } = snapshot;
  if (!model.isOpen(binding, snapshot, args)) return closed(model, snapshot, tool);
  const detail = guard && guardVerdict(guard, args, { tool, state });
  if (detail === undefined) return { kind: 'allowed', tool, state, events };
  return { kind: 'refused', reason: 'arguments', tool, state, openTools: openTools(model, snapshot), detail };
}

function closed(model: GateModel, snapshot: FsmSnapshot, tool: string): RefusedDecision {
  return {
    ...{ kind: 'refused', reason: 'closed', tool, state: snapshot.state, openTools: openTools(model, snapshot) },
    ...{ wayIn: wayTo(model, snapshot, tool), certain: !model.conditional },
  };
}

const NONE: readonly string[] = [];

/** The bound tools that are open at the snapshot, in the order of their binding. */
export function openTools(model: GateModel, snapshot: FsmSnapshot): string[] {
  const closed = model.closedTools(snapshot);
  return [...model.bindings.keys()].filter((tool) => !closed.has(tool));
}

/**
 * The shortest sequence of tool calls after which the tool is open: breadth first over the tools that are open on the way.
 * `undefined` where none is found, which is proof for a flat gate, and the best that can be said without arguments for a
 * machine with guards.
 */
export function wayTo(model: GateModel, from: FsmSnapshot, tool: string): string[] | undefined {
  const way = search(model, from, tool, (at) => model.keyOf(at), SEARCH_LIMIT);
  if (way || !model.conditional) return way;
  // It may be the third call of a tool that opens another.
  return search(model, from, tool, (at) => JSON.stringify(at.machine), CONTEXT_SEARCH_LIMIT);
}

function search(
  model: GateModel,
  from: FsmSnapshot,
  tool: string,
  keyOf: (at: FsmSnapshot) => string,
  limit: number,
): string[] | undefined {
  const senders = sendersByEvent(model);
  const seen = new Set([keyOf(from)]);
  const queue: { at: FsmSnapshot; path: string[] }[] = [{ at: from, path: [] }];
  for (const { at, path } of queue) {
    const closed = model.closedTools(at);
    if (path.length > 0 && !closed.has(tool)) return path;
    for (const event of model.eventsAt(at)) {
      const sender = senders.get(event)?.find((name) => !closed.has(name));
      if (sender === undefined) continue;
      const next = tryStep(model, at, event);
      const key = keyOf(next);
      if (seen.has(key) || seen.size >= limit) continue;
      seen.add(key);
      queue.push({ at: next, path: [...path, sender] });
    }
  }
  return undefined;
}

function sendersByEvent(model: GateModel): Map<string, string[]> {
  const senders = new Map<string, string[]>();
  for (const { tool, events } of model.bindings.values())
    for (const event of events) {
      const tools = senders.get(event);
      if (tools) tools.push(tool);
      else senders.set(event, [tool]);
    }
  return senders;
}

/** The default words for a model: what is wrong, and what to call instead. */
export function refusalText(decision: RefusedDecision): string {
  const { tool, state } = decision;
  switch (decision.reason) {
    case 'closed': {
      const way = decision.wayIn;
      const none = `No sequence of calls ${decision.certain ? 'opens it' : 'is known to open it'} from here`;
      const lead = way ? `Call ${way.join(', then ')} first` : none;
      const open = decision.openTools.join(', ') || 'none';
      return `Tool ${tool} is not available in state ${state}. ${lead}. Available now: ${open}.`;
    }
    case 'arguments':
      return `Tool ${tool} refused these arguments: ${decision.detail}. Correct them and call it again.`;
    case 'busy':
      return `Tool ${tool} has to wait: ${decision.holder} is still running in state ${state}. Call it again when that has ended.`;
    default:
      return decision satisfies never;
  }
}

function guardVerdict(
  guard: (args: unknown, context: GuardContext) => unknown,
  args: unknown,
  context: GuardContext,
): string | undefined {
  try {
    const verdict = guard(args, context) ?? true;
    if (verdict === true) return undefined;
    return typeof verdict === 'string' && verdict ? verdict : 'they do not pass the guard of this tool';
  } catch (error) {
    return `they could not be checked (${error instanceof Error ? error.message : String(error)})`;
  }
}
