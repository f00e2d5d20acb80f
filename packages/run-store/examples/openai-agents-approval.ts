/** The OpenAI Agents SDK's interruptions, kept until somebody decides and resumed from any process. */
import {
  newAgentRunId,
  type PausedRun,
  type RunDecision,
  type RunScope,
  type RunStore,
} from '@mcp-interlock/run-store';
import { type Agent, type Runner, RunState, type RunToolApprovalItem } from '@openai/agents-core';

/** The SDK's own serialised state, and the ids of the calls that it asks about. */
export interface PausedAgentRun extends PausedRun {
  serialized: string;
}

export interface ApprovedRunOptions {
  readonly runs: RunStore<PausedAgentRun>;
  readonly runner: Runner;
  /** Must be built alike wherever the run is resumed: the SDK's state names it and does not contain it. */
  readonly agent: Agent;
  readonly scope: RunScope;
}

export type AgentAnswer =
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'paused'; readonly runId: string; readonly asks: readonly PendingCall[] }
  | { readonly kind: 'gone' };

export interface PendingCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

export async function ask(
  input: string | RunState<unknown, Agent>,
  { runs, runner, agent, scope }: ApprovedRunOptions,
): Promise<AgentAnswer> {
  const result = await runner.run(agent, input);
  if (result.interruptions.length === 0) return { kind: 'done', text: String(result.finalOutput ?? '') };

  const asks = result.interruptions.map(pendingCall);
  const runId = newAgentRunId();
  const state: PausedAgentRun = {
    serialized: result.state.toString(),
    pendingToolCallIds: asks.map(({ callId }) => callId),
    pauseKind: 'approval',
  };
  await runs.store(runId, state, { scope });
  return { kind: 'paused', runId, asks };
}

/** Goes on with a paused run. A decision that does not fit throws and leaves the run waiting. */
export async function decide(runId: string, decision: RunDecision, options: ApprovedRunOptions): Promise<AgentAnswer> {
  const resumed = await options.runs.resume(runId, decision, options.scope);
  if (resumed.kind !== 'resumed') return { kind: 'gone' };
  const state = await RunState.fromString<unknown, Agent>(options.agent, resumed.state.serialized);
  const approved = new Set(resumed.decision.approved);
  for (const item of state.getInterruptions()) {
    if (approved.has(pendingCall(item).callId)) state.approve(item);
    else state.reject(item);
  }
  return ask(state, options);
}

function pendingCall(item: RunToolApprovalItem): PendingCall {
  const call = item.rawItem;
  const callId = 'callId' in call ? call.callId : call.id;
  if (callId === undefined) throw new Error(`The SDK asks about a call of ${item.name} without an id.`);
  return { callId, name: item.name ?? '', arguments: 'arguments' in call ? String(call.arguments) : '' };
}
