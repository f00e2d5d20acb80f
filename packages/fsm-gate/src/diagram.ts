/** Draws a gate as a Mermaid state diagram: the states, the tools whose success moves between them, and what is open where. */
import type { FsmConfig } from './config.js';
import type { GateModel, ToolBinding } from './model.js';
import { parseStateText, pathText, type Value } from './xstate/state-text.js';

/** What can be drawn: a `StateMachineGate`, or a gate of `machineGate`. */
export interface Drawable {
  readonly model: GateModel;
  readonly config?: FsmConfig;
  readonly machine?: { readonly root: unknown };
}

/** Options of `toMermaid`. */
export interface MermaidOptions {
  /** The state to mark: the text of a session's state (`sessions.inspect(key)`), or the snapshot that has it. */
  readonly current?: string | { readonly state: string };
  /** Default: Mermaid's own choice. */
  readonly direction?: 'LR' | 'RL' | 'TB' | 'BT';
}

/**
 * The text of a `stateDiagram-v2`. Edges are labelled with the event and the tools that send it, notes name the tools that are
 * open and move nothing. Names are escaped, so that any config gives a diagram that parses.
 *
 * @throws `TypeError` for something that is neither a gate over a config nor one over a machine.
 * @example
 * ```ts
 * toMermaid(gate, { current: gate.currentState });
 * ```
 */
export function toMermaid(gate: Drawable, options: MermaidOptions = {}): string {
  const root = rootOf(gate);
  const ids = new Map<string, string>();
  for (const node of descendantsOf(root)) ids.set(node.path, `s${ids.size}`);
  const bindings = [...gate.model.bindings.values()];
  const current = typeof options.current === 'object' ? options.current.state : options.current;
  const active = current === undefined ? [] : descendantsOf(root).filter((node) => isActive(node, current, gate));
  return [
    'stateDiagram-v2',
    ...(options.direction === undefined ? [] : [`  direction ${options.direction}`]),
    ...drawChildren(root, ids, '  '),
    ...drawEdges(root, ids, bindings),
    ...drawNotes(root, ids, bindings),
    ...(active.length === 0 ? [] : ['  classDef current fill:#fde68a,stroke:#b45309,font-weight:bold']),
    ...active.map(({ path }) => `  class ${ids.get(path)} current`),
    '',
  ].join('\n');
}

/** A state with what is drawn of it. */
interface Node {
  /** The text by which bindings name it; unique. */
  readonly path: string;
  readonly label: string;
  readonly kind: 'simple' | 'parallel' | 'final' | 'history';
  readonly initial: string | undefined;
  readonly children: readonly Node[];
  readonly edges: readonly Edge[];
}

interface Edge {
  readonly event: string;
  readonly target: string;
  readonly guarded: boolean;
}

function rootOf(gate: Drawable): Node {
  if (gate.config !== undefined) return flatRoot(gate.config);
  if (isStateNode(gate.machine?.root)) return nodeOf(gate.machine.root);
  throw new TypeError(
    'toMermaid draws a StateMachineGate or a gate of machineGate(); this has neither a config nor a machine.',
  );
}

function flatRoot({ initial, states }: FsmConfig): Node {
  const children = Object.entries(states).map(([name, { on = {}, type }]): Node => {
    const edges = Object.entries(on).map(([event, target]) => ({ event, target, guarded: false }));
    // A final state is never left, whatever its `on` says.
    const kind = type === 'final' ? 'final' : 'simple';
    return { path: name, label: name, kind, initial: undefined, children: [], edges: kind === 'final' ? [] : edges };
  });
  return { path: '', label: '', kind: 'simple', initial, children, edges: [] };
}

/** What is read of XState's state nodes; structure only, so that nothing is imported. */
interface StateNodeLike {
  readonly key: string;
  readonly path: readonly string[];
  readonly type: string;
  readonly states: Readonly<Record<string, StateNodeLike>>;
  readonly initial?: { readonly target?: readonly StateNodeLike[] } | undefined;
  readonly transitions: ReadonlyMap<string, readonly TransitionLike[]>;
  readonly always?: readonly TransitionLike[] | undefined;
}

interface TransitionLike {
  readonly target?: readonly StateNodeLike[] | undefined;
  readonly guard?: unknown;
}

function isStateNode(value: unknown): value is StateNodeLike {
  return typeof value === 'object' && value !== null && 'states' in value && 'transitions' in value;
}

function nodeOf(node: StateNodeLike): Node {
  const path = pathText(node.path);
  const edge = (event: string, { target, guard }: TransitionLike): Edge[] =>
    // Without a target the state stays: it is drawn as a self-loop.
    (target ?? [node]).map((to) => ({ event, target: pathText(to.path), guarded: guard !== undefined }));
  return {
    path,
    label: node.key,
    kind: node.type === 'parallel' || node.type === 'final' || node.type === 'history' ? node.type : 'simple',
    initial: node.type === 'compound' ? pathOfFirst(node.initial?.target) : undefined,
    children: Object.values(node.states).map(nodeOf),
    edges: [
      ...[...node.transitions].flatMap(([event, list]) => list.flatMap((transition) => edge(event, transition))),
      ...(node.always ?? []).flatMap((transition) => edge('always', transition)),
    ],
  };
}

function pathOfFirst(nodes: readonly StateNodeLike[] | undefined): string | undefined {
  const [first] = nodes ?? [];
  return first === undefined ? undefined : pathText(first.path);
}

function descendantsOf(node: Node): readonly Node[] {
  return node.children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function drawChildren(node: Node, ids: ReadonlyMap<string, string>, indent: string): string[] {
  const initial = node.initial === undefined ? undefined : ids.get(node.initial);
  const start = initial === undefined ? [] : [`${indent}[*] --> ${initial}`];
  const history = node.children
    .filter(({ kind }) => kind === 'history')
    .flatMap((child) => drawState(child, ids, indent));
  const regions = node.children.filter(({ kind }) => kind !== 'history').map((child) => drawState(child, ids, indent));
  const separator = node.kind === 'parallel' ? [`${indent}--`] : [];
  return [...start, ...history, ...regions.flatMap((lines, at) => (at === 0 ? lines : [...separator, ...lines]))];
}

function drawState(node: Node, ids: ReadonlyMap<string, string>, indent: string): string[] {
  const id = ids.get(node.path) ?? '';
  const label = node.kind === 'history' ? `H ${node.label}` : node.label;
  // Mermaid takes no empty label.
  const head = `${indent}state "${escaped(label) || '(no name)'}" as ${id}`;
  if (node.children.length > 0) return [`${head} {`, ...drawChildren(node, ids, `${indent}  `), `${indent}}`];
  return node.kind === 'final' ? [head, `${indent}${id} --> [*]`] : [head];
}

function drawEdges(root: Node, ids: ReadonlyMap<string, string>, bindings: readonly ToolBinding[]): string[] {
  return descendantsOf(root).flatMap((node) =>
    node.edges.flatMap(({ event, target, guarded }) => {
      const [from, to] = [ids.get(node.path), ids.get(target)];
      if (from === undefined || to === undefined) return [];
      const tools = bindings.filter(({ events }) => events.includes(event)).map(({ tool }) => tool);
      const condition = guarded ? ' (if guarded)' : '';
      const senders = tools.length === 0 ? '' : ` by ${tools.join(', ')}`;
      return [`  ${from} --> ${to} : ${escaped(`${event}${condition}${senders}`)}`];
    }),
  );
}

function drawNotes(root: Node, ids: ReadonlyMap<string, string>, bindings: readonly ToolBinding[]): string[] {
  return descendantsOf(root).flatMap(({ path }) => {
    const open = bindings.filter(({ states, events }) => events.length === 0 && states.includes(path));
    if (open.length === 0) return [];
    return [`  note right of ${ids.get(path)} : ${escaped(`open: ${open.map(({ tool }) => tool).join(', ')}`)}`];
  });
}

function isActive(node: Node, current: string, gate: Drawable): boolean {
  if (node.children.length > 0) return false;
  if (gate.config !== undefined) return node.path === current;
  const value = parseStateText(current, () => false);
  const path = parseStateText(node.path, () => false);
  return value !== undefined && path !== undefined && contains(value, path);
}

/** Whether a state value has the (single) path within it. */
function contains(value: Value, path: Value): boolean {
  const [name, below] = typeof path === 'string' ? [path, undefined] : (Object.entries(path)[0] ?? ['', undefined]);
  if (typeof value === 'string') return value === name && below === undefined;
  if (!Object.hasOwn(value, name)) return false;
  const child = value[name];
  return below === undefined || (child !== undefined && contains(child, below));
}

/** Mermaid reads `#code;` as the character; everything that it could read as syntax is written so. */
function escaped(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,()/-]/gu, (character) =>
    /\s/u.test(character) ? ' ' : `#${character.codePointAt(0)};`,
  );
}
