import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const readme = await readFile(`${root}README.md`, 'utf8');

describe('the README', () => {
  test('shows the examples as they are, each of them', async () => {
    const snippets = [...readme.matchAll(/<!-- (\S+)#(\S+) -->\n```ts\n([\s\S]*?)```/g)];
    for (const [, file, region, shown] of snippets) {
      const example = await readFile(`${root}${file}`, 'utf8');
      expect(shown).toBe(example.split(`// #region ${region}\n`)[1]?.split('// #endregion')[0]);
    }
    const files = (await readdir(`${root}examples`)).map((file) => `examples/${file}`);
    expect(snippets.map(([, file]) => file).sort()).toEqual(files.sort());
  });

  test('links only to files that are there', async () => {
    for (const [, target] of readme.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)) {
      await expect(stat(`${root}${target}`), target).resolves.toBeDefined();
    }
  });

  test('names every option, every event and every export', async () => {
    for (const [file, type] of [
      ['resolver', 'EraResolverOptions'],
      ['resolver', 'EraRequest'],
      ['client/options', 'ConnectOptions'],
    ]) {
      const source = await readFile(`${root}src/${file}.ts`, 'utf8');
      const body = source.split(new RegExp(`export interface ${type}\\b`))[1]?.split('\n}')[0] ?? '';
      const unsaid = ['setTimer', 'importModule']; // For tests, and for hosts that have their own.
      for (const [, option = ''] of body.matchAll(/^ {2}readonly (\w+)\??:/gm)) {
        if (!unsaid.includes(option)) expect(readme).toContain(`\`${option}\``);
      }
    }
    const events = (await readFile(`${root}src/resolver.ts`, 'utf8')).matchAll(/^ {4}\| '([a-z-]+)' \/\//gm);
    for (const [, event] of events) expect(readme).toContain(`\`${event}\``);
    for (const entry of ['index', 'http', 'store', 'stdio', 'node']) {
      for (const name of Object.keys(await import(`../src/${entry}.ts`))) {
        if (!['LEGACY_VERSIONS', 'MODERN_VERSIONS', 'parseEraRecord'].includes(name)) expect(readme).toContain(name);
      }
    }
  });
});

describe('an example prints what its comments say', () => {
  let lines: string[] = [];
  beforeEach(() => {
    lines = [];
    vi.spyOn(console, 'log').mockImplementation((...parts) => {
      lines.push(parts.map((part) => (typeof part === 'object' ? JSON.stringify(part) : String(part))).join(' '));
    });
  });
  afterEach(() => vi.restoreAllMocks());

  const url = inject('redisUrl');
  test.for(['quick-start', 'connect', 'undetermined', 'fleet', 'own-transport', 'classify'])(
    '%s',
    async (name, { skip }) => {
      if (name === 'fleet' && !url) skip('there is no Redis');
      if (url) process.env.REDIS_URL = url;
      await import(`../examples/${name}.ts`);
      const text = await readFile(`${root}examples/${name}.ts`, 'utf8');
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines)
        expect(text.replaceAll(/[{} ":,]/g, '')).toContain(`//${line}`.replaceAll(/[{} ":,]/g, ''));
    },
  );
});
