/** An index over tools that answers a query with ranked hits. */
import type { ListedTool, ToolHit } from '../answers.js';
import type { ToolSearchOptions } from './options.js';
import { searchByOr } from './or-search.js';

export interface ToolIndex {
  /** All hits, best first. */
  search(query: string): readonly ToolHit[];
}

export function createToolIndex(tools: readonly ListedTool[], _options: ToolSearchOptions = {}): ToolIndex {
  return { search: (query) => searchByOr(tools, query) };
}
