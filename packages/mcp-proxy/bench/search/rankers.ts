/** The rankers that are compared: ours, its parts switched off, the contract's plain OR search, and MiniSearch. */
import MiniSearch from 'minisearch';
import { createToolIndex, type ListedTool, searchByOr, type ToolSearchOptions } from '../../src/index.js';
import { analyseTool, cachedStem, FIELDS } from '../../src/search/analyse-tool.js';
import { STOP_WORDS } from '../../src/search/stop-words.js';
import { splitWords } from '../../src/search/words.js';
import type { Ranker } from './metrics.js';

export interface NamedRanker {
  readonly name: string;
  readonly make: (tools: readonly ListedTool[]) => Ranker;
}

const LIMIT = 10;

export function interlock(name: string, options: ToolSearchOptions = {}): NamedRanker {
  return {
    name,
    make: (tools) => {
      const index = createToolIndex(tools, options);
      return (query) => index.search(query, { limit: LIMIT }).hits;
    },
  };
}

const contractOr: NamedRanker = {
  name: "the contract's OR",
  make: (tools) => (query) => searchByOr(tools, query).slice(0, LIMIT),
};

/** As it comes: name and description, its own splitting, no stop words. */
const miniSearchPlain: NamedRanker = {
  name: 'MiniSearch, plain',
  make: (tools) => {
    const index = new MiniSearch({ fields: ['name', 'description'] });
    index.addAll(tools.map(({ tool }, id) => ({ id, name: tool.name, description: tool.description ?? '' })));
    return (query) =>
      index
        .search(query.slice(0, 1_500))
        .slice(0, LIMIT)
        .map(({ id }) => tools[Number(id)]!);
  },
};

/** With our splitting, stems, stop words and fields: what is left is the ranking itself. */
const miniSearchTuned: NamedRanker = {
  name: 'MiniSearch, our words and fields',
  make: (tools) => {
    const index = new MiniSearch({
      fields: [...FIELDS],
      tokenize: (text) => text.split(' '),
      processTerm: (term) => term || null,
      searchOptions: { boost: { name: 2 } },
    });
    index.addAll(
      tools.map(({ serverName, tool }, id) => {
        const words = analyseTool(serverName, tool, STOP_WORDS);
        return { id, ...Object.fromEntries(FIELDS.map((field) => [field, words[field].join(' ')])) };
      }),
    );
    return (query) => {
      const words = splitWords(query.slice(0, 1_500)).filter((word) => !STOP_WORDS.has(word));
      const found = index.search(words.map(cachedStem).join(' '));
      return found.slice(0, LIMIT).map(({ id }) => tools[Number(id)]!);
    };
  },
};

const off = { synonyms: 'off', glossary: 'off', cues: 'off' } as const;

export const RANKERS: readonly NamedRanker[] = [
  contractOr,
  miniSearchPlain,
  miniSearchTuned,
  interlock('ours, every table off', off),
  interlock('ours, without synonyms', { synonyms: 'off' }),
  interlock('ours, without glossary', { glossary: 'off' }),
  interlock('ours, without cues', { cues: 'off' }),
  interlock('ours'),
];
