/** Promises of the house: versions, releases, dependency arrows, and nothing of one machine in the project. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publishedPackages } from '../scripts/packages.mjs';

const root = join(import.meta.dirname, '..');
const packages = publishedPackages();
// What is committed, and what is about to be.
const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter(Boolean);

describe('a release', () => {
  let copy = '';
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'interlock-release-'));
    for (const file of tracked) {
      if (existsSync(join(root, file))) cpSync(join(root, file), join(copy, file), { recursive: true });
    }
    for (const { folder, manifest } of packages) {
      const inCopy = join(copy, folder.slice(root.length));
      cpSync(join(folder, 'dist'), join(inCopy, 'dist'), { recursive: true });
      for (const sibling of [...siblingsOf(manifest), '@mcp-interlock/test-kit']) {
        const link = join(inCopy, 'node_modules', sibling);
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(join(copy, 'packages', sibling.split('/')[1] ?? ''), link);
      }
    }
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: copy });
    execFileSync('git', ['add', '-A'], { cwd: copy });
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.test', 'commit', '-qm', 'copy'], {
      cwd: copy,
    });
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it('is versioned by changesets, each package on its own, and a dry-run publish works', () => {
    const pending = readdirSync(join(root, '.changeset')).filter(
      (file) => file.endsWith('.md') && file !== 'README.md',
    );
    const before = new Map(packages.map(({ name, manifest }) => [name, manifest.version as string]));
    execFileSync(process.execPath, [join(root, 'node_modules/@changesets/cli/bin.js'), 'version'], {
      cwd: copy,
      stdio: 'pipe',
    });

    const named = new Set(
      pending.flatMap((file) =>
        [...readFileSync(join(root, '.changeset', file), 'utf8').matchAll(/^['"](@mcp-interlock\/[\w-]+)['"]:/gm)].map(
          ([, name]) => name,
        ),
      ),
    );
    for (const { name, folder } of packages) {
      const inCopy = join(copy, folder.slice(root.length));
      const { version } = JSON.parse(readFileSync(join(inCopy, 'package.json'), 'utf8'));
      if (named.has(name)) {
        expect(version, name).not.toBe(before.get(name));
        expect(readFileSync(join(inCopy, 'CHANGELOG.md'), 'utf8')).toContain(version);
      }
      const output = dryRunPublish(inCopy);
      expect(output).toContain(`${name}@${version}`);
    }
  });
});

describe('the arrows between packages', () => {
  const allowed: Record<string, readonly string[]> = { '@mcp-interlock/mcp-proxy': ['@mcp-interlock/mcp-era'] };

  it.each(packages)(
    '$name depends on no sibling but those of the design, and imports no sibling source',
    ({ name, folder, manifest }) => {
      expect(siblingsOf(manifest).filter((dep) => !allowed[name]?.includes(dep))).toEqual([]);
      const prefix = `${folder.slice(root.length + 1)}/src/`;
      for (const file of tracked.filter((path) => path.startsWith(prefix) && existsSync(join(root, path)))) {
        const imports = [...readFileSync(join(root, file), 'utf8').matchAll(/from '([^']+)'/g)].map(
          ([, from]) => from ?? '',
        );
        expect(
          imports.filter((from) => from.includes('/src/') || from.includes('../../packages')),
          file,
        ).toEqual([]);
      }
    },
  );
});

describe('a newcomer', () => {
  it.each(packages)('finds README, license and a changeset or changelog for $name', ({ name, folder }) => {
    expect(existsSync(join(folder, 'README.md'))).toBe(true);
    expect(existsSync(join(folder, 'LICENSE'))).toBe(true);
    const changesets = readdirSync(join(root, '.changeset')).map((file) =>
      readFileSync(join(root, '.changeset', file), 'utf8'),
    );
    const hasChangeset = changesets.some((text) => text.includes(`"${name}":`) || text.includes(`'${name}':`));
    expect(hasChangeset || existsSync(join(folder, 'CHANGELOG.md'))).toBe(true);
  });

  it('reads links in the READMEs that lead to files of the project', () => {
    const broken = tracked
      .filter((file) => file.endsWith('.md') && !file.startsWith('.changeset/') && existsSync(join(root, file)))
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
          .map(([, target]) => join(root, file, '..', decodeURI(target ?? '')))
          .filter((target) => !existsSync(target))
          .map((target) => `${file}: ${target.slice(root.length)}`),
      );
    expect(broken).toEqual([]);
  });
});

/** Publishes nothing; returns what npm would have said. */
function dryRunPublish(folder: string): string {
  const { status, stdout, stderr } = spawnSync(
    'pnpm',
    ['publish', '--dry-run', '--no-git-checks', '--ignore-scripts'],
    {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, npm_config_verify_deps_before_run: 'false' },
    },
  );
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

function siblingsOf({ dependencies = {}, peerDependencies = {} }: Record<string, Record<string, string>>): string[] {
  return Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => name.startsWith('@mcp-interlock/'));
}
