/** Walks a model's states from where a session starts, as far as events alone lead. */
import type { GateModel } from './model.js';
import type { FsmSnapshot } from './snapshot.js';

/** One way from a state to another. */
export interface Edge {
  readonly event: string;
  readonly to: FsmSnapshot;
}

/** What was found. */
export interface StateGraph {
  readonly start: FsmSnapshot;
  /** The reachable snapshots by their key, in the order found. */
  readonly nodes: ReadonlyMap<string, { readonly at: FsmSnapshot; readonly edges: readonly Edge[] }>;
  /** Whether the search ended by itself and not at its limit. */
  readonly complete: boolean;
}

/** Where an event without arguments leads; nowhere, if a machine's actions cannot do without. */
export function tryStep(model: GateModel, at: FsmSnapshot, event: string): FsmSnapshot {
  try {
    return model.step(at, { type: event }, at.updatedAt).snapshot;
  } catch {
    return at;
  }
}

/** Breadth first from the start. `limit`: how many snapshots at most; a machine that counts in its context has no end. */
export function exploreStates(model: GateModel, limit: number): StateGraph {
  const start = model.start(0);
  const nodes = new Map<string, { at: FsmSnapshot; edges: Edge[] }>([[model.keyOf(start), { at: start, edges: [] }]]);
  for (const { at, edges } of nodes.values()) {
    for (const event of model.eventsAt(at)) {
      const to = tryStep(model, at, event);
      const key = model.keyOf(to);
      if (!nodes.has(key)) {
        if (nodes.size >= limit) return { start, nodes, complete: false };
        nodes.set(key, { at: to, edges: [] });
      }
      edges.push({ event, to });
    }
  }
  return { start, nodes, complete: true };
}
