/** Shortening plain text where it hurts least. */

/** How much of something is shown. */
export interface Omission {
  /** Which list or text: `$` is the whole answer, `$.items` a list in it. */
  readonly path: string;
  readonly unit: 'items' | 'characters' | 'fields' | 'texts' | 'parts';
  readonly shown: number;
  readonly total: number;
}

export interface CutText {
  readonly text: string;
  readonly omission: Omission;
}

/**
 * The longest beginning of `text` that `fits` takes, ending with a paragraph, else a line, else a word, never within a
 * character; an open code fence is closed. May be empty.
 */
export function cutText(text: string, fits: (cut: CutText) => boolean): CutText {
  const at = (length: number): CutText => {
    const shown = text.slice(0, length);
    return { text: closeFence(shown), omission: { path: '$', unit: 'characters', shown: length, total: text.length } };
  };
  let cut = at(
    boundaryBefore(
      text,
      largest(text.length - 1, (length) => fits(at(length))),
    ),
  );
  // Closing a fence may have made it too long again.
  while (cut.omission.shown > 0 && !fits(cut)) cut = at(boundaryBefore(text, cut.omission.shown - 1));
  return cut;
}

/** The largest number from 0 to `most` that passes, if all below it do; 0 if none passes. */
export function largest(most: number, passes: (count: number) => boolean): number {
  // From below in steps that grow: what passes is often far smaller than what there is.
  let low = 0;
  let high = Math.min(most, 16);
  while (high < most && passes(high)) {
    low = high;
    high = Math.min(most, high * 2);
  }
  if (high === most && passes(most)) return most;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (passes(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** The best place to end at or before `length`, giving up at most a fifth of it for a better one. */
function boundaryBefore(text: string, length: number): number {
  const window = text.slice(0, length);
  for (const boundary of ['\n\n', '\n', ' ']) {
    const end = window.lastIndexOf(boundary);
    if (end >= length * 0.8 && end > 0) return end;
  }
  return characterBefore(text, length);
}

/** Not between the halves of a surrogate pair, nor in front of a mark that belongs to what is before it. */
function characterBefore(text: string, length: number): number {
  let end = length;
  while (end > 0 && end < text.length && joins(text, end)) end--;
  return end;
}

function joins(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit >= 0xdc00 && unit <= 0xdfff) return true;
  if (unit === ZERO_WIDTH_JOINER || text.charCodeAt(index - 1) === ZERO_WIDTH_JOINER) return true;
  return /^(?:\p{M}|\p{Emoji_Modifier})/u.test(text.slice(index, index + 2));
}

const ZERO_WIDTH_JOINER = 0x200d;

const FENCE = '```';

function closeFence(text: string): string {
  const fences = text.match(/^ {0,3}```/gm)?.length ?? 0;
  return fences % 2 === 1 ? `${text}\n${FENCE}` : text;
}
