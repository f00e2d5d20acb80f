/** From what was asked to weighted terms: the words, what they suggest, the cues, and the single wishes. */
import { cachedStem } from './analyse-tool.js';
import { type CueKind, findCues } from './cues.js';
import type { Ranking } from './options.js';
import { splitWords } from './words.js';

export type Terms = ReadonlyMap<string, number>;

export interface QueryCue {
  readonly kind: CueKind;
  readonly terms: Terms;
}

export interface ReadQuery {
  /** Stemmed words of the whole query with their weights. */
  readonly terms: Terms;
  readonly cues: readonly QueryCue[];
  /** The terms of each wish, when the query holds several. */
  readonly wishes: readonly Terms[];
  /** Whether the wishes are set apart as a list (`;`, lines), and not only by commas and `and`. */
  readonly form: 'list' | 'prose';
}

/** Models paste files into queries; what comes later is their contents. */
const MAX_QUERY_CHARS = 1_500;
const MAX_WISHES = 8;
/** Longer text in lines is a document that was pasted, not a list of wishes. */
const MAX_LIST_CHARS = 400;
/** Base64, hashes and keys: text without a space that no tool is described by. */
const BLOB = /[A-Za-z0-9+/=_-]{64,}/g;
const LIST_BREAK = /[;；\n]/;
const WISH_BREAK = /[.;!?](?=\s|$)|[。；！？，、]|\n|,\s|\b(?:and|then|also|plus|as well as)\b/i;

/** Tables of a ranking, stemmed once. */
export interface QueryTables {
  readonly ranking: Ranking;
  readonly synonyms: ReadonlyMap<string, readonly string[]>;
  readonly translations: ReadonlyMap<string, readonly string[]>;
}

export function makeTables(ranking: Ranking): QueryTables {
  const synonyms = new Map<string, string[]>();
  for (const group of ranking.synonyms) {
    const words = group
      .split(/\s+/)
      .filter((word) => word !== '')
      .map(cachedStem);
    for (const word of words)
      suggest(
        synonyms,
        word,
        words.filter((other) => other !== word),
      );
  }
  const translations = new Map<string, string[]>();
  for (const [word, others] of Object.entries(ranking.glossary)) {
    const translated = splitWords(others).map(cachedStem);
    suggest(translations, cachedStem(word.toLowerCase()), translated);
    for (const other of translated) suggest(translations, other, [cachedStem(word.toLowerCase())]);
  }
  return { ranking, synonyms, translations };
}

function suggest(table: Map<string, string[]>, word: string, others: readonly string[]): void {
  table.set(word, [...(table.get(word) ?? []), ...others]);
}

export function readQuery(query: string, tables: QueryTables): ReadQuery {
  const text = query.slice(0, MAX_QUERY_CHARS).replace(BLOB, ' ');
  const cued = tables.ranking.cues === 'on' ? findCues(text) : { text, cues: [] };
  const terms = termsOf(cued.text, tables);
  const listed = wishesOf(cued.text, LIST_BREAK, tables);
  const isList = listed.length > 1 && cued.text.length <= MAX_LIST_CHARS;
  const wishes = isList ? listed : wishesOf(cued.text, WISH_BREAK, tables);
  const cues = cued.cues.map(({ kind, query: words }) => ({
    kind,
    terms: new Map(splitWords(words).map((word) => [cachedStem(word), 1])),
  }));
  return { terms, cues, wishes: wishes.length > 1 ? wishes : [], form: isList ? 'list' : 'prose' };
}

function wishesOf(text: string, separator: RegExp, tables: QueryTables): Terms[] {
  const wishes = text.split(separator).map((wish) => termsOf(wish, tables));
  return wishes.filter((wish) => wish.size > 0).slice(0, MAX_WISHES);
}

/** A word that comes twice weighs more, but not twice as much. Numbers say nothing of a tool. */
function termsOf(text: string, { ranking, synonyms, translations }: QueryTables): Terms {
  const counts = new Map<string, number>();
  const weak = new Set<string>();
  for (const word of splitWords(text)) {
    if (ranking.stopWords.has(word) || /^\d+$/.test(word)) continue;
    const term = cachedStem(word);
    if (ranking.weakWords.has(word)) weak.add(term);
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  const terms = new Map<string, number>();
  const add = (term: string, weight: number): void => {
    if ((terms.get(term) ?? 0) < weight) terms.set(term, weight);
  };
  for (const [term, count] of counts) add(term, weak.has(term) ? ranking.weights.weakWord : 1 + Math.log(count));
  for (const [term, weight] of [...terms]) {
    if (weak.has(term)) continue;
    for (const other of synonyms.get(term) ?? []) add(other, weight * ranking.weights.synonym);
    for (const other of translations.get(term) ?? []) add(other, weight * ranking.weights.translation);
  }
  return terms;
}
