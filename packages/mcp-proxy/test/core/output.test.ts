import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { McpProxyTool, type OutputOptions } from '../../src/index.js';
import { BoundedOutput } from '../../src/result/output.js';
import { aTool, FakeUpstream, providerOf, specsOf } from '../support/fake-upstream.js';

function anOutput(options: OutputOptions) {
  let made = 0;
  const log: string[] = [];
  const output = new BoundedOutput(options, { randomUUID: () => `uuid-${++made}`, debugLog: (line) => log.push(line) });
  return { output, log };
}

const cursorIn = (page: string): string | undefined => /"cursor":"([^"]+)"/.exec(page)?.[1];

describe('a long text answer', () => {
  test('a text within the bounds is given whole', async () => {
    const { output } = anOutput({ maxBytes: 1_000, maxLines: 10 });
    expect(await output.bound('short')).toBe('short');
  });

  test('is cut by lines, and read on by cursor until nothing is left', async () => {
    const { output } = anOutput({ maxLines: 2 });
    const first = await output.bound('a\nb\nc\nd\ne');
    expect(first).toMatch(/^a\nb\n\[Cut: the first 4 B of 9 B\. Read on: mcp\(\{"cursor":"uuid-1@4"\}\)\]$/);
    const second = output.read(cursorIn(first)!)!;
    expect(second).toMatch(/^c\nd\n\[Cut: up to 8 B of 9 B/);
    expect(output.read(cursorIn(second)!)).toBe('e');
  });

  test('the pages together are the text, whatever its characters and the bounds', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '字', '😀', '\n', ' '), maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.integer({ min: 401, max: 460 }),
        fc.integer({ min: 1, max: 9 }),
        async (whole, maxBytes, maxLines) => {
          const { output } = anOutput({ maxBytes, maxLines });
          let page = await output.bound(whole);
          let read = '';
          for (let cursor = cursorIn(page); cursor !== undefined; cursor = cursorIn(page)) {
            const body = page.slice(0, page.lastIndexOf('\n[Cut: '));
            expect(new TextEncoder().encode(page).length).toBeLessThanOrEqual(Math.max(maxBytes, 401) + 200);
            const next = Number(cursor.split('@')[1]);
            read += whole.slice(read.length, next);
            expect(read.replace(/\n$/, '').endsWith(body.split('\n').at(-1)!)).toBe(true);
            page = output.read(cursor)!;
          }
          expect(read + page).toBe(whole);
        },
      ),
    );
  });

  test('an unknown, old or made-up cursor reads nothing', async () => {
    const { output } = anOutput({ maxLines: 1, maxPendingBytes: 10 });
    const first = cursorIn(await output.bound('a\nb\nc'))!;
    const second = cursorIn(await output.bound('d\ne\nf'))!;
    await output.bound('g\nh\ni');
    expect(output.read(first)).toBeUndefined();
    expect(output.read(second)).toMatch(/^e/);
    for (const made of ['', 'x', '@', 'uuid-2@', 'uuid-2@-1', 'uuid-2@1e9', 'uuid-2@99'])
      expect(output.read(made)).toBeUndefined();
  });

  test('a text too large to keep says what to do', async () => {
    const { output } = anOutput({ maxLines: 1, maxPendingBytes: 4 });
    expect(await output.bound('aaa\nbbb\nccc')).toMatch(/too large to keep: ask the tool for less/);
  });

  test('the host may spill the whole text, and its failure falls back to a cursor', async () => {
    const spilled: string[] = [];
    const spill = async ({ text }: { text: string }) => {
      spilled.push(text);
      return 'Full text: /private/1.txt';
    };
    expect(await anOutput({ maxLines: 1, spill }).output.bound('a\nb')).toMatch(
      /^a\n\[Cut: .*Full text: \/private\/1\.txt\]$/,
    );
    expect(spilled).toEqual(['a\nb']);

    const failing = anOutput({ maxLines: 1, spill: () => Promise.reject(new Error('disk full')) });
    expect(await failing.output.bound('a\nb')).toContain('"cursor"');
    expect(failing.log.join()).toContain('disk full');
  });

  test('the mcp tool bounds a call and reads on', async () => {
    const upstreams = { files: new FakeUpstream([aTool('read')]) };
    upstreams.files.onCall = () => ({ content: [{ type: 'text', text: 'one\ntwo\nthree' }] });
    const tool = new McpProxyTool(providerOf(upstreams), specsOf(upstreams), { output: { maxLines: 2 } }).asTool();
    const first = await tool.execute({ tool: 'read' });
    expect(first).toMatch(/^one\ntwo\n\[Cut/);
    expect(await tool.execute({ cursor: cursorIn(first) })).toBe('three');
    expect(await tool.execute({ cursor: 'nonsense' })).toMatch(/Nothing is kept under this cursor/);
  });
});
