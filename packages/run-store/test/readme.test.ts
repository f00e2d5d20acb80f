import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const readme = await readFile(`${root}README.md`, 'utf8');

describe('the README', () => {
  it('shows the examples as they are', async () => {
    const snippets = [...readme.matchAll(/<!-- (\S+)#(\S+) -->\n```ts\n([\s\S]*?)```/g)];
    expect(snippets.length).toBeGreaterThan(1);
    for (const [, file, region, shown] of snippets) {
      const example = await readFile(`${root}${file}`, 'utf8');
      const text = example.split(`// #region ${region}\n`)[1]?.split('// #endregion')[0];
      expect(shown).toBe(text);
    }
  });

  it('links only to files that are there', async () => {
    for (const [, target] of readme.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)) {
      await expect(stat(`${root}${target}`)).resolves.toBeDefined();
    }
  });

  it('names every code that the package throws', async () => {
    const errors = await readFile(`${root}src/errors.ts`, 'utf8');
    for (const [, code] of errors.matchAll(/^ {2}\| '([A-Z_]+)'/gm)) expect(readme).toContain(`\`${code}\``);
  });

  it('names every option of a store', async () => {
    const options = await readFile(`${root}src/engine/options.ts`, 'utf8');
    const engine = options.split('export interface RunStoreEngineOptions')[1]!.split('\n}')[0]!;
    for (const [, option] of engine.matchAll(/^ {2}readonly (\w+)\?:/gm)) expect(readme).toContain(`\`${option}\``);
  });
});

describe('an example', () => {
  it.each([
    ['quick-start.ts', '1 resumed not_found', () => import('../examples/quick-start.js')],
    ['claim-worker.ts', 'paid paid', () => import('../examples/claim-worker.js')],
  ])('%s prints what its comment says', async (file, printed, run) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await run();
    expect(log.mock.calls.map((line) => line.join(' '))).toEqual([printed]);
    expect(await readFile(`${root}examples/${file}`, 'utf8')).toContain(`// ${printed}`);
    log.mockRestore();
  });

  it('of every file is known to a test', async () => {
    const recipes = (await readdir(`${root}test/recipes`)).join(' ');
    for (const file of await readdir(`${root}examples`)) {
      if (file === 'quick-start.ts' || file === 'claim-worker.ts') continue;
      expect(recipes).toContain(file.replace('.ts', '.test.ts'));
    }
  });
});
