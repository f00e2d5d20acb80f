/** All figures of the package, one part after another: `--published` adds what npx fetches. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const published = process.argv.includes('--published');
const parts = [
  { script: 'core.ts', args: [] },
  { script: 'upstreams.ts', args: published ? ['--published'] : [] },
  ...(published ? [{ script: 'search.ts', args: [] }] : []),
];

// Each part gets a process of its own, so that none measures what another left behind.
const failed = parts.filter(({ script, args }) => {
  const path = fileURLToPath(new URL(script, import.meta.url));
  return spawnSync(process.execPath, ['--import', 'tsx', path, ...args], { stdio: 'inherit' }).status !== 0;
});
for (const { script } of failed) console.error(`\nbench/${script}: a target was not met.`);
process.exitCode = failed.length === 0 ? 0 : 1;
