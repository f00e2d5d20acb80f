/** How a proxy searches, with every default filled in. */
import { positive } from '../connection/settings.js';
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
    limit: positive(options.limit, 10, 'search.limit'),
    maxTokens: positive(options.maxTokens, 800, 'search.maxTokens'),
    rank,
    rankCandidates: rankCandidates === 'all' ? 'all' : positive(rankCandidates, 50, 'rankCandidates'),
  };
}
