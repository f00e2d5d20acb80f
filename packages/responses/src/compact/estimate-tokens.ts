/** A quick estimate of how many tokens a model spends on a text. */
import { check } from '../check.js';

/** Counts the tokens of a text; pass the tokenizer of your model where one is needed. */
export type CountTokens = (text: string) => number;

const SIGN = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const SPACE = 4;
const BREAK = 5;
const WIDE = 6;
const END = 7;

const CLASSES: Uint8Array = asciiClasses();

/**
 * Estimates the tokens of `text` as o200k would count them. It cuts the text into the pieces that such tokenizers start
 * from (words with one sign before them, up to three digits, runs of signs, line ends) and charges each by its length;
 * the bench prints how far off it is. One pass, nothing to load.
 */
export function estimateTokens(text: string): number {
  check(typeof text === 'string', 'estimateTokens: text', 'a string');
  let tokens = 0;
  let index = 0;
  while (index < text.length) {
    const kind = classAt(text, index);
    const next = classAt(text, index + 1);
    const start = index;
    if (kind === LOWER || kind === UPPER || ((kind === SPACE || kind === SIGN) && (next === LOWER || next === UPPER))) {
      if (kind === SPACE || kind === SIGN) tokens += joinCost(text.charCodeAt(index++));
      const word = index;
      while (classAt(text, index) === UPPER) index++;
      while (classAt(text, index) === LOWER) index++;
      tokens += wordCost(index - word);
    } else if (kind === SIGN || (kind === SPACE && next === SIGN)) {
      index = endOf(text, index + 1, SIGN);
      tokens += signCost(index - start);
      index = endOf(text, index, BREAK);
    } else if (kind === DIGIT) {
      index = endOf(text, index, DIGIT);
      tokens += Math.ceil((index - start) / 3);
    } else if (kind === WIDE) {
      let cost = 0;
      while (classAt(text, index) === WIDE) cost += wideCost(text.charCodeAt(index++));
      tokens += Math.max(1, cost);
    } else if (kind === BREAK) {
      index = endOf(text, index, BREAK);
      tokens += 1;
    } else {
      index = endOf(text, index, SPACE);
      // All but the last are one piece; the last goes with the word or sign that follows, if one does.
      const follows = classAt(text, index);
      const joins = follows === LOWER || follows === UPPER || follows === SIGN;
      if (joins && index - start > 1) index--;
      tokens += !joins && follows !== BREAK && index - start > 1 ? 2 : 1;
    }
  }
  return Math.ceil(tokens);
}

function endOf(text: string, from: number, kind: number): number {
  let index = from;
  while (classAt(text, index) === kind) index++;
  return index;
}

/** What a space or sign costs in front of a word: most spaces are part of the word's token, most signs are not. */
function joinCost(code: number): number {
  switch (code) {
    case 0x20: // space
      return 0;
    case 0x2e: // .
    case 0x5f: // _
    case 0x2f: // /
    case 0x2d: // -
      return 0.2;
    case 0x09: // tab
      return 0.45;
    case 0x2c: // ,
      return 0.65;
    case 0x7c: // |
      return 1;
    default:
      return 0.75;
  }
}

function wordCost(length: number): number {
  return length <= 8 ? 1 : 1 + (length - 8) / 5;
}

function signCost(length: number): number {
  return length <= 3 ? 1 : 1 + (length - 3) / 3;
}

function classAt(text: string, index: number): number {
  if (index >= text.length) return END;
  const code = text.charCodeAt(index);
  if (code < 128) return CLASSES[code]!;
  return code >= 0xc0 && code < 0x250 ? LOWER : WIDE; // Latin letters with accents are parts of words.
}

/** Tokens per UTF-16 unit beyond ASCII, by script. */
function wideCost(code: number): number {
  if (code < 0x250) return 0.6; // signs of Latin-1
  if (code < 0x530) return 0.22; // Greek, Cyrillic
  if (code < 0x900) return 0.4; // Hebrew, Arabic
  if (code < 0x2000) return 0.6; // Indic and other alphabets
  if (code < 0x2e80) return 1; // signs
  if (code >= 0xac00 && code < 0xd7b0) return 0.8; // Hangul
  if (code >= 0xd800 && code < 0xe000) return 0.8; // half of an emoji
  return 0.8; // Han, kana
}

function asciiClasses(): Uint8Array {
  const table = new Uint8Array(128);
  for (let code = 0; code < 128; code++) {
    if (code >= 97 && code <= 122) table[code] = LOWER;
    else if (code >= 65 && code <= 90) table[code] = UPPER;
    else if (code >= 48 && code <= 57) table[code] = DIGIT;
    else if (code === 10 || code === 13) table[code] = BREAK;
    else if (code === 32 || code === 9) table[code] = SPACE;
  }
  return table;
}
