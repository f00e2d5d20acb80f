// `pnpm test`: builds what tests need, runs the suites of every package, and ends with the real totals.
// `pnpm test run-store` runs the packages whose folder contains that; `pnpm test run-store -t 'a second resume'` hands
// everything from the first option on to vitest.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const firstOption = process.argv.findIndex((argument, index) => index > 1 && argument.startsWith('-'));
const names = process.argv.slice(2, firstOption === -1 ? undefined : firstOption);
const vitestOptions = firstOption === -1 ? [] : process.argv.slice(firstOption);

const build = run('turbo', ['run', 'build', '--output-logs=errors-only'], root);
if (build !== 0) finish([{ folder: 'build', passed: 0, failed: 1, skipped: 0 }]);

const folders = ['packages', 'apps']
  .flatMap((group) => readdirSync(join(root, group)).map((entry) => join(group, entry)))
  .concat('tests')
  .filter((folder) => existsSync(join(root, folder, 'vitest.config.ts')))
  .filter((folder) => names.length === 0 || names.some((name) => folder.includes(name)));
if (folders.length === 0) throw new Error(`No package matches ${names.join(', ')}.`);
finish(folders.map(testPackage));

/** Each package runs in its own folder, as `pnpm --filter … test` would run it. */
function testPackage(folder) {
  const report = join(root, '.vitest', `${folder.replaceAll(/[\\/]/g, '-')}.json`);
  mkdirSync(join(root, '.vitest'), { recursive: true });
  rmSync(report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const status = run('vitest', ['run', ...reporters, ...vitestOptions], join(root, folder));
  return { folder, ...totals(report, status) };
}

/** Finds commands as a package script would: the package's own first, then the root's. */
function run(command, args, cwd) {
  const bins = [cwd, root].map((folder) => join(folder, 'node_modules', '.bin'));
  const env = { ...process.env, PATH: [...bins, process.env.PATH].join(delimiter) };
  return spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32', env }).status ?? 1;
}

/** A run that failed without a failed test (a suite that did not load, an unhandled error) still counts as failed. */
function totals(path, status) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    console.error(`vitest wrote no report: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const unloaded = report.testResults.filter(
    (suite) => suite.status === 'failed' && suite.assertionResults.length === 0,
  );
  const failed = report.numFailedTests + unloaded.length;
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && status !== 0 ? 1 : failed,
    skipped: report.numPendingTests,
  };
}

function finish(results) {
  console.log('');
  for (const { folder, passed, failed, skipped } of results) {
    console.log(`${folder}: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  }
  const sum = (field) => results.reduce((total, result) => total + result[field], 0);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  process.exit(sum('failed') > 0 ? 1 : 0);
}
