// Which packages are published, and their tarballs as npm would get them.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** @returns {{ name: string, folder: string, manifest: Record<string, any> }[]} */
export function publishedPackages() {
  return readdirSync(join(root, 'packages'))
    .map((entry) => join(root, 'packages', entry))
    .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }))
    .filter(({ manifest }) => !manifest.private)
    .map(({ folder, manifest }) => ({ name: manifest.name, folder, manifest }));
}

/**
 * Packs a built package and returns the tarball's path.
 * @param {string} folder
 * @param {string} destination
 * @returns {string}
 */
export function pack(folder, destination) {
  const output = execFileSync('pnpm', ['pack', '--json', '--pack-destination', destination], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, npm_config_verify_deps_before_run: 'false' },
  });
  // pnpm may print notices before the JSON.
  return JSON.parse(output.slice(output.indexOf('{'))).filename;
}
