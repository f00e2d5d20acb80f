/** Pages of a list, with cursors that say nothing and cannot be mistaken for another list's. */
import { checkObject } from '../check.js';
import { ResponseError } from '../response-error.js';

export interface PaginateOptions {
  /** What the caller sent, from an earlier page; absent or null for the first. */
  readonly cursor?: string | null | undefined;
  /** Items a page. Default 50. */
  readonly pageSize?: number;
  /** What the list depends on (query, filter, sort): a cursor works only with the same scope. */
  readonly scope?: string;
}

export interface Page<T> {
  readonly items: T[];
  /** For the next page; absent on the last one. */
  readonly nextCursor?: string;
  /** Index of the first item of this page in the whole list. */
  readonly offset: number;
  readonly total: number;
  /** The cursor that continues after the first `shown` items of this page, where fewer of them were sent. */
  cursorAfter(shown: number): string;
}

/**
 * Cuts one page out of `items`. The cursor is opaque and checked: one that was made up, cut short, or comes from another
 * scope is refused. It holds a position and nothing else, so it grants nothing; where the list may have changed between
 * two pages, the position still is one in the list as it is now.
 *
 * @throws ResponseError `CURSOR_INVALID` (tell the model to start over) | `INVALID_OPTION`
 * @example
 * ```ts
 * const page = paginate(rows, { cursor: args.cursor, pageSize: 100, scope: args.filter });
 * return fit(compact(page.items), { maxTokens: 5000, page });
 * ```
 */
export function paginate<T>(items: readonly T[], options: PaginateOptions = {}): Page<T> {
  checkObject(options, 'paginate: options');
  const { cursor, pageSize = 50, scope = '' } = options;
  if (!Array.isArray(items)) throw new ResponseError('INVALID_OPTION', 'paginate: the items must be an array.');
  if (typeof scope !== 'string') {
    // Any two objects have the same text: cursors of one filter would work with another.
    throw new ResponseError('INVALID_OPTION', 'paginate: scope must be a string; JSON.stringify() a filter object.');
  }
  if (!(Number.isSafeInteger(pageSize) && pageSize > 0)) {
    throw new ResponseError(
      'INVALID_OPTION',
      `paginate: pageSize is ${String(pageSize)}; it must be a whole number above 0.`,
    );
  }
  const offset = cursor === undefined || cursor === null ? 0 : Math.min(readCursor(cursor, scope), items.length);
  const page = items.slice(offset, offset + pageSize);
  const next = offset + page.length;
  const cursorAfter = (shown: number): string =>
    writeCursor(offset + Math.min(Math.max(0, Math.trunc(shown) || 0), page.length), scope);
  return {
    items: page,
    ...(next < items.length ? { nextCursor: cursorAfter(page.length) } : {}),
    offset,
    total: items.length,
    cursorAfter,
  };
}

const VERSION = 'p1';

/** Base64url of `p1.<offset>.<check>`; the check covers offset and scope. */
function writeCursor(offset: number, scope: string): string {
  return btoa(`${VERSION}.${offset}.${check(offset, scope)}`)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function readCursor(cursor: unknown, scope: string): number {
  const position = positionIn(cursor);
  // Written again it must be the same text: base64 has several for the same bytes, and we wrote one of them.
  if (position !== undefined && writeCursor(position, scope) === cursor) return position;
  throw new ResponseError(
    'CURSOR_INVALID',
    'The cursor is not one of this list. Call again without a cursor to start from the first page.',
  );
}

function positionIn(cursor: unknown): number | undefined {
  if (typeof cursor !== 'string' || cursor.length > 200) return undefined;
  try {
    const [, position = ''] = atob(cursor.replaceAll('-', '+').replaceAll('_', '/')).split('.');
    return /^\d{1,15}$/.test(position) ? Number(position) : undefined;
  } catch {
    // Not base64: as wrong as any other text that we did not write.
    return undefined;
  }
}

/** FNV-1a, 32 bits: it finds mistakes. It is no signature, and a position needs none. */
function check(offset: number, scope: string): string {
  let hash = 0x811c9dc5;
  for (const char of `${offset}\n${scope}`) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193);
  return (hash >>> 0).toString(36);
}
