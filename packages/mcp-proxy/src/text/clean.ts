/** Makes text of unknown origin safe to show: no control, ANSI or bidi characters, no invisible ones, bounded length. */

/** Escape sequences of terminals: CSI, OSC (ended by BEL or ST) and the two-character ones. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
const ANSI = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above. Tab and line feed stay.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/**
 * Characters that reorder or hide text: bidi marks, embeddings, overrides and isolates; zero-width space and word joiner;
 * soft hyphen; byte order mark; interlinear annotations; and the tag block, which can carry a whole unseen message.
 * Zero-width joiner and non-joiner stay: emoji, Persian and Indic scripts need them.
 */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Removes what must never be shown and keeps the lines. Line separators of every kind become `\n`. */
export function cleanText(text: string): string {
  return text
    .replace(/\r\n?|\u0085|\u2028|\u2029/g, '\n')
    .replace(ANSI, '')
    .replace(CONTROL, '')
    .replace(INVISIBLE, '')
    .replace(LONE_SURROGATE, '\ufffd');
}

/** The same on one line: every run of white space becomes one space. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}

/**
 * Cuts at a word boundary to at most `maxChars` UTF-16 units, the ellipsis included. A word that is longer than the whole
 * bound is cut inside, but never inside a surrogate pair.
 */
export function clip(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const room = text.slice(0, Math.max(0, maxChars - 1));
  const space = room.search(/\s\S*$/);
  const cut = space > maxChars / 2 ? room.slice(0, space) : room.replace(/[\ud800-\udbff]$/, '');
  return `${cut.trimEnd().replace(/[,;:.–—-]+$/, '')}…`;
}

/** First `maxChars` of a text, cleaned; the input is bounded before it is scanned. */
export function clippedLine(text: unknown, maxChars: number): string {
  if (typeof text !== 'string') return '';
  return clip(cleanLine(text.slice(0, maxChars * 4)), maxChars);
}

/** Message of anything that was thrown, cleaned and bounded. */
export function reasonOf(error: unknown, maxChars = 500): string {
  const raw = error instanceof Error ? error.message || error.name : typeof error === 'string' ? error : undefined;
  if (raw !== undefined) return clippedLine(raw, maxChars);
  const message = typeof error === 'object' && error !== null ? Reflect.get(error, 'message') : undefined;
  return typeof message === 'string' ? clippedLine(message, maxChars) : 'no reason given';
}

/** `1 tool`, `2 tools`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
