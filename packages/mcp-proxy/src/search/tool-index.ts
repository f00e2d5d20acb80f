/** Ranks tools for a query: BM25F over their fields, what the query suggests, its cues, and a share for each wish in it. */
import type { ListedTool, ToolHit } from '../answers.js';
import { analyseTool, type FieldWords } from './analyse-tool.js';
import { type Ranking, readRanking, type ToolSearchOptions } from './options.js';
import { Postings } from './postings.js';
import { makeTables, type QueryCue, type QueryTables, readQuery, type Terms } from './read-query.js';
import { searchBySubstring } from './substring-search.js';

export interface ToolIndex {
  search(query: string, options?: IndexSearchOptions): IndexSearchResult;
}

export interface IndexSearchOptions {
  /** Hits wanted. Default 10. */
  readonly limit?: number;
  /** Only tools of these servers. Default: all. */
  readonly servers?: ReadonlySet<string>;
}

export interface IndexSearchResult {
  /** Best first, at most `limit`. */
  readonly hits: readonly ToolHit[];
  /** How many tools matched at all. */
  readonly matched: number;
}

/** How sharply a cue favours its best tools over those that share a word with it. */
const CUE_SHARPNESS = 3;
/** Places of an answer that single wishes may claim, as a part of all. */
const WISH_PLACES = 0.4;

/**
 * An index over tools. Building it takes about 0.1 ms a tool; the words of a tool are kept for the next index, as long as the
 * tool object is the same.
 *
 * @example
 * const index = createToolIndex([{ serverName: 'files', tool: { name: 'read_file', description: 'Reads a file.' } }]);
 * index.search('open a document').hits[0]?.tool.name; // 'read_file'
 */
export function createToolIndex(tools: readonly ListedTool[], options: ToolSearchOptions = {}): ToolIndex {
  const ranking = readRanking(options);
  const tables = makeTables(ranking);
  const postings = new Postings(
    tools.map((listed) => wordsOf(listed, ranking)),
    ranking.weights,
  );
  return {
    search: (query, searchOptions = {}) => searchIndex({ tools, postings, tables, ranking }, query, searchOptions),
  };
}

interface Index {
  readonly tools: readonly ListedTool[];
  readonly postings: Postings;
  readonly tables: QueryTables;
  readonly ranking: Ranking;
}

function searchIndex(index: Index, query: string, { limit = 10, servers }: IndexSearchOptions): IndexSearchResult {
  const read = readQuery(query, index.tables);
  const scores = new Float64Array(index.tools.length);
  index.postings.addScores(read.terms, scores);
  addCues(index, read.cues, scores);
  const matches = matchesOf(index, scores, servers);
  if (matches.length === 0) {
    const found = searchBySubstring(index.tools, query).filter((hit) => servers?.has(hit.serverName) ?? true);
    return { hits: found.slice(0, limit), matched: found.length };
  }
  const ordered = bestFirst(index, matches, scores, limit);
  const shared = withWishes(index, ordered, read.wishes, { limit, servers });
  const hits = shared.map((tool) => ({ ...index.tools[tool]!, score: scores[tool]! }));
  return { hits, matched: matches.length };
}

/** A cue is a query of its own; it counts in proportion to the best hit of the words, so that it neither drowns nor rules. */
function addCues({ postings, ranking }: Index, cues: readonly QueryCue[], scores: Float64Array): void {
  const best = highest(scores) || 1;
  for (const cue of cues) {
    const weight = ranking.weights.cue[cue.kind];
    if (weight <= 0) continue;
    const own = new Float64Array(scores.length);
    postings.addScores(cue.terms, own);
    const top = highest(own);
    if (top === 0) continue;
    for (let tool = 0; tool < own.length; tool++) {
      if (own[tool]! > 0) scores[tool]! += best * weight * (own[tool]! / top) ** CUE_SHARPNESS;
    }
  }
}

function matchesOf({ tools }: Index, scores: Float64Array, servers: ReadonlySet<string> | undefined): number[] {
  const matches: number[] = [];
  for (let tool = 0; tool < scores.length; tool++) {
    if (scores[tool]! > 0 && (servers === undefined || servers.has(tools[tool]!.serverName))) matches.push(tool);
  }
  return matches;
}

/** The best matches in order; of tools with one name the best keeps its score, the others give way. */
function bestFirst({ tools, ranking }: Index, matches: number[], scores: Float64Array, limit: number): number[] {
  const byScore = (a: number, b: number): number => scores[b]! - scores[a]! || a - b;
  const room = limit * 4;
  const candidates = best(matches, scores, room).sort(byScore);
  const names = new Set<string>();
  for (const tool of candidates) {
    const { name } = tools[tool]!.tool;
    if (names.has(name)) scores[tool]! *= ranking.weights.sameName;
    names.add(name);
  }
  return candidates.sort(byScore).slice(0, limit);
}

/** The `count` highest, in no order: a full sort of thousands of matches would cost more than the scoring. */
function best(matches: number[], scores: Float64Array, count: number): number[] {
  if (matches.length <= count) return matches;
  const sample = Float64Array.from(matches, (tool) => scores[tool]!).sort();
  const threshold = sample[sample.length - count]!;
  const above = matches.filter((tool) => scores[tool]! > threshold);
  const equal = matches.filter((tool) => scores[tool]! === threshold);
  return [...above, ...equal.slice(0, count - above.length)];
}

/**
 * Every wish of a query gets a share: when its own best tool is not among the hits, it takes one of the last places. Only a
 * tool whose name holds a word of the wish counts as found by it.
 */
function withWishes(
  index: Index,
  ordered: readonly number[],
  wishes: readonly Terms[],
  { limit, servers }: { readonly limit: number; readonly servers: ReadonlySet<string> | undefined },
): readonly number[] {
  if (wishes.length === 0 || ordered.length < limit) return ordered;
  const missing: number[] = [];
  for (const wish of wishes) {
    const scores = new Float64Array(index.tools.length);
    index.postings.addScores(wish, scores);
    const found = highestIndex(matchesOf(index, scores, servers), scores);
    if (found === undefined || ordered.includes(found) || missing.includes(found)) continue;
    const name = wordsOf(index.tools[found]!, index.ranking).name;
    if (name.some((word) => wish.has(word))) missing.push(found);
  }
  const places = Math.min(missing.length, Math.floor(limit * WISH_PLACES));
  return [...ordered.slice(0, limit - places), ...missing.slice(0, places)];
}

function highest(scores: Float64Array): number {
  let top = 0;
  for (const score of scores) if (score > top) top = score;
  return top;
}

function highestIndex(matches: readonly number[], scores: Float64Array): number | undefined {
  let top: number | undefined;
  for (const tool of matches) if (top === undefined || scores[tool]! > scores[top]!) top = tool;
  return top;
}

interface Analysed {
  readonly serverName: string;
  readonly stopWords: ReadonlySet<string>;
  readonly words: FieldWords;
}

const analysed = new WeakMap<object, Analysed>();

/** Lists change one server at a time: the words of the others need not be found again. */
function wordsOf({ serverName, tool }: ListedTool, { stopWords }: Ranking): FieldWords {
  const known = analysed.get(tool);
  if (known !== undefined && known.serverName === serverName && known.stopWords === stopWords) return known.words;
  const words = analyseTool(serverName, tool, stopWords);
  analysed.set(tool, { serverName, stopWords, words });
  return words;
}
