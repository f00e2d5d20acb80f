import { findRedis } from '@mcp-interlock/test-kit/redis';
import { describe, expect, test } from 'vitest';
import { crashRedis } from './redis-crash.js';

/** A URL is not enough: it takes a server of one's own to kill. */
const binary = findRedis({ ...process.env, REDIS_URL: '' }).kind === 'binary';

describe.skipIf(!binary)('a Redis that is killed in the middle of traffic', () => {
  test('with appendfsync always loses no run that was confirmed, and gives back none that was consumed', async () => {
    const report = await crashRedis({ appendfsync: 'always', runs: 300 });
    expect(report).toMatchObject({ lost: 0, cameBack: 0, damaged: 0 });
    expect(report.stored + report.consumed).toBeGreaterThanOrEqual(300);
  });

  test('with appendfsync everysec leaves every run whole or absent', async () => {
    const report = await crashRedis({ appendfsync: 'everysec', runs: 300 });
    // How many are absent depends on the disk and is measured in bench/redis-crash.ts.
    expect(report.damaged).toBe(0);
    expect(report.stored + report.consumed).toBeGreaterThanOrEqual(300);
  });

  test('without an append-only file loses everything: the figure that shows that the others are not luck', async () => {
    const report = await crashRedis({ appendfsync: 'no', runs: 100 });
    expect(report.lost).toBe(report.stored);
  });
});
