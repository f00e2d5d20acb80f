/** Work that may crash: claimed under a lease, kept alive, and acknowledged with an outcome. */
import {
  type AgentRunState,
  createRunStore,
  memoryRunBackend,
  newAgentRunId,
  type RunStore,
  StaleFenceError,
} from '@mcp-interlock/run-store';

// #region claim
export async function workOn(
  runs: RunStore<AgentRunState>,
  runId: string,
  work: (state: AgentRunState, fence: number) => Promise<unknown>,
): Promise<unknown> {
  const result = await runs.claim(runId, { leaseMs: 30_000, owner: 'worker-1' });
  switch (result.kind) {
    case 'settled':
      return result.outcome; // Done before: the first outcome, without doing it again.
    case 'held':
    case 'not_found':
      return undefined;
    case 'claimed': {
      const { claim } = result;
      const heartbeat = setInterval(() => {
        claim.extend(30_000).catch((error) => {
          if (error instanceof StaleFenceError) clearInterval(heartbeat);
        });
      }, 10_000);
      try {
        const outcome = await work(claim.state, claim.fence);
        await claim.ack({ outcome });
        return outcome;
      } finally {
        clearInterval(heartbeat);
      }
    }
  }
}
// #endregion

const runs = createRunStore<AgentRunState>({ backend: memoryRunBackend() });
const runId = newAgentRunId();
await runs.store(runId, { messages: [], pendingToolCallIds: [], stepsSoFar: 1, tokensSoFar: 0 });
const first = await workOn(runs, runId, async () => 'paid');
const second = await workOn(runs, runId, async () => 'paid twice');
console.log(first, second); // paid paid
