import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { FORMATS } from '../src/compact/formats.js';
import * as api from '../src/index.js';
import { renderGallery } from './support/gallery.js';
import { shapes } from './support/shapes.js';

const root = new URL('../', import.meta.url);
const readmeUrl = new URL('README.md', root);
const example = (name: string) => fileURLToPath(new URL(`examples/${name}.ts`, root));

/** Runs an example as its reader would, against the built package. */
async function run(name: string): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, ['--import', 'tsx', example(name)], { cwd: fileURLToPath(root) });
}

function section(text: string, name: string): string {
  return new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)\\n<!-- /${name} -->`).exec(text)?.[1] ?? '';
}

describe('the README', () => {
  test('shows in its gallery what the helpers really send (UPDATE_README=1 rewrites it)', () => {
    const readme = readFileSync(readmeUrl, 'utf8');
    const rendered = renderGallery();
    if (process.env.UPDATE_README) {
      const marks = /(<!-- gallery -->\n)[\s\S]*?(\n<!-- \/gallery -->)/;
      writeFileSync(
        readmeUrl,
        readme.replace(marks, (_all, start: string, end: string) => start + rendered + end),
      );
      return;
    }
    expect(section(readme, 'gallery')).toBe(rendered);
  });

  test('has a gallery whose snippets run as they stand, in plain JavaScript', () => {
    const [given = '', ...snippets] = [...renderGallery().matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!);
    expect(snippets.length).toBeGreaterThan(14);
    const data = given.replaceAll(/^import[\s\S]*?;\n/gm, '');
    for (const snippet of snippets) {
      const run = new Function('api', 'z', `const { ${Object.keys(api).join(', ')} } = api;\n${data}\n${snippet}`);
      expect(() => run(api, z), snippet).not.toThrow();
    }
  });

  test.each(['quick-start', 'both-sdks'])('shows the example %s as it is', (name) => {
    expect(readFileSync(readmeUrl, 'utf8')).toContain(`\`\`\`ts\n${readFileSync(example(name), 'utf8')}\`\`\``);
  });

  test('names every helper and every error code', () => {
    const readme = readFileSync(readmeUrl, 'utf8');
    for (const name of Object.keys(api)) expect(readme, name).toContain(name);
    const codes = readFileSync(new URL('src/response-error.ts', root), 'utf8').match(/^ {2}\| '[A-Z_]+'/gm) ?? [];
    expect(codes.length).toBeGreaterThan(8);
    for (const code of codes) expect(readme).toContain(code.replace(/[ |']/g, ''));
  });

  test('links to files that are there', () => {
    const readme = readFileSync(readmeUrl, 'utf8');
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(8);
    for (const link of links) expect(existsSync(new URL(link, readmeUrl)), link).toBe(true);
  });
});

describe('the examples run', () => {
  test('quick-start: a page in the cheapest notation with its cursor, and an error with its way out', async () => {
    const { stdout } = await run('quick-start');
    expect(stdout).toMatch(
      /^table: \d+ rows, columns divided by tab\nid\tcustomer\ttotal\tpaid\n1\tcustomer-0\t0\tfalse\n/,
    );
    expect(stdout).toMatch(/\[Items 1 to \d+ of 500 shown\. To get the rest: call again with cursor [\w-]+\.\]/);
    expect(stdout).toContain('<recovery>List all orders to see which customers there are.</recovery>');
  });

  test('both-sdks: one handler, registered with both', async () => {
    const { stdout } = await run('both-sdks');
    expect(JSON.parse(stdout)).toEqual({
      content: [{ type: 'text', text: '{"city":"Bern","celsius":21}' }],
      structuredContent: { city: 'Bern', celsius: 21 },
    });
  });
});

test('the README’s figures are those of this code', () => {
  const readme = readFileSync(readmeUrl, 'utf8');
  const table = readme.slice(readme.indexOf('## Figures'), readme.indexOf('## License'));
  const shown = [...table.matchAll(/^\| ([a-z ]+?) +\|(.*)\|$/gm)].map((match) => [
    match[1]!,
    ...match[2]!.split('|').map((cell) => cell.trim()),
  ]);
  const figures = shapes.map((shape) => figuresOf(shape.name, shape.make(100)));
  expect(shown.length).toBeGreaterThan(10);
  for (const row of shown.filter(([name]) => name !== 'shape'))
    expect(row).toEqual(figures.find(([name]) => name === row[0]));
});

/** Tokens against compact JSON, by o200k: pretty JSON, the best TOON, and what `compact` keeps. */
function figuresOf(name: string, data: unknown): string[] {
  const json = o200k(JSON.stringify(data));
  const percent = (tokens: number) => {
    const share = Math.round((tokens / json - 1) * 100);
    return `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.abs(share)} %`;
  };
  const toon = FORMATS.filter((format) => format.notation === 'toon').map((format) =>
    o200k(format.encode(data) ?? JSON.stringify(data)),
  );
  const kept = api.compact(data, { countTokens: o200k });
  const { format } = kept._meta['interlock/compact'] as { format: string };
  return [
    name,
    percent(o200k(JSON.stringify(data, null, 2))),
    percent(Math.min(...toon)),
    `${percent(o200k(kept.content[0]!.text))} (${format})`,
  ];
}
