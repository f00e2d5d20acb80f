/** The core entry of every package runs anywhere, and so do those beside it that say so: no Node, no peer, no file system. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { publishedPackages } from '../scripts/packages.mjs';

/** Entries that promise what the core promises; all others may need a runtime, a driver or an SDK. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  '@mcp-interlock/fsm-gate': ['./sessions', './verify', './diagram', './audit', './mcp'],
};

const entries = publishedPackages().flatMap(({ name, folder, manifest }) =>
  ['.', ...(ALSO[name] ?? [])].map((entry) => ({ name, folder, manifest, entry })),
);

describe.each(entries)('$name, $entry', ({ folder, manifest, entry }) => {
  it('bundles for the browser without a node: import, a peer, or a Node global', async () => {
    const peers = Object.keys(manifest.peerDependencies ?? {});
    const result = await build({
      entryPoints: [join(folder, manifest.exports[entry].default)],
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
