/**
 * Real servers from npm, fetched by npx: `pnpm test:published`. Not part of `pnpm test`, which needs no network. Two minutes with
 * the packages in the cache of npm; a first run fetches some hundreds of megabytes and takes as long as that does.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProxyAnswer } from '../../src/index.js';
import { type OpenedProxy, openProxy } from '../../src/node/index.js';
import { livingGroups } from '../../src/node/process-groups.js';
import { aFolder, textOf } from '../fixtures/scripted.js';
import { entryOf, FIRST_START_MS, type PublishedServer, publishedServers } from './servers.js';

/** Times that a server is started before it counts as one that does not: a fetch may fail on its way. */
const ATTEMPTS = 3;

/** Tools that both the filesystem server and desktop-commander have. */
const SHARED_NAMES = [
  'create_directory',
  'get_file_info',
  'list_directory',
  'move_file',
  'read_file',
  'read_multiple_files',
  'write_file',
];

const folder = await aFolder();
const servers = publishedServers(folder);
const cache = process.env.npm_config_cache ?? join(homedir(), '.npm');
let opened: OpenedProxy;
const works = new Set<string>();

beforeAll(async () => {
  opened = await openProxy({
    config: { mcpServers: Object.fromEntries(servers.map((server) => [server.name, entryOf(server, cache)])) },
    stateFolder: join(folder, 'state'),
  });
});

afterAll(async () => {
  await opened.close();
  expect(livingGroups()).toEqual([]);
}, 120_000);

async function connect(server: PublishedServer): Promise<ProxyAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await opened.proxy.perform({ kind: 'connect', server: server.name });
    if (answer.kind === 'connected' || attempt === ATTEMPTS) return answer;
  }
}

describe('published servers', () => {
  // One after the other: side by side they would only fight over the network and two processors.
  for (const server of servers) {
    it(
      `${server.name} starts, lists its tools, and answers`,
      async ({ annotate }) => {
        const answer = await connect(server);
        if (answer.kind !== 'connected') {
          // A server that a new release, a missing account or the network keeps from starting is reported, and counted below.
          await annotate(textOf(await opened.proxy.run({ server: server.name })), 'warning');
          return;
        }
        works.add(server.name);
        expect(answer.tools.length).toBeGreaterThan(0);
        expect(answer.status.dropped).toEqual([]);
        if (!server.call) return;
        const { tool, args } = server.call;
        expect(textOf(await opened.proxy.run({ tool, server: server.name, args }))).toContain(server.call.answer);
      },
      ATTEMPTS * FIRST_START_MS + 60_000,
    );
  }

  it('at least twelve of them do', () => {
    expect([...works].length, `these did: ${[...works].join(', ')}`).toBeGreaterThanOrEqual(12);
  });

  it('of which two have tools of the same names are told apart, name by name', async () => {
    const listed = async (server: string): Promise<string[]> =>
      (await (await opened.provider.connect(server)).listTools()).map(({ name }) => name);
    const [ours, theirs] = [await listed('filesystem'), await listed('desktop-commander')];
    const shared = ours.filter((name) => theirs.includes(name));
    // The versions are fixed, and these are what both of them list.
    expect([...shared].sort()).toEqual(SHARED_NAMES);
    for (const tool of ours) {
      const answer = await opened.proxy.perform({ kind: 'describe', tool });
      expect(answer.kind, tool).toBe(shared.includes(tool) ? 'ambiguous' : 'described');
    }
    for (const tool of shared) {
      const answer = await opened.proxy.perform({ kind: 'call', tool, args: {} });
      expect(answer).toMatchObject({ kind: 'ambiguous' });
      if (answer.kind !== 'ambiguous') continue;
      const servers = answer.candidates.map(({ serverName }) => serverName).sort();
      expect(servers).toEqual(['desktop-commander', 'filesystem']);
    }
    const args = { path: folder };
    expect(textOf(await opened.proxy.run({ tool: 'list_directory', server: 'filesystem', args }))).toContain('state');
  });

  it('are all searched at once', async () => {
    const answer = await opened.proxy.perform({ kind: 'search', query: 'create a directory' });
    expect(answer).toMatchObject({ kind: 'hits' });
    if (answer.kind === 'hits') expect(answer.hits[0]?.tool.name).toMatch(/create_directory/);
  });
});
