/** Proves a gate before its first call: what can never happen, and what was surely meant otherwise. */
import { GateError } from '../errors.js';
import { exploreStates, type StateGraph } from '../graph.js';
import type { GateLike, GateModel } from '../model.js';

/** What was found wrong. `error`: the gate cannot do what was written. `warning`: it can, but hardly what was meant. */
export interface GateFinding {
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: GateFindingCode;
  /** What is wrong, naming the tool, state or event. */
  readonly message: string;
  /** What to do. */
  readonly fix: string;
  readonly tool?: string;
  readonly state?: string;
  readonly event?: string;
}

/** The kinds of findings. */
export type GateFindingCode =
  | 'unreachable-state'
  | 'dead-end'
  | 'no-way-to-final'
  | 'tool-never-visible'
  | 'unknown-state'
  | 'unknown-event'
  | 'tool-not-registered'
  | 'tool-not-gated'
  | 'event-without-tool'
  | 'event-not-accepted'
  | 'duplicate-binding'
  | 'not-fully-explored';

/** Options of `verifyGate`. */
export interface VerifyOptions {
  /** Every registered tool name. Without it, nothing is said about registration. */
  readonly tools?: readonly string[];
  /** How many states are looked at. Default 10,000. */
  readonly limit?: number;
}

/**
 * Looks at every reachable state and every binding.
 *
 * @returns the findings, errors first. Of a machine whose guards depend on arguments, what only seems unreachable is a warning.
 * @example
 * ```ts
 * verifyGate(gate, { tools: server.toolNames });
 * // [{ severity: 'error', code: 'unknown-state', message: 'Tool cart_pay is bound to state paymnet, …', fix: '…', … }]
 * ```
 */
export function verifyGate(gate: GateLike, options: VerifyOptions = {}): GateFinding[] {
  const { model } = gate;
  const graph = exploreStates(model, options.limit ?? 10_000);
  const findings = [...checkStates(model, graph), ...checkTools(model, graph), ...checkNames(model, options.tools)];
  return findings.sort((a, b) => RANK[a.severity] - RANK[b.severity]);
}

/** @throws `GateError` `GATE_UNSOUND` that lists every error of `verifyGate`. Warnings pass. */
export function assertSound(gate: GateLike, tools?: readonly string[]): void {
  const errors = verifyGate(gate, tools && { tools }).filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const list = errors.map(({ message, fix }) => `\n- ${message} ${fix}`).join('');
  throw new GateError('GATE_UNSOUND', `Gate ${gate.model.id} cannot work as written:${list}`);
}

const RANK = { error: 0, warning: 1, info: 2 };

function* checkStates(model: GateModel, { nodes, complete }: StateGraph): Generator<GateFinding> {
  // Guards or a cut search make "never" a guess.
  const surely = complete && !model.conditional;
  if (!complete)
    yield {
      severity: 'warning',
      code: 'not-fully-explored',
      message: `Only ${nodes.size} states were looked at.`,
      fix: 'Raise the limit, or keep counters out of the machine.',
    };
  const reached = new Set([...nodes.values()].flatMap(({ at }) => model.partsOf(at)));
  const left = new Set([...nodes.values()].flatMap(({ at, edges }) => (edges.length > 0 ? model.partsOf(at) : [])));
  for (const { name: state, final } of model.states) {
    if (!reached.has(state))
      yield {
        severity: 'warning',
        code: 'unreachable-state',
        state,
        message: `State ${state} ${surely ? 'can never be' : 'was not'} reached.`,
        fix: 'Lead an event to it, or remove it.',
      };
    else if (!final && surely && !left.has(state))
      yield {
        severity: 'warning',
        code: 'dead-end',
        state,
        message: `State ${state} is never left, but is not final.`,
        fix: "Give it an event, or mark it type: 'final'.",
      };
  }
  const ending = statesThatCanEnd(model, nodes);
  if (ending.size === 0 || !surely) return;
  for (const [key, { at, edges }] of nodes) {
    if (ending.has(key) || edges.length === 0) continue;
    yield {
      severity: 'warning',
      code: 'no-way-to-final',
      state: at.state,
      message: `No event leads from state ${at.state} to a final state.`,
      fix: 'Give it a way to end.',
    };
  }
}

/** Backwards from the final states, until nothing new is found. */
function statesThatCanEnd(model: GateModel, nodes: StateGraph['nodes']): Set<string> {
  const ending = new Set<string>();
  for (let before = -1; before < ending.size; ) {
    before = ending.size;
    for (const [key, { at, edges }] of nodes)
      if (model.isFinal(at) || edges.some(({ to }) => ending.has(model.keyOf(to)))) ending.add(key);
  }
  return ending;
}

function* checkTools(model: GateModel, { nodes, complete }: StateGraph): Generator<GateFinding> {
  const surely = complete && !model.conditional;
  const events = new Set(model.states.flatMap((state) => state.events));
  for (const binding of model.bindings.values()) {
    const { tool, states, events: sent } = binding;
    for (const state of states) {
      if (!model.knows(state))
        yield {
          severity: 'error',
          code: 'unknown-state',
          tool,
          state,
          message: `Tool ${tool} is bound to state ${state}, which does not exist.`,
          fix: 'Correct its name.',
        };
    }
    const open = [...nodes.values()].filter(({ at }) => model.isOpen(binding, at));
    if (open.length === 0)
      yield {
        severity: surely ? 'error' : 'warning',
        code: 'tool-never-visible',
        tool,
        message: `Tool ${tool} is open in no state that can be reached.`,
        fix: 'Bind it to a reachable state.',
      };
    for (const event of sent)
      if (!events.has(event) && !model.wildcards)
        yield {
          severity: 'error',
          code: 'unknown-event',
          tool,
          event,
          message: `Tool ${tool} sends ${event}, which no state knows.`,
          fix: 'Correct the event, or give it to a state.',
        };
    // Of several events, a state may take any one.
    const deaf = open.filter(({ at }) => sent.length > 0 && !sent.some((event) => model.eventsAt(at).includes(event)));
    const event = sent.join(' or ');
    for (const state of new Set(sent.some((name) => events.has(name)) ? deaf.map(({ at }) => at.state) : []))
      yield {
        severity: 'warning',
        code: 'event-not-accepted',
        tool,
        state,
        event,
        message: `Tool ${tool} is open in state ${state}, where its event ${event} does nothing.`,
        fix: `Give ${state} the event (to itself, if it is to stay), or close the tool there.`,
      };
  }
}

function* checkNames(model: GateModel, tools: readonly string[] | undefined): Generator<GateFinding> {
  for (const tool of new Set(model.rebound))
    yield {
      severity: 'warning',
      code: 'duplicate-binding',
      tool,
      message: `Tool ${tool} is bound more than once; the last binding holds.`,
      fix: 'Bind it once, with all its states.',
    };
  const fired = new Set([...model.bindings.values()].flatMap(({ events }) => events));
  for (const event of new Set(model.states.flatMap(({ final, events }) => (final ? [] : events))))
    if (!fired.has(event))
      yield {
        severity: 'info',
        code: 'event-without-tool',
        event,
        message: `No tool sends ${event}.`,
        fix: 'Bind it to a tool, or send it from code.',
      };
  if (!tools) return;
  for (const tool of model.bindings.keys())
    if (!tools.includes(tool))
      yield {
        severity: 'error',
        code: 'tool-not-registered',
        tool,
        message: `Tool ${tool} is bound but not registered; one of a similar name may run ungated.`,
        fix: 'Correct the name, or register it.',
      };
  for (const tool of tools)
    if (!model.bindings.has(tool))
      yield {
        severity: 'info',
        code: 'tool-not-gated',
        tool,
        message: `Tool ${tool} is open in every state.`,
        fix: 'Bind it if it belongs to the workflow.',
      };
}
