import { expect, it } from 'vitest';
import { soak } from './soak.js';

it('a thousand cycles of connect, call and kill leave no process, no handle and no memory', async () => {
  const report = await soak(1_000);
  process.stdout.write(`${JSON.stringify(report)}\n`);
  expect(report).toEqual({
    cycles: 1_000,
    processesLeft: 0,
    groupsLeft: 0,
    handlesLeft: {},
    heapGrowthPerCycle: expect.any(Number),
  });
  // A connection that stayed reachable would cost tens of kilobytes.
  expect(report.heapGrowthPerCycle).toBeLessThan(4 * 1024);
}, 1_800_000);
