import { describe, expect, test } from 'vitest';
import { type IMcpProxyToolOptions, McpProxyTool } from '../../src/index.js';
import { aTool, FakeUpstream, providerOf, specsOf } from '../support/fake-upstream.js';

function aProxy(options: IMcpProxyToolOptions) {
  const upstreams = {
    files: new FakeUpstream([aTool('read_file', 'Reads a file.'), aTool('write_file', 'Writes a file.')]),
    git: new FakeUpstream([aTool('log', 'Shows the history.')]),
  };
  return { tool: new McpProxyTool(providerOf(upstreams), specsOf(upstreams), options).asTool() };
}

describe('the rank hook', () => {
  test('orders, drops, and may not invent; its failure leaves the order', async () => {
    const seen: number[] = [];
    const { tool } = aProxy({
      rankCandidates: 'all',
      rank: ({ candidates }) => {
        seen.push(candidates.length);
        const invented = { serverName: 'evil', tool: aTool('evil'), score: 1 };
        return [invented, ...candidates.filter((hit) => hit.tool.name === 'log')];
      },
    });
    expect(await tool.execute({ search: 'file' })).toMatch(/^- git: log\(input\)/);
    expect(seen).toEqual([3]);
    const log: string[] = [];
    const failing = aProxy({
      rank: () => Promise.reject(new Error('no model')),
      debugLog: (line) => log.push(line),
    });
    expect(await failing.tool.execute({ search: 'file' })).toMatch(/^- files: read_file/);
    expect(log.join()).toContain('no model');
  });

  test('that copies its candidates has failed, and one that repeats them shows each once', async () => {
    const log: string[] = [];
    const copying = aProxy({
      rank: ({ candidates }) => candidates.map((hit) => ({ ...hit })),
      debugLog: (line) => log.push(line),
    });
    expect(await copying.tool.execute({ search: 'file' })).toMatch(/^- files: read_file/);
    expect(log.join()).toContain('none of its candidates');
    const repeating = aProxy({ rank: ({ candidates }) => [...candidates, ...candidates] });
    expect((await repeating.tool.execute({ search: 'file' })).match(/read_file/g)).toHaveLength(1);
  });
});
