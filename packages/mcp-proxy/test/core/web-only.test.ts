import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Every file that the core entry reaches, with what each of them imports. */
function reach(entry: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const open = [entry];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    const source = readFileSync(file, 'utf8');
    const imports = [...source.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map((match) => match[1]!);
    found.set(file, imports);
    for (const path of imports.filter((name) => name.startsWith('.'))) {
      const target = resolve(dirname(file), path.replace(/\.js$/, '.ts'));
      expect(existsSync(target), `${path} in ${file}`).toBe(true);
      open.push(target);
    }
  }
  return found;
}

test('the core entry imports nothing but its own files, and uses no global of one runtime', () => {
  const files = reach(fileURLToPath(new URL('../../src/index.ts', import.meta.url)));
  expect(files.size).toBeGreaterThan(30);
  for (const [file, imports] of files) {
    expect(
      imports.filter((name) => !name.startsWith('.')),
      file,
    ).toEqual([]);
    expect(readFileSync(file, 'utf8'), file).not.toMatch(/\b(?:process\.|Buffer\b|setImmediate|__dirname|require\()/);
  }
});
