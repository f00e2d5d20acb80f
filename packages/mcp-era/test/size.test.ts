import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';

const KILOBYTE = 1024;
const pathOf = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

async function bundle(entry: string): Promise<{ code: string; imports: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [pathOf(`src/${entry}.ts`)],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    metafile: true,
    external: ['node:*', '@modelcontextprotocol/*'],
  });
  const imports = Object.values(metafile.outputs).flatMap((output) =>
    output.imports.filter(({ external }) => external),
  );
  return { code: outputFiles[0]?.text ?? '', imports: imports.map(({ path }) => path) };
}

describe('the core entry', () => {
  let core: Awaited<ReturnType<typeof bundle>>;
  beforeAll(async () => {
    core = await bundle('index');
  });

  test('is at most 4 KB, minified and gzipped', () => {
    expect(gzipSync(core.code, { level: 9 }).length).toBeLessThanOrEqual(4 * KILOBYTE);
  });

  test('imports nothing: no node:, no SDK, no other package', () => {
    expect(core.imports).toEqual([]);
    expect(core.code).not.toMatch(/\brequire\(|\bprocess\.|\bBuffer\b/);
  });
});

test('the store and HTTP entries run anywhere too', async () => {
  for (const entry of ['store', 'http']) expect((await bundle(entry)).imports).toEqual([]);
});

test('the package has no dependency, and its peers are optional', () => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync(pathOf('package.json'), 'utf8'),
  );
  expect(dependencies).toBeUndefined();
  for (const peer of Object.keys(peerDependencies)) expect(peerDependenciesMeta[peer]).toEqual({ optional: true });
});

test('no entry but ./client loads an SDK when it is imported', () => {
  // In a process of its own, which is made to fail on any import of an SDK.
  const program = `
    import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(
      'export const resolve = (name, context, next) => { if (name.startsWith("@modelcontextprotocol/")) throw new Error(name); return next(name, context); };'));
    for (const entry of ${JSON.stringify(['index', 'store', 'http', 'stdio', 'node', 'client'])}) await import(${JSON.stringify(new URL('../dist/', import.meta.url).href)} + entry + '.js');`;
  expect(() => execFileSync(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })).not.toThrow();
});
