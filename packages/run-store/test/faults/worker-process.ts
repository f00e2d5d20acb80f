/**
 * A worker in a process of its own that goes through the life of a run and stops, for good, at the step it was told to:
 * there the test kills it. Arguments: where the runs are, the run's id, the last step.
 */
import { createRunStore, type RunClaim } from '../../src/index.js';
import { aPausedRun } from '../../src/testing/index.js';
import { openBackend, type Place } from './places.js';
import { LEASE_MS, type Step } from './worker-steps.js';

await work();

async function work(): Promise<void> {
  const [place, runId = '', last] = process.argv.slice(2);
  // The test that starts this process wrote it.
  const backend = await openBackend(JSON.parse(String(place)) as Place);
  const runs = createRunStore({ backend, ttlSeconds: 600 });
  process.on('disconnect', () => process.exit(1));

  const reached = async (step: Step) => {
    process.send?.(step);
    if (step === last) await new Promise(() => {});
  };
  await runs.store(runId, aPausedRun(runId));
  await reached('stored');
  if (last === 'consumed') {
    await runs.consume(runId);
    await reached('consumed');
  }
  const claim = await claimed();
  await reached('claimed');
  await claim.extend(LEASE_MS);
  await reached('extended');
  await reached('worked');
  await claim.ack({ outcome: 'the first answer' });
  await reached('acknowledged');

  async function claimed(): Promise<RunClaim<unknown>> {
    const answer = await runs.claim(runId, { leaseMs: LEASE_MS, owner: 'worker' });
    if (answer.kind !== 'claimed') throw new Error(`the claim answered ${answer.kind}`);
    return answer.claim;
  }
}
