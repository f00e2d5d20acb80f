/** An answer that the host lets through whole, and that says what it left out. */

import { brand } from '../brand.js';
import { check } from '../check.js';
import { codecOf, rememberCodec, type TextCodec } from '../compact/codec.js';
import { isSameData } from '../compact/same-data.js';
import { errorTwin } from '../errors/error.js';
import { type ErrorFields, shrinkError } from '../errors/error-envelope.js';
import { ERROR_META_KEY } from '../errors/error-types.js';
import { parseToolError } from '../errors/parse-tool-error.js';
import { ResponseError, typed } from '../response-error.js';
import type { AnyContentBlock, AnyToolResult, ContentBlock, ContentResult, TextBlock } from '../types.js';
import { type CutText, cutText, largest, type Omission } from './cut-text.js';
import { type CutValue, cutValue } from './cut-value.js';
import { binaryLength, type Fits, fitsWithin, type Limits } from './limits.js';
import { type NoteOptions, note, noteText, pageNotes } from './notes.js';

export interface FitOptions extends Limits, NoteOptions {}

/** Where a shortened result says what it left out: `{ omissions: Omission[] }`. */
export const FIT_META_KEY = 'interlock/fit';

/**
 * Shortens `result` until it is within the limits; one that is already comes back as it is. Data is cut between items
 * (its text stays valid JSON, TOON or table), text between paragraphs, lines or words, an error within its fields, so
 * that it stays well-formed. A note tells the model how much is shown and how to get the rest; binary content that is too
 * large becomes a note. `structuredContent` is cut with its text.
 *
 * @throws ResponseError `INVALID_OPTION` for limits below what a note needs, `TOO_DEEP` for `structuredContent` without end
 * @example
 * ```ts
 * fit(success(rows), { ...hostLimits['claude-code'], more: ({ shown }) => `call again with offset ${shown}` });
 * fit(compact(page.items), { maxTokens: 5000, page });
 * ```
 */
export function fit(result: AnyToolResult, options: FitOptions): ContentResult {
  return typed(() => shorten(result, options));
}

function shorten(result: AnyToolResult, options: FitOptions): ContentResult {
  check(Boolean(options), 'fit: options', 'an object');

  check(options.page === undefined || Array.isArray(options.page?.items), 'fit: page', 'a page');
  if (!Array.isArray(result?.content)) throw new ResponseError('INVALID_CONTENT', 'fit: that is no tool result.');
  const fits = fitsWithin(options, result);
  const notes = result.isError ? [] : pageNotes(options);
  const withNotes: Fits = (content, structured) => fits([...content, ...notes], structured);
  if (withNotes(result.content, result.structuredContent)) return withBlocks(result, notes);
  if (result.isError) return fitError(result, fits);
  // What fits but for the note about the page is cut as well: without a note the model would take it for all there is.
  const isTooLong = !fits(result.content, result.structuredContent);
  return fitContent(result, isTooLong ? fits : withNotes, options);
}

function withBlocks(result: AnyToolResult, blocks: readonly TextBlock[]): ContentResult {
  if (blocks.length === 0) return result as ContentResult; // Ours to read, the caller's to keep.
  const extended = brand({ ...result, content: [...result.content, ...blocks] });
  const codec = codecOf(result);
  if (codec) rememberCodec(extended, codec);
  return extended as ContentResult; // The caller's own blocks, and texts.
}

/** An error is one envelope: what else was beside it is counted, not shown. */
function fitError(result: AnyToolResult, fits: Fits): ContentResult {
  const parsed = parseToolError(result);
  const texts = result.content.map(textIn).filter((text) => text !== '');
  const shown = parsed ? 1 : texts.length;
  const total = result.content.length;
  const fields: ErrorFields = parsed ?? { severity: 'error', message: texts.join('\n') };
  const details = shown < total ? { ...fields.details, parts_left_out: String(total - shown) } : fields.details;
  const shrunk = shrinkError({ ...fields, details }, (text) => fits([note(text)], undefined));
  const text = shrunk?.text ?? '<tool_error>\n<message>…</message>\n</tool_error>';
  const omissions: Omission[] = shown < total ? [{ path: '$', unit: 'parts', shown, total }] : [];
  const _meta = {
    ...result._meta,
    ...(shrunk ? { [ERROR_META_KEY]: errorTwin(shrunk.fields) } : {}),
    ...(omissions.length > 0 ? { [FIT_META_KEY]: { omissions } } : {}),
  };
  return brand({ content: [{ type: 'text', text }], isError: true, _meta });
}

/** A block, and the notes that follow it. */
type Part = readonly AnyContentBlock[];

interface Draft {
  readonly parts: readonly Part[];
  readonly structured: unknown;
  readonly omissions: readonly Omission[];
}

function fitContent(result: AnyToolResult, fits: Fits, notes: NoteOptions): ContentResult {
  const passes = ({ parts, structured }: Draft) => fits(parts.flat(), structured);
  const codec = codecOf(result);
  const sources = result.content.map((block, index) => readData(textIn(block), index === 0 ? codec : undefined));
  const twin = sources.findIndex((source) => source && isSameData(source.value, result.structuredContent));

  let draft: Draft = {
    parts: result.content.map((block) => [block]),
    structured: result.structuredContent,
    omissions: [],
  };
  if (draft.structured !== undefined && twin === -1) draft = cutStructured(draft, fits, notes);
  for (const index of largestFirst(result.content, binaryLength)) {
    if (passes(draft)) break;
    draft = { ...draft, parts: draft.parts.with(index, [note(`[${describe(result.content[index]!)} left out]`)]) };
  }
  for (const index of largestFirst(result.content, textLengthIn(result.content))) {
    if (passes(draft)) break;
    draft = cutPart(draft, index, sources[index], index === twin, passes, notes);
  }
  if (!passes(draft)) {
    // A long hint may be what does not fit.
    if (notes.more !== undefined || notes.page) return fitContent(result, fits, {});
    draft = keepFirst(draft, passes, notes);
  }

  const shortened: ContentResult = {
    // The caller's own blocks, and texts.
    content: draft.parts.flat().map((block) => ({ ...block })) as ContentBlock[],
    _meta: { ...result._meta, [FIT_META_KEY]: { omissions: draft.omissions } },
  };
  if (draft.structured !== undefined) {
    shortened.structuredContent = draft.structured as Record<string, unknown>; // Of the kind that the caller gave.
  }
  if (codec) rememberCodec(shortened, codec);
  return brand(shortened);
}

/** `structuredContent` that no text of the result repeats is cut by itself. */
function cutStructured(draft: Draft, fits: Fits, notes: NoteOptions): Draft {
  if (fits([], draft.structured)) return draft;
  const { value, omissions } = cutValue(draft.structured, (cut) => fits([], cut.value));
  return { parts: [...draft.parts, [note(noteText(omissions, notes))]], structured: value, omissions };
}

function cutPart(
  draft: Draft,
  index: number,
  source: Source | undefined,
  isTwin: boolean,
  passes: (draft: Draft) => boolean,
  notes: NoteOptions,
): Draft {
  const block = draft.parts[index]![0]!;
  const rewrite = (text: string, omissions: readonly Omission[], structured: unknown): Draft => {
    const added = omissions.length === 0 ? [] : [note(noteText(omissions, notes))];
    return {
      parts: draft.parts.with(index, [withText(block, text), ...added]),
      structured,
      omissions: [...draft.omissions, ...omissions],
    };
  };
  if (source) {
    const whole = rewrite(source.encode(source.value), [], draft.structured);
    if (passes(whole)) return whole;
    const at = (cut: CutValue) =>
      rewrite(source.encode(cut.value), cut.omissions, isTwin ? cut.value : draft.structured);
    const cut = at(cutValue(source.value, (candidate) => passes(at(candidate))));
    if (passes(cut) || isTwin) return cut;
  }
  const at = (cut: CutText) => rewrite(cut.text, [cut.omission], draft.structured);
  return at(cutText(textIn(block), (candidate) => passes(at(candidate))));
}

/** Many small blocks are too much together: the first ones stay. */
function keepFirst(draft: Draft, passes: (draft: Draft) => boolean, notes: NoteOptions): Draft {
  const total = draft.parts.length;
  const first = (shown: number): Draft => {
    const omissions: Omission[] = [...draft.omissions, { path: '$', unit: 'parts', shown, total }];
    return {
      ...draft,
      parts: [...draft.parts.slice(0, shown), [note(noteText(omissions.slice(-1), notes))]],
      omissions,
    };
  };
  return first(largest(total - 1, (shown) => passes(first(shown))));
}

interface Source {
  readonly value: unknown;
  encode(value: unknown): string;
}

/** Levels; below the stack that taking data apart, and writing it again, has to itself. */
const DEEPEST = 1000;

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((child) => isWithin(child, levels - 1));
}

/** The data that a text stands for, if it is data at all. Pretty JSON is written compactly: that alone may be enough. */
function readData(
  text: string,
  codec: TextCodec | undefined,
): { value: unknown; encode(value: unknown): string } | undefined {
  try {
    if (codec) return { value: codec.decode(text), encode: codec.encode };
    if (/^\s*[[{]/.test(text)) {
      const value: unknown = JSON.parse(text);
      if (isWithin(value, DEEPEST)) return { value, encode: JSON.stringify };
    }
  } catch {
    // Not data after all, or too deep to be taken apart: it is cut as text.
  }
  return undefined;
}

function describe(block: AnyContentBlock): string {
  const bytes = Math.floor((binaryLength(block) * 3) / 4);
  const kind = block.type === 'image' || block.type === 'audio' ? `${block.type} (${block.mimeType})` : 'resource';
  return `${kind} of ${bytes} bytes`;
}

function textIn(block: AnyContentBlock): string {
  if (block.type === 'text') return block.text;
  return block.type === 'resource' && 'text' in block.resource ? block.resource.text : '';
}

// Among many blocks, cutting one that is shorter than the note about it gains nothing.
const WORTH_CUTTING = 200;

function textLengthIn(content: Part): (block: AnyContentBlock) => number {
  const least = content.length > 3 ? WORTH_CUTTING : 0;
  return (block) => (textIn(block).length > least ? textIn(block).length : 0);
}

function withText(block: AnyContentBlock, text: string): AnyContentBlock {
  if (block.type === 'text') return { ...block, text };
  return block.type === 'resource' && 'text' in block.resource
    ? { ...block, resource: { ...block.resource, text } }
    : block;
}

/** Indexes of the blocks with any size, the largest first. */
function largestFirst(content: readonly AnyContentBlock[], sizeOf: (block: AnyContentBlock) => number): number[] {
  return content
    .map((block, index) => ({ index, size: sizeOf(block) }))
    .filter(({ size }) => size > 0)
    .sort((a, b) => b.size - a.size)
    .map(({ index }) => index);
}
