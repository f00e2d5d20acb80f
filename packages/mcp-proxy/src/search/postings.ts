/** An inverted index with field weights (BM25F): which tools hold a term, and how strongly. */
import { FIELDS, type FieldWords } from './analyse-tool.js';
import type { RankingWeights } from './options.js';
import type { Terms } from './read-query.js';

interface Posting {
  readonly tools: Int32Array;
  /** Weight of the term in each of the tools, field weights and lengths applied, saturated. */
  readonly strengths: Float32Array;
  readonly rarity: number;
}

/** How many known words an unknown one may stand for. */
const MAX_GUESSES = 6;
const MIN_GUESS_CHARS = 4;

export class Postings {
  readonly size: number;
  readonly #terms = new Map<string, Posting>();
  readonly #guess: number;
  #vocabulary: readonly string[] | undefined;

  constructor(tools: readonly FieldWords[], weights: RankingWeights) {
    this.size = tools.length;
    this.#guess = weights.guess;
    const collected = collect(tools, weights);
    for (const [term, { indexes, strengths }] of collected) {
      const rarity = Math.log(1 + (tools.length - indexes.length + 0.5) / (indexes.length + 0.5));
      const { saturation } = weights;
      const saturated = strengths.map((strength) => (strength * (saturation + 1)) / (saturation + strength));
      this.#terms.set(term, { tools: Int32Array.from(indexes), strengths: Float32Array.from(saturated), rarity });
    }
  }

  /** Adds the score of every tool for the terms to `scores`. */
  addScores(terms: Terms, scores: Float64Array): void {
    for (const [term, weight] of terms) {
      const posting = this.#terms.get(term);
      if (posting !== undefined) addPosting(posting, weight, scores);
      // Suggested words are only suggestions; a word that was asked for and is unknown may be a part or a variant of one.
      else if (weight >= 1) for (const guess of this.#guesses(term)) addPosting(guess, weight * this.#guess, scores);
    }
  }

  /** Known words with the same beginning: `postgr` stands for `postgresql`, `colleagues` for `colleague`. */
  #guesses(term: string): Posting[] {
    if (this.#guess <= 0 || term.length < MIN_GUESS_CHARS) return [];
    this.#vocabulary ??= [...this.#terms.keys()].sort();
    const start = term.slice(0, Math.max(MIN_GUESS_CHARS, term.length - 2));
    const found: Posting[] = [];
    for (let index = firstFrom(this.#vocabulary, start); found.length < MAX_GUESSES; index++) {
      const word = this.#vocabulary[index];
      if (word === undefined || !word.startsWith(start)) break;
      found.push(this.#terms.get(word)!);
    }
    return found;
  }
}

function addPosting({ tools, strengths, rarity }: Posting, weight: number, scores: Float64Array): void {
  const factor = weight * rarity;
  for (let index = 0; index < tools.length; index++) scores[tools[index]!]! += factor * strengths[index]!;
}

interface Collected {
  readonly indexes: number[];
  readonly strengths: number[];
}

function collect(tools: readonly FieldWords[], weights: RankingWeights): Map<string, Collected> {
  const averages = FIELDS.map((field) => {
    const total = tools.reduce((sum, tool) => sum + tool[field].length, 0);
    return total / Math.max(1, tools.length) || 1;
  });
  const collected = new Map<string, Collected>();
  tools.forEach((tool, index) => {
    for (const [term, strength] of strengthsOf(tool, averages, weights)) {
      const entry = collected.get(term) ?? { indexes: [], strengths: [] };
      entry.indexes.push(index);
      entry.strengths.push(strength);
      collected.set(term, entry);
    }
  });
  return collected;
}

function strengthsOf(tool: FieldWords, averages: readonly number[], weights: RankingWeights): Map<string, number> {
  const strengths = new Map<string, number>();
  FIELDS.forEach((field, index) => {
    const words = tool[field];
    const length = 1 - weights.lengthPenalty + (weights.lengthPenalty * words.length) / averages[index]!;
    const one = weights[field] / length;
    for (const word of words) strengths.set(word, (strengths.get(word) ?? 0) + one);
  });
  return strengths;
}

/** Index of the first word that is not before `start`. */
function firstFrom(sorted: readonly string[], start: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
