/** Park a run at an approval, peek at it, decide it once; all in this process. */
// #region quick-start
import { type AgentRunState, createRunStore, memoryRunBackend, newAgentRunId } from '@mcp-interlock/run-store';

const runs = createRunStore<AgentRunState>({ backend: memoryRunBackend(), ttlSeconds: 900 });
const ada = { tenant: 'acme', principal: 'ada' };

// The agent stopped before a call that needs a yes.
const runId = newAgentRunId();
const state: AgentRunState = {
  messages: [{ role: 'user', content: 'Delete user 42' }],
  pendingToolCallIds: ['call_1'],
  pauseKind: 'approval',
  stepsSoFar: 1,
  tokensSoFar: 310,
};
await runs.store(runId, state, { scope: ada });

// A screen peeks, as often as it likes.
const { runs: waiting } = await runs.list(ada);

// The answer is checked, and only then the run is taken: once, whoever asks.
const answer = await runs.resume(runId, { approved: ['call_1'] }, ada);
const again = await runs.resume(runId, { approved: ['call_1'] }, ada);
console.log(waiting.length, answer.kind, again.kind); // 1 resumed not_found
// #endregion
