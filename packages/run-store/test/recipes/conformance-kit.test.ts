import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a store of your own is tested with node:test in one call', async () => {
  const file = new URL('../../examples/conformance-kit.ts', import.meta.url).pathname;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const args = ['--import', 'tsx', '--test-reporter', 'tap', '--test', file];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toMatch(/^# pass [1-9]\d+$/m);
  expect(stdout).toContain('# fail 0');
});
