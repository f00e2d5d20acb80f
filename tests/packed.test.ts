/** Each package, installed alone from its tarball into an empty folder, does what its README's first example says. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pack, publishedPackages } from '../scripts/packages.mjs';
import { quickstart } from './readme.js';

const packages = publishedPackages();
const tarballs = new Map<string, string>();
let workspace = '';

beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'interlock-packed-'));
  for (const { name, folder } of packages) tarballs.set(name, pack(folder, workspace));
});

afterAll(() => rmSync(workspace, { recursive: true, force: true }));

describe.each(packages)('$name', ({ name, folder, manifest }) => {
  it('installs alone from its tarball and runs the example of its README', () => {
    const { install, example } = quickstart(folder);
    expect(install[0]).toBe(name);
    const project = newProject(name, install.slice(1));
    writeFileSync(join(project, 'example.mjs'), transformSync(example, { loader: 'ts', format: 'esm' }).code);
    const output = execFileSync(process.execPath, ['example.mjs'], {
      cwd: project,
      encoding: 'utf8',
      timeout: 120_000,
    });
    expect(output.trim()).not.toBe('');
  });

  it('brings README, license, types and every file that its exports name, and no source or test', () => {
    const files = execFileSync('tar', ['-tzf', tarballs.get(name)!], { encoding: 'utf8' }).split('\n');
    const has = (file: string) => files.includes(join('package', file));
    expect(has('README.md')).toBe(true);
    expect(has('LICENSE')).toBe(true);
    for (const target of Object.values(manifest.exports as Record<string, string | Record<string, string>>)) {
      for (const file of typeof target === 'string' ? [target] : Object.values(target))
        expect(has(file), file).toBe(true);
    }
    expect(files.filter((file) => /\/(src|test|bench|examples)\//.test(file))).toEqual([]);
  });

  it('says in its manifest what npm shows: description, keywords, license, repository folder', () => {
    expect(manifest.description).toBeTruthy();
    expect(manifest.keywords.length).toBeGreaterThan(3);
    expect(manifest.license).toBe('MIT');
    expect(manifest.repository.directory).toBe(`packages/${name.split('/')[1]}`);
    expect(manifest.publishConfig).toMatchObject({ access: 'public' });
  });
});

/** An empty npm project with the package, its own workspace dependencies by override, and what the README names. */
function newProject(name: string, others: readonly string[]): string {
  const project = join(workspace, name.split('/')[1]!);
  mkdirSync(project);
  const fromTarball = (workspaceName: string) => `file:${tarballs.get(workspaceName)}`;
  const own = packages.find((candidate) => candidate.name === name)!;
  const workspaceDependencies = Object.keys(own.manifest.dependencies ?? {}).filter((dep) => tarballs.has(dep));
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({
      private: true,
      type: 'module',
      dependencies: { [name]: fromTarball(name) },
      overrides: Object.fromEntries(workspaceDependencies.map((dep) => [dep, fromTarball(dep)])),
    }),
  );
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...others], { cwd: project });
  expect(existsSync(join(project, 'node_modules', name))).toBe(true);
  return project;
}
