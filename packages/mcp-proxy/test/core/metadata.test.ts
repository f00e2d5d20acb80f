import { describe, expect, test } from 'vitest';
import { type IMcpMetadataStore, McpProxyTool, type McpServerMetadata } from '../../src/index.js';
import { aGate, aTool, FakeUpstream, ManualClock, providerOf, specsOf, until } from '../support/fake-upstream.js';

function aStore(initial: Record<string, unknown> = {}) {
  const stored = new Map(Object.entries(initial));
  const store: IMcpMetadataStore = {
    // A store gives back what is on its disk, whatever that is.
    load: async (serverName) => stored.get(serverName) as McpServerMetadata | undefined,
    save: async (serverName, metadata) => void stored.set(serverName, structuredClone(metadata)),
  };
  return { stored, store };
}

function aProxy(stored: (now: number) => Record<string, unknown>, tools: unknown = [aTool('read', 'Reads a file.')]) {
  const clock = new ManualClock();
  const metadata = aStore(stored(clock.now()));
  const files = new FakeUpstream(tools);
  const log: string[] = [];
  const options = { metadata: metadata.store, now: clock.now, debugLog: (line: string) => log.push(line) };
  const proxy = new McpProxyTool(providerOf({ files }), specsOf({ files }), options);
  return { clock, files, proxy, tool: proxy.asTool(), log, stored: metadata.stored };
}

const DAY = 24 * 60 * 60 * 1_000;
const known = (listedAt: number, more: object = {}) => ({
  files: { tools: [aTool('read', 'Reads a file.')], listedAt, ...more },
});

describe('stored tools', () => {
  test('make search, describe and status cover a server that is not connected', async () => {
    const { tool, files } = aProxy((now) => known(now - DAY));
    expect(await tool.execute({})).toContain('files: not connected (1 tool known)');
    expect(await tool.execute({ search: 'file' })).toContain('files: read(input)');
    expect(await tool.execute({ describe: 'read' })).toContain('Reads a file.');
    expect(files.connects).toBe(0);
  });

  test('a call connects, and goes by what the server lists then', async () => {
    const { tool, files } = aProxy((now) => known(now), [aTool('open')]);
    expect(await tool.execute({ tool: 'read' })).toContain('"files" has no tool called "read"');
    expect(files.calls).toEqual([]);
    expect(await tool.execute({ tool: 'open' })).toBe('done');
  });

  test.each([
    ['within their ttl', 1_000, 999, 0],
    ['past their ttl', 1_000, 1_000, 1],
    ['of ttl 0, which says nothing, within a week', 0, 6 * DAY, 0],
    ['without ttl, after a week', undefined, 7 * DAY, 1],
    ['from the future', undefined, -DAY, 1],
  ])('%s: connects are as expected', async (_name, ttlMs, age, connects) => {
    const { tool, files } = aProxy((now) => known(now - age, ttlMs === undefined ? {} : { ttlMs }));
    await tool.execute({ search: 'file' });
    expect(files.connects).toBe(connects);
  });

  test('that are stale are still searched when the server fails, and the answer says so', async () => {
    const { tool, files } = aProxy((now) => known(now - 8 * DAY));
    files.onConnect = () => Promise.reject(new Error('offline'));
    expect(await tool.execute({ search: 'file' })).toMatch(/files: read\(input\)[\s\S]*- files: offline/);
  });

  test.each([
    ['not an object', 'x'],
    ['without time', { tools: [] }],
    ['without tools', { listedAt: 1 }],
  ])('that are %s count as nothing', async (_name, damaged) => {
    const { tool, files } = aProxy(() => ({ files: damaged }));
    expect(await tool.execute({ search: 'file' })).toContain('files: read(input)');
    expect(files.connects).toBe(1);
  });

  test('are checked like listed ones', async () => {
    const { tool } = aProxy((now) => ({ files: { tools: [5, { name: 'x\u202e' }, aTool('read')], listedAt: now } }));
    const status = await tool.execute({});
    expect(status).toContain('not connected (1 tool known)');
    expect(status.match(/left out:/g)).toHaveLength(2);
  });

  test('are saved with every list, and before closing is done', async () => {
    const { tool, files, proxy, stored, clock } = aProxy(() => ({}));
    files.instructions = 'Be brief.';
    files.ttlMs = 5_000;
    await tool.execute({ connect: 'files' });
    await proxy.closeAll();
    expect(stored.get('files')).toEqual({
      tools: [aTool('read', 'Reads a file.')],
      instructions: 'Be brief.',
      listedAt: clock.now(),
      ttlMs: 5_000,
    });
  });

  test('a store that fails costs nothing but its memory', async () => {
    const { tool, log, proxy } = aProxy(() => ({}));
    const failing: IMcpMetadataStore = {
      load: () => Promise.reject(new Error('EACCES')),
      save: () => Promise.reject(new Error('ENOSPC')),
    };
    const files = new FakeUpstream([aTool('read')]);
    const other = new McpProxyTool(providerOf({ files }), specsOf({ files }), {
      metadata: failing,
      debugLog: (line) => log.push(line),
    });
    expect(await other.asTool().execute({ search: 'read' })).toContain('files: read(input)');
    await other.closeAll();
    expect(log.join()).toMatch(/EACCES.*ENOSPC/);
    await tool.execute({});
    await proxy.closeAll();
  });
});

test('a call waits for the list of the new connection, though fresh tools are known from the store', async () => {
  const { tool, files } = aProxy((now) => known(now), []);
  const gate = aGate();
  files.onList = () => gate.opened;
  const first = tool.execute({ tool: 'read' });
  await until(() => files.lists === 1);
  const second = tool.execute({ tool: 'read' });
  gate.open();
  expect(await first).toContain('has no tool called "read"');
  expect(await second).toContain('has no tool called "read"');
  expect(files.calls).toEqual([]);
});
