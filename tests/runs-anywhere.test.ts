/** The core entry of every package runs anywhere: it bundles for the browser and imports nothing of Node. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { publishedPackages } from '../scripts/packages.mjs';

describe.each(publishedPackages())('$name', ({ folder, manifest }) => {
  it('bundles its core entry for the browser without a node: import, a peer, or a Node global', async () => {
    const peers = Object.keys(manifest.peerDependencies ?? {});
    const result = await build({
      entryPoints: [join(folder, manifest.exports['.'].default)],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      // A peer may be loaded lazily by a dynamic import (xstate), never needed to load the entry.
      external: [...peers, 'node:*'],
      metafile: true,
    });
    const imports = Object.values(result.metafile.outputs).flatMap((output) => output.imports);
    expect(imports.filter(({ path }) => path.startsWith('node:'))).toEqual([]);
    expect(imports.filter(({ kind }) => kind === 'import-statement')).toEqual([]);
    expect(result.outputFiles[0]?.text).not.toMatch(
      /(?<![\w.$])(process\.(env|pid|nextTick)|Buffer\.from|__dirname|require\()/,
    );
  });
});
