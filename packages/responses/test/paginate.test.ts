import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compact, fit, fromError, paginate, parseToolError, readCompact } from '../src/index.js';
import { caught } from './support/thrown.js';

describe('paginate', () => {
  const items = Array.from({ length: 120 }, (_, index) => index);

  test('walks the list page by page to its end', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 1, max: 70 }),
        fc.string(),
        (count, pageSize, scope) => {
          const list = Array.from({ length: count }, (_, index) => index);
          const seen: number[] = [];
          let cursor: string | undefined;
          do {
            const page = paginate(list, { cursor, pageSize, scope });
            expect(page).toMatchObject({ offset: seen.length, total: count });
            seen.push(...page.items);
            cursor = page.nextCursor;
          } while (cursor !== undefined);
          expect(seen).toEqual(list);
        },
      ),
    );
  });

  test('starts at the beginning without a cursor', () => {
    expect(paginate(items).items).toEqual(items.slice(0, 50));
    expect(paginate(items, { cursor: null }).offset).toBe(0);
  });

  test('cursors say nothing to the model', () => {
    expect(paginate(items).nextCursor).toMatch(/^[\w-]+$/);
    expect(paginate(items).nextCursor).not.toContain('50');
  });

  test('a cursor that we did not write for this list is refused with the way out', () => {
    const cursor = paginate(items, { scope: 'status=open' }).nextCursor!;
    const wrong = [
      '',
      'x',
      '50',
      'p1.50.abc',
      btoa('p1.50.abc'),
      btoa('p1.-1.x'),
      cursor.slice(1),
      `${cursor}A`,
      'ä',
      'A'.repeat(1000),
      5,
      {},
    ];
    for (const other of wrong) {
      expect(caught(() => paginate(items, { cursor: other as string, scope: 'status=open' }))).toMatchObject({
        code: 'CURSOR_INVALID',
      });
    }
    expect(caught(() => paginate(items, { cursor, scope: 'status=closed' }))).toMatchObject({ code: 'CURSOR_INVALID' });
    const thrown = caught(() => paginate(items, { cursor: 'x' }));
    expect(parseToolError(fromError(thrown))).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('without a cursor'),
    });
  });

  test('any made-up cursor is refused or gives a page of the list', () => {
    fc.assert(
      fc.property(fc.oneof(fc.base64String(), fc.string()), (cursor) => {
        expect(caught(() => paginate(items, { cursor }))).toMatchObject({ code: 'CURSOR_INVALID' });
      }),
    );
  });

  test('a cursor with any one character changed is refused', () => {
    const cursor = paginate(items, { scope: 'a' }).nextCursor!;
    for (const [index, char] of [...cursor].entries()) {
      for (const other of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=') {
        if (other === char) continue;
        const changed = cursor.slice(0, index) + other + cursor.slice(index + 1);
        expect(caught(() => paginate(items, { cursor: changed, scope: 'a' }))).toMatchObject({
          code: 'CURSOR_INVALID',
        });
      }
    }
  });

  test('a scope or list of the wrong kind is refused, rather than shared by all of its kind', () => {
    expect(caught(() => paginate(items, { scope: { status: 'open' } as never }))).toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('scope'),
    });
    expect(caught(() => paginate(null as never))).toMatchObject({ code: 'INVALID_OPTION' });
  });

  test('a list that shrank has an empty last page', () => {
    const cursor = paginate(items, { pageSize: 100 }).nextCursor!;
    expect(paginate(items.slice(0, 10), { cursor })).toMatchObject({ items: [], total: 10 });
  });

  test('goes on after what fit kept of a page', () => {
    const rows = items.map((id) => ({ id, text: 'some words for every row' }));
    const page = paginate(rows, { pageSize: 100 });
    const answer = fit(compact(page.items), {
      maxChars: 600,
      more: ({ shown }) => `pass cursor ${page.cursorAfter(shown)}`,
    });
    const note = (answer.content[1] as { text: string }).text;
    const cursor = /pass cursor ([\w-]+)/.exec(note)![1]!;
    const [, shown] = /^\[(\d+) of 100/.exec(note)!;
    expect(paginate(rows, { cursor }).items[0]).toEqual(rows[Number(shown)]);
  });

  test('fit tells the cursor of the next page, cut or not, until there is none', () => {
    const rows = items.map((id) => ({ id, text: 'some words for every row' }));
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const page = paginate(rows, { cursor, pageSize: 50 });
      const limit = seen.length === 0 ? 100_000 : 900;
      const answer = fit(compact(page.items), { maxChars: limit, page });
      seen.push(...(readCompact(answer) as { id: number }[]).map((row) => row.id));
      const note = (answer.content[1] as { text: string } | undefined)?.text;
      if (seen.length === 50)
        expect(note).toMatch(/^\[Items 1 to 50 of 120 shown\. To get more: call again with cursor [\w-]+\.\]$/);
      cursor = note === undefined ? undefined : /call again with cursor ([\w-]+)/.exec(note)?.[1];
    } while (cursor !== undefined);
    expect(seen).toEqual(items);
  });

  test('an answer that fits only without the note about the page is cut, so that the model knows of the rest', () => {
    const page = paginate(
      items.map((id) => ({ id })),
      { pageSize: 60 },
    );
    const length = (compact(page.items).content[0] as { text: string }).text.length;
    const answer = fit(compact(page.items), { maxChars: length + 10, page });
    const [, note] = answer.content as { text: string }[];
    expect(note!.text).toMatch(/^\[Items 1 to \d+ of 120 shown\. To get the rest: call again with cursor/);
  });

  test('a page that was cut is told by its place in the whole list, not as if the page were all there is', () => {
    const rows = items.map((id) => ({ id, text: 'some words for every row' }));
    const cursor = paginate(rows, { pageSize: 20 }).nextCursor!;
    const page = paginate(rows, { pageSize: 50, cursor });
    const answer = fit(compact(page.items), { maxChars: 600, page });
    const last = (readCompact(answer) as { id: number }[]).at(-1)!.id + 1;
    const [, note] = answer.content as { text: string }[];
    expect(note!.text).toContain(`[Items 21 to ${last} of 120 shown. To get the rest: call again with cursor `);
    const next = /cursor ([\w-]+)/.exec(note!.text)![1]!;
    expect(paginate(rows, { cursor: next }).items[0]!.id).toBe(last);
  });

  test.each([0, -1, 1.5, Number.NaN, '5' as never])('a page size of %s is refused', (pageSize) => {
    expect(caught(() => paginate(items, { pageSize }))).toMatchObject({ code: 'INVALID_OPTION' });
  });
});
