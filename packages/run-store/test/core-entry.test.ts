import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));

/** Every module that `file` imports at run time, itself included. */
async function modulesOf(file: string, seen = new Set<string>()): Promise<Set<string>> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = await readFile(file, 'utf8');
  for (const [, specifier] of text.matchAll(/^(?:import|export)\s(?!type\s)(?:[^'"]*from\s+)?'([^']+)'/gm)) {
    if (specifier!.startsWith('.')) await modulesOf(join(dirname(file), specifier!.replace(/\.js$/, '.ts')), seen);
    else seen.add(specifier!);
  }
  return seen;
}

describe('the core entry', () => {
  it('imports nothing of Node and no package, so that it runs anywhere', async () => {
    const modules = [...(await modulesOf(join(src, 'index.ts')))];
    expect(modules.length).toBeGreaterThan(15);
    expect(modules.filter((module) => !module.startsWith(src))).toEqual([]);
  });

  it('leaves Postgres free of Node too, since PGlite runs in browsers', async () => {
    const modules = [...(await modulesOf(join(src, 'postgres.ts')))];
    expect(modules.filter((module) => !module.startsWith(src))).toEqual([]);
  });

  it('uses no global that only Node has', async () => {
    for (const module of await modulesOf(join(src, 'index.ts'))) {
      const code = (await readFile(module, 'utf8')).replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      expect(code).not.toMatch(/\b(Buffer|process|setImmediate|require)\s*[.(]/);
    }
  });
});
