/** Finds where a text stops being JSON. The engines' own messages tell it in different words or not at all. */

/** A place in a text, both counted from 1; columns in UTF-16 units, as editors count them. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The first character that cannot be there, or the end where something is missing; `undefined` for valid JSON (RFC 8259). */
export function jsonErrorPosition(text: string): TextPosition | undefined {
  const scanner = new Scanner(text);
  try {
    scanner.value();
    scanner.space();
    if (scanner.at < text.length) scanner.fail();
    return undefined;
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    return positionOf(text, error.at);
  }
}

function positionOf(text: string, at: number): TextPosition {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

class Unexpected extends Error {
  readonly at: number;

  constructor(at: number) {
    super();
    this.at = at;
  }
}

const NUMBER: RegExp = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** One character of a string, or one escape: no control character (Cc below U+0020) stands for itself. */
const CHARACTER: RegExp = /[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORDS: readonly string[] = ['true', 'false', 'null'];
const MAX_DEPTH = 1_000;

class Scanner {
  readonly #text: string;
  at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  fail(): never {
    throw new Unexpected(this.at);
  }

  space(): void {
    while (' \t\n\r'.includes(this.#text[this.at] ?? 'x')) this.at += 1;
  }

  value(): void {
    this.space();
    const first = this.#text[this.at];
    const word = WORDS.find((candidate) => candidate[0] === first);
    if (first === '{') this.#list('}', () => this.#member());
    else if (first === '[') this.#list(']', () => this.value());
    else if (first === '"') this.#string();
    else if (word !== undefined) this.#word(word);
    else this.#match(NUMBER);
  }

  #member(): void {
    this.space();
    this.#string();
    this.space();
    this.#take(':');
    this.value();
  }

  #list(end: string, item: () => void): void {
    this.at += 1;
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.fail();
    this.space();
    if (this.#text[this.at] !== end) {
      item();
      this.space();
      while (this.#text[this.at] === ',') {
        this.at += 1;
        item();
        this.space();
      }
    }
    this.#take(end);
    this.#depth -= 1;
  }

  #string(): void {
    this.#take('"');
    while (this.at < this.#text.length && this.#text[this.at] !== '"') this.#match(CHARACTER);
    this.#take('"');
  }

  #word(word: string): void {
    for (const letter of word) this.#take(letter);
  }

  #match(pattern: RegExp): void {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.#text)) this.fail();
    this.at = pattern.lastIndex;
  }

  #take(character: string): void {
    if (this.#text[this.at] !== character) this.fail();
    this.at += 1;
  }
}
