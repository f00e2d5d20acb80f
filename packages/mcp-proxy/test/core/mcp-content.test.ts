import { describe, expect, test } from 'vitest';
import { McpProxyTool } from '../../src/index.js';
import { aTool, FakeUpstream, providerOf, specsOf } from '../support/fake-upstream.js';

function aProxy(answer: unknown) {
  const files = new FakeUpstream([aTool('read')]);
  files.onCall = () => answer;
  return new McpProxyTool(providerOf({ files }), specsOf({ files }));
}

describe('for a host that takes MCP content', () => {
  const rich = {
    content: [
      { type: 'text', text: 'a', annotations: { audience: ['user'] } },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } },
      { type: 'resource_link', uri: 'file:///b', name: 'b' },
    ],
    structuredContent: { n: 1 },
    isError: true,
    _meta: { 'example.com/x': 1 },
  };

  test.each([
    ['a rich result', rich],
    [
      'an input_required result',
      { resultType: 'input_required', inputRequests: { a: { method: 'elicitation/create' } }, requestState: 's' },
    ],
    ['a task', { resultType: 'task', taskId: '1' }],
  ])('%s is handed through as it came', async (_name, answer) => {
    expect(await aProxy(answer).run({ tool: 'read' })).toBe(answer);
  });

  test('structured content alone gets its text beside it', async () => {
    expect(await aProxy({ structuredContent: { n: 1 } }).run({ tool: 'read' })).toEqual({
      structuredContent: { n: 1 },
      content: [{ type: 'text', text: '{\n  "n": 1\n}' }],
    });
  });

  test.each([
    [undefined, '(no result)'],
    ['text', 'text'],
    [{ any: 1 }, '{\n  "any": 1\n}'],
  ])('%j becomes one text block', async (answer, text) => {
    expect(await aProxy(answer).run({ tool: 'read' })).toEqual({ content: [{ type: 'text', text }] });
  });

  test('what the proxy says itself is one text block, an error where nothing was done', async () => {
    const proxy = aProxy('x');
    expect(await proxy.run({ search: 'read' })).toEqual({
      content: [{ type: 'text', text: expect.stringContaining('files: read') }],
    });
    expect(await proxy.run({ tool: 'none' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('"none"') }],
    });
    expect(await proxy.run({ server: 'none' })).toMatchObject({ isError: true });
    expect(await proxy.run({ tool: 'read', args: '[' })).toMatchObject({ isError: true });
  });
});
