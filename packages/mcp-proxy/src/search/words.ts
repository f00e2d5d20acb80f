/** Splits text into lower-case words: names at camelCase, snake_case and dots, Chinese and Japanese into pairs of characters. */

const WORD = /[a-z]+|[0-9]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|\p{L}+/gu;
/** Scripts that write no spaces between words; their words are found by pairs of characters. */
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

export function splitWords(text: string): string[] {
  // Most tool text is plain ASCII, and normal already.
  const normal = /[^ -~\s]/.test(text) ? text.normalize('NFKC') : text;
  const spaced = normal
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    // A look-ahead, so that a page of capitals costs no more than a page.
    .replace(/([A-Z])(?=[A-Z][a-z])/g, '$1 ')
    .toLowerCase()
    .replace(/['’]s\b/g, '')
    .replace(/['’]/g, '');
  const words: string[] = [];
  for (const [word] of spaced.matchAll(WORD)) {
    if (!UNSPACED.test(word)) words.push(word);
    else words.push(...pairs(word));
  }
  return words;
}

function pairs(text: string): string[] {
  if (text.length === 1) return [text];
  return Array.from({ length: text.length - 1 }, (_, index) => text.slice(index, index + 2));
}
