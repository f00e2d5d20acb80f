/** Every way through a gate, for the author's own tests. */
import { exploreStates } from '../graph.js';
import type { GateLike } from '../model.js';
import type { FsmSnapshot } from '../snapshot.js';

/** One step of a path. */
export interface PathStep {
  readonly from: string;
  readonly event: string;
  /** The tools that send the event and are open in `from`; empty where only code sends it. */
  readonly tools: readonly string[];
  readonly to: string;
}

/** A walk from the initial state that visits no state twice. */
export interface GatePath {
  readonly steps: readonly PathStep[];
  /** The state at its end. */
  readonly end: string;
}

/** Options of `explorePaths`. */
export interface PathOptions {
  /** How many steps a path may have. Default: as many as there are states. */
  readonly maxSteps?: number;
  /** How many states are looked at. Default 1,000. */
  readonly limit?: number;
}

/**
 * Yields every simple path from the initial state, each also as the beginning of longer ones. There may be very many: take
 * what you need.
 *
 * @example
 * ```ts
 * for (const path of explorePaths(gate)) test(path.steps.map((step) => step.event).join(' → '), () => replay(path));
 * ```
 */
export function* explorePaths(gate: GateLike, options: PathOptions = {}): Generator<GatePath> {
  const { model } = gate;
  const { nodes, start } = exploreStates(model, options.limit ?? 1_000);
  const bindings = [...model.bindings.values()];
  const maxSteps = options.maxSteps ?? Number.POSITIVE_INFINITY;
  yield* extend(start, new Set([model.keyOf(start)]), []);

  function* extend(at: FsmSnapshot, visited: Set<string>, steps: readonly PathStep[]): Generator<GatePath> {
    if (steps.length >= maxSteps) return;
    for (const { event, to } of nodes.get(model.keyOf(at))?.edges ?? []) {
      const key = model.keyOf(to);
      if (visited.has(key)) continue;
      const tools = bindings.filter((b) => b.events.includes(event) && model.isOpen(b, at)).map((b) => b.tool);
      const longer = [...steps, { from: at.state, event, tools, to: to.state }];
      yield { steps: longer, end: to.state };
      visited.add(key);
      yield* extend(to, visited, longer);
      visited.delete(key);
    }
  }
}
