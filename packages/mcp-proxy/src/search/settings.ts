/** How a proxy searches, with every default filled in. */
import type { IMcpProxyToolOptions } from '../options.js';
import type { ToolSearchOptions } from './options.js';
import type { RankTools } from './rank.js';

export interface SearchSettings {
  readonly mode: 'ranked' | 'or';
  readonly options: ToolSearchOptions;
  readonly limit: number;
  readonly maxTokens: number;
  readonly rank: RankTools | undefined;
  readonly rankCandidates: number | 'all';
}

export function readSearchSettings({ search, rank, rankCandidates }: IMcpProxyToolOptions): SearchSettings {
  const options = typeof search === 'object' ? search : {};
  return {
    mode: search === 'or' ? 'or' : 'ranked',
    options,
    limit: options.limit ?? 10,
    maxTokens: options.maxTokens ?? 800,
    rank,
    rankCandidates: rankCandidates ?? 50,
  };
}
