/** What the core entry costs whoever bundles it, without XState. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

async function bundled(contents: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('../src', import.meta.url)), loader: 'ts' },
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

describe('the core entry', () => {
  it('costs a gate and its decisions at most 4 KB', async () => {
    const names = 'StateMachineGate, initFsmEngine, resetXStateCache, GateError, decide, refusalText';
    expect((await bundled(`export { ${names} } from './index.js'`)).bytes).toBeLessThanOrEqual(4_096);
  });

  it('costs at most 14 KB with everything in it: sessions, verification, audit, diagrams', async () => {
    expect((await bundled("export * from './index.js'")).bytes).toBeLessThanOrEqual(14 * 1_024);
  });

  it('imports nothing but XState, and that only when it is asked for', async () => {
    expect((await bundled("export * from './index.js'")).imports).toEqual(['xstate']);
  });
});
