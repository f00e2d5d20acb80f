/** Cuts a long text into pages that keep whole lines where they can and whole characters always. */

export interface PageBounds {
  readonly maxBytes: number;
  readonly maxLines: number;
}

export type Page =
  | { readonly kind: 'whole' }
  /** `end`: index in the text of the first character that is not on this page. */
  | { readonly kind: 'cut'; readonly end: number };

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** Where the page that starts at `start` ends. Every page holds at least one character, so reading on always gets ahead. */
export function cutPage(text: string, start: number, bounds: PageBounds): Page {
  const byBytes = endByBytes(text, start, bounds.maxBytes);
  const byLines = endByLines(text, start, bounds.maxLines);
  const end = Math.min(byBytes, byLines);
  if (end >= text.length) return { kind: 'whole' };
  if (byLines <= byBytes) return { kind: 'cut', end };
  // The last line that fits is kept whole, unless it takes more than half of the page.
  const lineEnd = text.lastIndexOf('\n', end - 1) + 1;
  return { kind: 'cut', end: lineEnd > start + (end - start) / 2 ? lineEnd : end };
}

function endByBytes(text: string, start: number, maxBytes: number): number {
  // encodeInto never splits a character; three bytes a UTF-16 unit are the most that UTF-8 needs.
  const target = new Uint8Array(Math.max(4, maxBytes));
  const { read } = encoder.encodeInto(text.slice(start, start + target.length), target);
  return start + Math.max(1, read);
}

function endByLines(text: string, start: number, maxLines: number): number {
  let end = start;
  for (let line = 0; line < Math.max(1, maxLines); line++) {
    const next = text.indexOf('\n', end);
    if (next === -1) return text.length;
    end = next + 1;
  }
  return end;
}
