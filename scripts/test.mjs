// `pnpm test`: builds what tests need, runs every suite of every package once, and ends with the real totals.
// Arguments go to vitest: `pnpm test packages/responses`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';

const REPORT = '.vitest/report.json';

const build = run('turbo', ['run', 'build', '--output-logs=errors-only']);
if (build !== 0) finish({ passed: 0, failed: 1, status: build });

mkdirSync('.vitest', { recursive: true });
rmSync(REPORT, { force: true });
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
const status = run('vitest', ['run', ...reporters, ...process.argv.slice(2)]);
finish({ ...totals(status), status });

function run(command, args) {
  return spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' }).status ?? 1;
}

/** A run that failed without a failed test (a suite that did not load, an unhandled error) still counts as failed. */
function totals(exitStatus) {
  let report;
  try {
    report = JSON.parse(readFileSync(REPORT, 'utf8'));
  } catch (error) {
    console.error(`vitest wrote no report: ${error.message}`);
    return { passed: 0, failed: 1 };
  }
  const unloaded = report.testResults.filter(
    (suite) => suite.status === 'failed' && suite.assertionResults.length === 0,
  );
  const failed = report.numFailedTests + unloaded.length;
  if (report.numPendingTests > 0) console.log(`${report.numPendingTests} skipped`);
  return { passed: report.numPassedTests, failed: failed === 0 && exitStatus !== 0 ? 1 : failed };
}

function finish({ passed, failed, status }) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? status || 1 : status);
}
