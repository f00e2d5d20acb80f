import { describe, expect, test } from 'vitest';
import { McpProxyTool } from '../src/index.js';
import { aTool, FakeUpstream, providerOf, specsOf } from './support/fake-upstream.js';

function aProxy(
  upstreams = {
    files: new FakeUpstream([aTool('read_file'), aTool('write_file')]),
    git: new FakeUpstream([aTool('log')]),
  },
) {
  const proxy = new McpProxyTool(providerOf(upstreams), specsOf(upstreams));
  return { upstreams, proxy, tool: proxy.asTool() };
}

describe('the mcp tool', () => {
  test('constructing it, and asking for its status, connects nothing', async () => {
    const { tool, upstreams } = aProxy();
    expect(await tool.execute({})).toMatch(/^files: not connected\ngit: not connected/);
    expect(upstreams.files.connects + upstreams.git.connects).toBe(0);
  });

  test('search, describe and call find their way to the upstream', async () => {
    const { tool, upstreams } = aProxy();
    expect(await tool.execute({ search: 'write' })).toContain('files: write_file(input)');
    expect(await tool.execute({ describe: 'log', server: 'git' })).toContain('- input: string, required');
    expect(await tool.execute({ tool: 'log', args: { input: 'x' } })).toBe('done');
    expect(upstreams.git.calls).toMatchObject([{ toolName: 'log', args: { input: 'x' } }]);
  });
});
