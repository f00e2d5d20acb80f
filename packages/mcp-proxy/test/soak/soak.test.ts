import { expect, it } from 'vitest';
import { soak } from './soak.js';

// A short one for every run; `pnpm test:soak` does a thousand.
it('forty cycles of connect, call and kill leave no process and no handle', async () => {
  const report = await soak(40);
  expect(report).toEqual({
    cycles: 40,
    processesLeft: 0,
    groupsLeft: 0,
    handlesLeft: {},
    heapGrowthPerCycle: expect.any(Number),
  });
});
