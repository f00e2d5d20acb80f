import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { admitTools, McpProxyTool } from '../../src/index.js';
import { aTool, FakeUpstream, providerOf, specsOf } from '../support/fake-upstream.js';

const good = aTool('good');

describe('the tools of a list', () => {
  test.each([
    ['no object', 5, /a number, not an object/],
    ['no name', { description: 'x' }, /no name/],
    ['a blank name', { name: '  ' }, /no name/],
    ['an endless name', { name: 'x'.repeat(300) }, /300 characters/],
    ['a name with invisible characters', { name: 'go\u200bod' }, /invisible/],
    ['a second tool of the same name', good, /listed twice/],
    ['a schema that is no object', { name: 'x', inputSchema: 'string' }, /inputSchema is a string/],
    ['a schema of something else', { name: 'x', inputSchema: { type: 'array' } }, /describes array/],
    ['an output schema that is no object', { name: 'x', outputSchema: [1] }, /outputSchema is an array/],
    [
      'a reference that leads nowhere',
      { name: 'x', inputSchema: { properties: { a: { $ref: '#/$defs/none' } } } },
      /#\/\$defs\/none/,
    ],
    ['too much text', { name: 'x', description: 'x'.repeat(300_000) }, /more than 262144 characters/],
    [
      'too many values',
      { name: 'x', inputSchema: { enum: Array.from({ length: 30_000 }, (_, i) => i) } },
      /more than 20000 values/,
    ],
  ])('%s drops that tool alone, with the reason', (_name, bad, reason) => {
    const { tools, dropped } = admitTools([good, bad, aTool('other')]);
    expect(tools.map((tool) => tool.name)).toEqual(['good', 'other']);
    expect(dropped).toEqual([{ toolName: expect.any(String), reason: expect.stringMatching(reason) }]);
  });

  test('a schema that is nested without end, or in a circle, is dropped in bounded time', () => {
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 100_000; level++) deep = { items: deep };
    const circle: Record<string, unknown> = {};
    circle.properties = { circle };
    const { tools, dropped } = admitTools([
      { name: 'deep', inputSchema: deep },
      { name: 'circle', inputSchema: circle },
      good,
    ]);
    expect(tools).toHaveLength(1);
    expect(dropped.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/levels deep/),
      expect.stringMatching(/levels deep|values/),
    ]);
  });

  test('a list that is no list, or endless, is bounded and named', () => {
    expect(admitTools({ tools: [] }).dropped[0]?.reason).toMatch(/an object, not an array/);
    const many = Array.from({ length: 6_000 }, (_, index) => ({ name: `t${index}` }));
    const { tools, dropped } = admitTools(many);
    expect(tools).toHaveLength(5_000);
    expect(dropped[0]?.reason).toMatch(/6000 tools; only the first 5000/);
  });

  test('a flood of definitions is bounded by what they have together', () => {
    const flood = Array.from({ length: 40 }, (_, index) => ({ name: `t${index}`, description: 'x'.repeat(200_000) }));
    const { tools, dropped } = admitTools([...flood, good]);
    expect(tools.map(({ name }) => name)).toEqual([...flood.slice(0, 20).map(({ name }) => name), 'good']);
    expect(dropped[0]?.reason).toMatch(/more than 4194304 characters together/);
  });

  test('fields that no tool has are left behind, and optional ones of a wrong type', () => {
    const listed = { ...good, title: 5, annotations: 'x', outputSchema: null, secret: 'x' };
    expect(admitTools([listed]).tools).toEqual([good]);
  });

  test('it never throws, and what it admits has a name that can be shown', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (listed) => {
        for (const tool of admitTools([listed, listed]).tools) expect(tool.name.trim()).not.toBe('');
      }),
    );
  });
});

test('a dropped tool is shown in the status, and the others work', async () => {
  const files = new FakeUpstream([good, { name: 'bad', inputSchema: { properties: { a: { $ref: '#/nowhere' } } } }]);
  const events: unknown[] = [];
  const proxy = new McpProxyTool(providerOf({ files }), specsOf({ files }), { onEvent: (event) => events.push(event) });
  const tool = proxy.asTool();
  await tool.execute({ connect: 'files' });
  expect(await tool.execute({})).toMatch(
    /files: connected \(1 tool\)\n {2}left out: bad: its inputSchema refers to "#\/nowhere"/,
  );
  expect(await tool.execute({ tool: 'good' })).toBe('done');
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'tool_dropped', serverName: 'files', toolName: 'bad' }),
  );
});
