/** The regression set on servers that are installed here: their real tools, listed over stdio. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Query, readQueries } from '../../bench/search/data.js';
import { listOverStdio } from '../../bench/search/live-tools.js';
import { createToolIndex, type ListedTool } from '../../src/index.js';

const require = createRequire(import.meta.url);
const SERVERS = [
  { name: 'filesystem', args: ['.'] },
  { name: 'memory', args: [] },
  { name: 'everything', args: ['stdio'] },
  { name: 'sequential-thinking', args: [] },
];

let tools: ListedTool[] = [];

beforeAll(async () => {
  const lists = await Promise.all(
    SERVERS.map(async ({ name, args }) => {
      const folder = dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`));
      const listed = await listOverStdio({ command: process.execPath, args: [join(folder, 'dist/index.js'), ...args] });
      return listed.map((tool) => ({ serverName: name, tool }));
    }),
  );
  tools = lists.flat();
});

function queriesFor(kind: 'tasks' | 'steps'): Query[] {
  const path = fileURLToPath(new URL('../../bench/queries/published-servers.json', import.meta.url));
  const names = new Set(tools.map(({ tool }) => tool.name));
  return readQueries(path)[kind].filter(({ gold }) => gold.every((name) => names.has(name)));
}

const search = (query: string): string[] =>
  createToolIndex(tools)
    .search(query, { limit: 5 })
    .hits.map(({ tool }) => tool.name);

describe('queries for installed servers', () => {
  test('nearly every single wish is found among the first five tools', () => {
    const steps = queriesFor('steps');
    expect(steps.length).toBeGreaterThanOrEqual(18);
    const missed = steps.filter(({ query, gold }) => !search(query).some((name) => gold.includes(name)));
    expect(missed.map(({ query }) => query)).toHaveLength(Math.min(missed.length, Math.floor(steps.length * 0.1)));
  });

  test('most tools of a whole task are found among the first five', () => {
    const tasks = queriesFor('tasks');
    expect(tasks.length).toBeGreaterThan(0);
    const recalls = tasks.map(
      ({ query, gold }) => gold.filter((name) => search(query).includes(name)).length / gold.length,
    );
    expect(recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length).toBeGreaterThanOrEqual(0.6);
  });
});
