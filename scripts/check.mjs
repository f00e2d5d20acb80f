// `pnpm check`: everything that can be said of the code without running it. Runs all steps, then fails if one did.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack, publishedPackages } from './packages.mjs';

const failed = [];
const started = Date.now();

step('lint and format (biome)', 'biome', ['check', '--error-on-warnings', '.']);
step('build', 'turbo', ['run', 'build', '--output-logs=errors-only']);
step('types of tests, benches and examples', 'turbo', ['run', 'typecheck', '--output-logs=errors-only']);
step('types of the tests of the house', 'tsc', ['-p', 'tests/tsconfig.json']);
step('unused files, exports and dependencies (knip)', 'knip', []);
step('size budgets', 'size-limit', []);

const destination = mkdtempSync(join(tmpdir(), 'interlock-pack-'));
try {
  for (const { name, folder } of publishedPackages()) {
    const tarball = pack(folder, destination);
    step(`${name}: publint`, 'publint', ['--strict', tarball]);
    step(`${name}: types resolve (attw)`, 'attw', [
      '--profile',
      'esm-only',
      '--no-emoji',
      '--format',
      'ascii',
      tarball,
    ]);
  }
} finally {
  rmSync(destination, { recursive: true, force: true });
}

console.log(`\n${failed.length === 0 ? 'All checks passed' : `Failed: ${failed.join('; ')}`} (${seconds(started)})`);
process.exit(failed.length === 0 ? 0 : 1);

/** Quiet when it passes; the whole output when it does not. */
function step(name, command, args) {
  const start = Date.now();
  const result = spawnSync(command, args, { encoding: 'utf8', shell: process.platform === 'win32' });
  const passed = result.status === 0;
  console.log(`${passed ? 'ok  ' : 'FAIL'}  ${name} (${seconds(start)})`);
  if (passed) return;
  failed.push(name);
  console.log([result.stdout, result.stderr, result.error?.message].filter(Boolean).join('\n'));
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
