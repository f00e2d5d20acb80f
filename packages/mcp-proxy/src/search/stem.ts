/** English word stems by the Porter2 algorithm (snowballstem.org/algorithms/english), so that `merging` finds `merge`. */

const VOWEL = /[aeiouy]/;
const DOUBLE = /(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;
const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['news', 'news'],
  ['atlas', 'atlas'],
  ['bias', 'bias'],
  ['only', 'onli'],
  ['early', 'earli'],
]);
const UNTOUCHED: ReadonlySet<string> = new Set(['proceed', 'exceed', 'succeed']);

/** Suffix and what takes its place, longest first; the first that fits decides the step. */
type Rule = readonly [suffix: string, replacement: string];
const STEP_2: readonly Rule[] = [
  ['ization', 'ize'],
  ['ational', 'ate'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['lessli', 'less'],
  ['entli', 'ent'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['ousli', 'ous'],
  ['iviti', 'ive'],
  ['fulli', 'ful'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['izer', 'ize'],
  ['ator', 'ate'],
  ['alli', 'al'],
  ['bli', 'ble'],
];
const STEP_3: readonly Rule[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];
const STEP_4 = /(?:ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|al|er|ic)$/;

/** The stem of one lower-case word; words of other scripts and of one or two letters stay as they are. */
export function stem(word: string): string {
  if (word.length <= 2 || !/^[a-z]+$/.test(word)) return word;
  const irregular = IRREGULAR.get(word);
  if (irregular !== undefined) return irregular;
  // A `y` that is a consonant is written as `Y` until the end.
  let text = word.replace(/^y/, 'Y').replace(/([aeiouy])y/g, '$1Y');
  const regionOne = regionAfter(text, 0);
  const regionTwo = regionAfter(text, regionOne);
  text = plural(text);
  if (UNTOUCHED.has(text)) return text;
  text = pastAndGerund(text, regionOne);
  if (text.length > 2) text = text.replace(/([^aeiouy])[yY]$/, '$1i');
  text = derivational(text, regionOne, regionTwo);
  return finalLetter(text, regionOne, regionTwo).toLowerCase();
}

/** Where the part after the first vowel and consonant begins. */
function regionAfter(text: string, from: number): number {
  const prefix = from === 0 ? /^(?:gener|commun|arsen)/.exec(text) : null;
  if (prefix) return prefix[0].length;
  const found = /[aeiouy][^aeiouy]/.exec(text.slice(from));
  return found ? from + found.index + 2 : text.length;
}

function plural(text: string): string {
  if (text.endsWith('sses')) return text.slice(0, -2);
  if (/ie[ds]$/.test(text)) return text.slice(0, text.length > 4 ? -2 : -1);
  if (/(?:us|ss)$/.test(text)) return text;
  return /[aeiouy].+s$/.test(text) ? text.slice(0, -1) : text;
}

function pastAndGerund(text: string, regionOne: number): string {
  const eed = /eed(?:ly)?$/.exec(text);
  if (eed) return eed.index >= regionOne ? `${text.slice(0, eed.index)}ee` : text;
  const ending = /(?:ed|ing)(?:ly)?$/.exec(text);
  if (!ending || !VOWEL.test(text.slice(0, ending.index))) return text;
  const rest = text.slice(0, ending.index);
  if (/(?:at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (DOUBLE.test(rest)) return rest.slice(0, -1);
  return rest.length <= regionOne && endsInShortSyllable(rest) ? `${rest}e` : rest;
}

function derivational(word: string, regionOne: number, regionTwo: number): string {
  let text = replaceSuffix(word, STEP_2, regionOne);
  if (text === word) {
    if (/logi$/.test(text) && text.length - 3 >= regionOne) text = text.slice(0, -1);
    else if (/[cdeghkmnrt]li$/.test(text) && text.length - 2 >= regionOne) text = text.slice(0, -2);
  }
  if (text.endsWith('ative')) text = text.length - 5 >= regionTwo ? text.slice(0, -5) : text;
  else text = replaceSuffix(text, STEP_3, regionOne);
  const suffix = STEP_4.exec(text);
  if (suffix) return suffix.index >= regionTwo ? text.slice(0, suffix.index) : text;
  return /[st]ion$/.test(text) && text.length - 3 >= regionTwo ? text.slice(0, -3) : text;
}

function replaceSuffix(text: string, rules: readonly Rule[], region: number): string {
  for (const [suffix, replacement] of rules) {
    if (!text.endsWith(suffix)) continue;
    const start = text.length - suffix.length;
    return start >= region ? text.slice(0, start) + replacement : text;
  }
  return text;
}

function finalLetter(text: string, regionOne: number, regionTwo: number): string {
  const last = text.length - 1;
  if (text.endsWith('e')) {
    const drops = last >= regionTwo || (last >= regionOne && !endsInShortSyllable(text.slice(0, -1)));
    return drops ? text.slice(0, -1) : text;
  }
  return text.endsWith('ll') && last >= regionTwo ? text.slice(0, -1) : text;
}

function endsInShortSyllable(text: string): boolean {
  return /^[aeiouy][^aeiouy]$/.test(text) || /[^aeiouy][aeiouy][^aeiouywxY]$/.test(text);
}
