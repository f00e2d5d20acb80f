/** What the model is told of what it does not see. */
import type { TextBlock } from '../types.js';
import type { Omission } from './cut-text.js';
import type { Page } from './paginate.js';

export interface NoteOptions {
  /**
   * How to get the rest, in words for the model: a cursor, an offset, a filter. A function is told what was left out
   * first, so that it can name the right offset.
   */
  readonly more?: string | ((left: Omission) => string);
  /** The page of `paginate` that the result shows: the note then gives the cursor for what comes next, cut or not. */
  readonly page?: Pick<Page<unknown>, 'items' | 'offset' | 'total' | 'nextCursor' | 'cursorAfter'>;
}

export function note(text: string): TextBlock {
  return { type: 'text', text };
}

/** The note under a page that is shown whole and is not the last. */
export function pageNotes({ page }: NoteOptions): TextBlock[] {
  if (page?.nextCursor === undefined) return [];
  return [note(`[${itemsShown(page, page.items.length)}. To get more: ${cursorHint(page.nextCursor)}.]`)];
}

/** Short whatever happens, for it counts too: the first omission, which is the largest, and whether there are others. */
export function noteText(omissions: readonly Omission[], options: NoteOptions): string {
  const first = omissions[0]!;
  const others = omissions.length > 1 ? '; more is shortened elsewhere' : '';
  const hint = hintFor(first, options);
  const wayOut = hint === undefined ? 'Ask for less at a time to see the rest.' : `To get the rest: ${hint}.`;
  return `[${whatIsShown(first, options)}${others}. ${wayOut}]`;
}

function whatIsShown({ path, unit, shown, total }: Omission, { page }: NoteOptions): string {
  if (unit === 'texts') return `${total - shown} long texts are shortened`;
  // By its place in the whole list: the page is not all there is.
  if (page && isOfPage({ unit, total }, page) && shown > 0) return itemsShown(page, shown);
  const where = path === '$' ? '' : ` of ${/^[ -~]{3,40}$/.test(path) ? path.slice(2) : 'a list'}`;
  return `${shown} of ${total} ${unit}${where} shown, ${total - shown} left out`;
}

function itemsShown(page: NonNullable<NoteOptions['page']>, shown: number): string {
  return `Items ${page.offset + 1} to ${page.offset + shown} of ${page.total} shown`;
}

function hintFor(first: Omission, { more, page }: NoteOptions): string | undefined {
  if (more !== undefined) return typeof more === 'function' ? more(first) : more;
  if (page === undefined) return undefined;
  // Where the page's own items were cut, the next page starts with the first that was left out. Where none of them was
  // shown, that would be this page again, and again.
  if (isOfPage(first, page)) return first.shown > 0 ? cursorHint(page.cursorAfter(first.shown)) : undefined;
  return page.nextCursor === undefined ? undefined : cursorHint(page.nextCursor);
}

function isOfPage({ unit, total }: Pick<Omission, 'unit' | 'total'>, page: NonNullable<NoteOptions['page']>): boolean {
  return unit === 'items' && total === page.items.length;
}

function cursorHint(cursor: string): string {
  return `call again with cursor ${cursor}`;
}
