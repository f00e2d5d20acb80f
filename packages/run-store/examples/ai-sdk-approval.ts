/**
 * The AI SDK's pause for a tool that needs approval, kept until somebody decides: in another request, another process,
 * after a restart.
 */
import {
  newAgentRunId,
  type PausedRun,
  type RunDecision,
  type RunScope,
  type RunStore,
} from '@mcp-interlock/run-store';
import { generateText, type LanguageModel, type ModelMessage, stepCountIs, type ToolSet } from 'ai';

/** What the SDK needs to go on. Ids of approvals are what the run waits for. */
export interface PausedGeneration extends PausedRun {
  messages: ModelMessage[];
}

export interface ApprovedGenerationOptions {
  readonly runs: RunStore<PausedGeneration>;
  readonly model: LanguageModel;
  /** Those with `needsApproval` make the run pause. */
  readonly tools: ToolSet;
  readonly scope: RunScope;
}

export type Generation =
  | { readonly kind: 'done'; readonly text: string }
  | { readonly kind: 'paused'; readonly runId: string; readonly asks: readonly PendingApproval[] }
  | { readonly kind: 'gone' };

export interface PendingApproval {
  readonly approvalId: string;
  readonly toolName: string;
  readonly input: unknown;
}

export async function generate(messages: ModelMessage[], options: ApprovedGenerationOptions): Promise<Generation> {
  const { model, tools, runs, scope } = options;
  const result = await generateText({ model, tools, messages, stopWhen: stepCountIs(10) });
  const asks = result.content.flatMap((part) =>
    part.type === 'tool-approval-request'
      ? [{ approvalId: part.approvalId, toolName: part.toolCall.toolName, input: part.toolCall.input }]
      : [],
  );
  if (asks.length === 0) return { kind: 'done', text: result.text };

  const runId = newAgentRunId();
  const state: PausedGeneration = {
    messages: [...messages, ...result.response.messages],
    pendingToolCallIds: asks.map(({ approvalId }) => approvalId),
    pauseKind: 'approval',
  };
  await runs.store(runId, state, { scope });
  return { kind: 'paused', runId, asks };
}

/** Goes on with a paused generation. A decision that does not fit throws and leaves the run waiting. */
export async function decide(
  runId: string,
  decision: RunDecision,
  options: ApprovedGenerationOptions,
): Promise<Generation> {
  const resumed = await options.runs.resume(runId, decision, options.scope);
  if (resumed.kind !== 'resumed') return { kind: 'gone' };
  const { approved, rejected } = resumed.decision;
  const answers: ModelMessage = {
    role: 'tool',
    content: [
      ...approved.map((approvalId) => ({ type: 'tool-approval-response' as const, approvalId, approved: true })),
      ...rejected.map(({ toolCallId, reason }) => ({
        type: 'tool-approval-response' as const,
        approvalId: toolCallId,
        approved: false,
        ...(reason === undefined ? {} : { reason }),
      })),
    ],
  };
  return generate([...resumed.state.messages, answers], options);
}
