/** The hook that orders the hits of a search anew. */
import type { ToolHit } from '../answers.js';

/**
 * Gives the hits in the order to show. Receives the best hits of the ranking, best first (`rankCandidates` says how many),
 * and may drop or reorder them; what it returns must be among them, the objects themselves. A rejection leaves the order as it was.
 */
export type RankTools = (
  request: { readonly query: string; readonly candidates: readonly ToolHit[]; readonly limit: number },
  options: { readonly signal: AbortSignal | undefined },
) => readonly ToolHit[] | Promise<readonly ToolHit[]>;
