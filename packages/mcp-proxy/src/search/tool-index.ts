/** Ranks tools for a query: BM25F over their fields, what the query suggests, its cues, and a share for each wish in it. */
import type { ListedTool, ToolHit } from '../answers.js';
import { analyseTool, type FieldWords } from './analyse-tool.js';
import { type Ranking, readRanking, type ToolSearchOptions } from './options.js';
import { Postings } from './postings.js';
import { makeTables, type QueryCue, type QueryTables, type ReadQuery, readQuery, type Terms } from './read-query.js';
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

/** Candidates for each place: enough that tools of the same name can give way to others. */
const SAME_NAME_ROOM = 4;
/** How sharply a cue favours its best tools over those that share a word with it. */
const CUE_SHARPNESS = 3;
/** From this weight on a cue is a wish of its own. */
const CLAIMING_CUE = 0.5;
/** Places of an answer that single wishes may claim, as a part of all. */
const WISH_PLACES = 0.4;

/**
 * An index over tools. Building it takes a fraction of a millisecond a tool; the words of a tool are kept for the next index, as long as the
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
  if (servers !== undefined) leaveOut(index, servers, scores);
  const { top, matched } = highest(scores, limit * SAME_NAME_ROOM);
  if (matched === 0) {
    const found = searchBySubstring(index.tools, query).filter((hit) => servers?.has(hit.serverName) ?? true);
    return { hits: found.slice(0, limit), matched: found.length };
  }
  const ordered = byName(index, top, scores);
  const shared =
    read.form === 'list'
      ? inTurns(index, ordered, read, { limit, servers })
      : withWishes(index, ordered.slice(0, limit), read, { limit, servers });
  const hits = shared.map((tool) => ({ ...index.tools[tool]!, score: scores[tool]! }));
  return { hits, matched };
}

/** A cue is a query of its own; it counts in proportion to the best hit of the words, so that it neither drowns nor rules. */
function addCues({ postings, ranking }: Index, cues: readonly QueryCue[], scores: Float64Array): void {
  const best = highestScore(scores) || 1;
  for (const cue of cues) {
    const weight = ranking.weights.cue[cue.kind];
    if (weight <= 0) continue;
    const own = new Float64Array(scores.length);
    postings.addScores(cue.terms, own);
    const top = highestScore(own);
    if (top === 0) continue;
    for (let tool = 0; tool < own.length; tool++) {
      if (own[tool]! > 0) scores[tool]! += best * weight * (own[tool]! / top) ** CUE_SHARPNESS;
    }
  }
}

function leaveOut({ tools }: Index, servers: ReadonlySet<string>, scores: Float64Array): void {
  for (let tool = 0; tool < scores.length; tool++) {
    if (scores[tool]! > 0 && !servers.has(tools[tool]!.serverName)) scores[tool] = 0;
  }
}

/** The `count` best tools in order, and how many match; a full sort of thousands would cost more than the scoring. */
function highest(scores: Float64Array, count: number): { readonly top: number[]; readonly matched: number } {
  const top: number[] = [];
  let matched = 0;
  for (let tool = 0; tool < scores.length; tool++) {
    const score = scores[tool]!;
    if (score <= 0) continue;
    matched += 1;
    if (top.length >= count && score <= scores[top[top.length - 1]!]!) continue;
    let place = top.length;
    while (place > 0 && score > scores[top[place - 1]!]!) place -= 1;
    top.splice(place, 0, tool);
    if (top.length > count) top.pop();
  }
  return { top, matched };
}

/** Of tools with one name the best keeps its place, the others give way. */
function byName({ tools, ranking }: Index, top: readonly number[], scores: Float64Array): number[] {
  const names = new Set<string>();
  for (const tool of top) {
    const { name } = tools[tool]!.tool;
    if (names.has(name)) scores[tool]! *= ranking.weights.sameName;
    names.add(name);
  }
  return [...top].sort((a, b) => scores[b]! - scores[a]! || a - b);
}

interface Scope {
  readonly limit: number;
  readonly servers: ReadonlySet<string> | undefined;
}

/** The wishes of a list are answered in turns: the best tool of each first, then the second best, then what all together find. */
function inTurns(index: Index, ordered: readonly number[], { wishes }: ReadQuery, scope: Scope): readonly number[] {
  const answers = wishes.map((wish) => bestOf(index, wish, Math.ceil(scope.limit / wishes.length), scope.servers));
  const turns = Math.max(...answers.map((answer) => answer.length));
  const found = new Set<number>();
  for (let turn = 0; turn < turns; turn++) {
    for (const answer of answers) {
      const tool = answer[turn];
      if (tool !== undefined) found.add(tool);
    }
  }
  for (const tool of ordered) found.add(tool);
  return [...found].slice(0, scope.limit);
}

function bestOf(index: Index, terms: Terms, count: number, servers: ReadonlySet<string> | undefined): number[] {
  const scores = new Float64Array(index.tools.length);
  index.postings.addScores(terms, scores);
  if (servers !== undefined) leaveOut(index, servers, scores);
  return byName(index, highest(scores, count * SAME_NAME_ROOM).top, scores).slice(0, count);
}

/**
 * Every wish of a query gets a share: when its own best tool is not among the hits, it takes one of the last places. Only a
 * tool whose name holds a word of the wish counts as found by it.
 */
function withWishes(
  index: Index,
  ordered: readonly number[],
  { wishes, cues }: ReadQuery,
  { limit, servers }: Scope,
): readonly number[] {
  const asked = cues.filter(({ kind }) => index.ranking.weights.cue[kind] >= CLAIMING_CUE).map(({ terms }) => terms);
  if (wishes.length + asked.length === 0 || ordered.length < limit) return ordered;
  const missing: number[] = [];
  for (const wish of [...asked, ...wishes]) {
    const found = bestOf(index, wish, 1, servers)[0];
    if (found === undefined || ordered.includes(found) || missing.includes(found)) continue;
    const name = wordsOf(index.tools[found]!, index.ranking).name;
    if (name.some((word) => wish.has(word))) missing.push(found);
  }
  const places = Math.min(missing.length, Math.floor(limit * WISH_PLACES));
  return [...ordered.slice(0, limit - places), ...missing.slice(0, places)];
}

function highestScore(scores: Float64Array): number {
  let top = 0;
  for (const score of scores) if (score > top) top = score;
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
