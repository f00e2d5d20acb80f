/** What each entry that runs anywhere costs whoever bundles the whole of it, without XState. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src/', import.meta.url));

async function bundled(contents: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: src, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    external: ['xstate'],
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return { bytes: gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length, imports };
}

const whole = (file: string) => bundled(`export * from './${file}'`);

describe('the core entry', () => {
  it('costs at most 4 KB, with everything that it exports', async () => {
    expect((await whole('index.js')).bytes).toBeLessThanOrEqual(4_096);
  });

  it('imports nothing but XState, and that only when it is asked for', async () => {
    expect((await whole('index.js')).imports).toEqual(['xstate']);
  });
});

describe.each([
  { entry: 'sessions', file: 'sessions/index.js', limit: 8_704 },
  { entry: 'verify', file: 'verify/index.js', limit: 2_304 },
  { entry: 'diagram', file: 'diagram.js', limit: 2_048 },
  { entry: 'audit', file: 'audit/index.js', limit: 2_048 },
])('the entry $entry', ({ file, limit }) => {
  it(`costs at most ${limit} bytes by itself`, async () => {
    expect((await whole(file)).bytes).toBeLessThanOrEqual(limit);
  });

  it('needs no peer', async () => {
    expect((await whole(file)).imports).toEqual([]);
  });
});
