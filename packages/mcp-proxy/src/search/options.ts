/** Options of the ranked search: every table can be switched off or replaced, every weight changed. */
import type { CueKind } from './cues.js';
import { GLOSSARY } from './glossary.js';
import { STOP_WORDS, WEAK_WORDS } from './stop-words.js';
import { SYNONYM_GROUPS } from './synonyms.js';

export interface ToolSearchOptions {
  /** Hits of one answer. Default 10. */
  readonly limit?: number;
  /** What the text of one search answer may cost, in (estimated) tokens; at least one hit is always shown. Default 800. */
  readonly maxTokens?: number;
  /** Words that do not count. They still find a tool when nothing else does. Default: English function and request words. */
  readonly stopWords?: Iterable<string> | 'off';
  /** Words that count little in a query. Default: what people write around a wish (`please`, `current`, `detailed`). */
  readonly weakWords?: Iterable<string> | 'off';
  /** Groups of words that stand for each other, separated by spaces. Default: about sixty groups. */
  readonly synonyms?: readonly string[] | 'off';
  /** Words in another language of the catalogue, by the word in the query. Default: English to Chinese, about sixty words. */
  readonly glossary?: Readonly<Record<string, string>> | 'off';
  /** Whether paths, URLs, purchases and times in a query count as wishes of their own. Default `'on'`. */
  readonly cues?: 'on' | 'off';
  /** Numbers of the ranking; see `RankingWeights`. */
  readonly weights?: Partial<RankingWeights>;
}

/** The numbers of the ranking (BM25F, Robertson and Zaragoza 2009). The defaults hold for catalogues of 20 to 5,000 tools. */
export interface RankingWeights {
  /** What a word counts for in each field. */
  readonly server: number;
  readonly name: number;
  /** The first sentence of the description, and the rest of it. */
  readonly summary: number;
  readonly description: number;
  readonly parameterNames: number;
  readonly parameterDescriptions: number;
  /** How soon more of the same word stops counting. */
  readonly saturation: number;
  /** How much long fields are held back, 0 to 1. */
  readonly lengthPenalty: number;
  /** A weak word, against another word of the query. */
  readonly weakWord: number;
  /** A synonym, a translated word and a guessed unknown word, against a word of the query. */
  readonly synonym: number;
  readonly translation: number;
  readonly guess: number;
  /** What a cue counts for, against the best hit of the words. */
  readonly cue: Readonly<Record<CueKind, number>>;
  /** What a further tool of the same name counts for. */
  readonly sameName: number;
}

export const DEFAULT_WEIGHTS: RankingWeights = {
  server: 1,
  name: 2.5,
  summary: 1.5,
  description: 0.7,
  parameterNames: 0.8,
  parameterDescriptions: 0.6,
  saturation: 1.5,
  lengthPenalty: 0.4,
  weakWord: 0.5,
  synonym: 0.3,
  translation: 0.5,
  guess: 0.4,
  cue: { write: 0.6, read: 0.5, directory: 0.5, url: 0.6, browse: 0.5, time: 0.5 },
  sameName: 0.5,
};

/** The options with every default filled in. */
export interface Ranking {
  readonly stopWords: ReadonlySet<string>;
  readonly weakWords: ReadonlySet<string>;
  readonly synonyms: readonly string[];
  readonly glossary: Readonly<Record<string, string>>;
  readonly cues: 'on' | 'off';
  readonly weights: RankingWeights;
}

const NO_WORDS: ReadonlySet<string> = new Set();

export function readRanking(options: ToolSearchOptions = {}): Ranking {
  const { synonyms = SYNONYM_GROUPS, glossary = GLOSSARY } = options;
  const given = options.weights ?? {};
  return {
    stopWords: wordSet(options.stopWords, STOP_WORDS),
    weakWords: wordSet(options.weakWords, WEAK_WORDS),
    synonyms: synonyms === 'off' ? [] : synonyms,
    glossary: glossary === 'off' ? {} : glossary,
    cues: options.cues ?? 'on',
    weights: { ...DEFAULT_WEIGHTS, ...given, cue: { ...DEFAULT_WEIGHTS.cue, ...given.cue } },
  };
}

function wordSet(words: Iterable<string> | 'off' | undefined, fallback: ReadonlySet<string>): ReadonlySet<string> {
  if (words === undefined) return fallback;
  if (words === 'off') return NO_WORDS;
  // The same set stays the same: what was found with it is kept by it.
  return words instanceof Set ? words : new Set(words);
}
