import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { McpProxyTool } from '../../src/index.js';
import { createNodeProvider, type NodeProvider, specsOf } from '../../src/node/index.js';
import { installedServers } from '../fixtures/installed-servers.js';
import { aFolder, configOf, scripted, textOf } from '../fixtures/scripted.js';
import { heldTimers } from '../fixtures/scripted-proxy.js';

describe('real servers over stdio, side by side', () => {
  let provider: NodeProvider;
  let proxy: McpProxyTool;
  let folder: string;

  beforeAll(async () => {
    folder = await aFolder();
    await writeFile(join(folder, 'note.txt'), 'hello from a file');
    const configs = configOf(installedServers(folder));
    provider = createNodeProvider(configs);
    proxy = new McpProxyTool(provider, specsOf(configs));
  });
  afterAll(async () => {
    await proxy.closeAll();
    await provider.closeAll();
  });

  it.each(['everything', 'filesystem', 'memory', 'thinking'])(
    '%s is connected, in the era that it speaks',
    async (server) => {
      expect(textOf(await proxy.run({ connect: server }))).toContain(server);
      expect(provider.describe(server)).toEqual({ state: 'connected', era: 'legacy' });
    },
  );

  it('what is needed is found, described and called', async () => {
    expect(textOf(await proxy.run({ search: 'read a text file' }))).toContain('read_text_file');
    expect(textOf(await proxy.run({ describe: 'read_text_file' }))).toContain('path: string, required');
    const args = { path: join(folder, 'note.txt') };
    expect(textOf(await proxy.run({ tool: 'read_text_file', args }))).toBe('hello from a file');
    expect(textOf(await proxy.run({ tool: 'get-sum', args: { a: 2, b: 3 } }))).toContain('5');
    const image = await proxy.run({ tool: 'get-tiny-image' });
    expect(image.content.map(({ type }) => type)).toContain('image');
  });

  it('an error of a tool is one', async () => {
    const result = await proxy.run({ tool: 'read_text_file', args: { path: '/not/allowed' } });
    expect(result.isError).toBe(true);
  });

  it('a long call reports its progress', async () => {
    const steps: number[] = [];
    await proxy.run(
      { tool: 'trigger-long-running-operation', args: { duration: 1, steps: 3 } },
      { onProgress: ({ progress }) => steps.push(progress) },
    );
    expect(steps).toEqual([1, 2, 3]);
  });
});

it('a caller who gives up on a server as it was takes nothing from those who wait for it as it is now', async () => {
  const provider = createNodeProvider(configOf({ up: scripted('hang-on-start') }));
  try {
    const stop = new AbortController();
    const first = provider.connect('up', stop.signal).catch(String);
    const changed = provider.setServers(configOf({ up: scripted() }));
    const second = provider.connect('up');
    stop.abort(new Error('enough'));
    expect(await first).toContain('enough');
    expect((await second).alive).toBe(true);
    await changed;
  } finally {
    await provider.closeAll();
  }
});

it('a server that does not answer is given up at its limit, which no garbage collection takes away', async () => {
  const { setTimer, fire } = heldTimers();
  const configs = configOf({ up: scripted('hang-on-start', { connectTimeoutMs: 123_456 }) });
  const provider = createNodeProvider(configs, { setTimer });
  const connecting = provider.connect('up').catch((error: Error) => error);
  expect(fire(123_456)).toBe(1);
  expect(await connecting).toMatchObject({
    code: 'UPSTREAM_CONNECT_TIMEOUT',
    message: 'Server "up" did not answer within 123456 ms (connectTimeoutMs).',
  });
  await provider.closeAll();
});
