import { createRunStore, DecisionError, memoryRunBackend } from '@mcp-interlock/run-store';
import { Agent, type Model, type ModelResponse, Runner, tool, Usage } from '@openai/agents-core';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type ApprovedRunOptions, ask, decide, type PausedAgentRun } from '../../examples/openai-agents-approval.js';

describe('a run of the OpenAI Agents SDK that waits for approval', () => {
  test('runs the tool after approval, once, in an agent that was built anew', async () => {
    const before = anAgent();
    const paused = await askToDelete(before.options);
    expect(paused.asks).toEqual([{ callId: 'call-1', name: 'deleteUser', arguments: '{"id":42}' }]);

    const after = anAgent(before.options.runs);
    expect(await decide(paused.runId, { approved: ['call-1'] }, after.options)).toEqual({
      kind: 'done',
      text: 'It is done.',
    });
    expect(await decide(paused.runId, { approved: ['call-1'] }, after.options)).toEqual({ kind: 'gone' });
    expect([before.deleted, after.deleted]).toEqual([[], [42]]);
  });

  test('does not run the tool after a rejection', async () => {
    const { options, deleted } = anAgent();
    const paused = await askToDelete(options);
    expect(await decide(paused.runId, { rejected: ['call-1'] }, options)).toMatchObject({ kind: 'done' });
    expect(deleted).toEqual([]);
  });

  test('still waits after a forged call id', async () => {
    const { options, deleted } = anAgent();
    const paused = await askToDelete(options);
    await expect(decide(paused.runId, { approved: ['forged'] }, options)).rejects.toBeInstanceOf(DecisionError);
    expect(await decide(paused.runId, { approved: ['call-1'] }, options)).toMatchObject({ kind: 'done' });
    expect(deleted).toEqual([42]);
  });
});

async function askToDelete(options: ApprovedRunOptions) {
  const paused = await ask('Delete user 42.', options);
  if (paused.kind !== 'paused') throw new Error(`expected a pause, got ${paused.kind}`);
  return paused;
}

function anAgent(runs = createRunStore<PausedAgentRun>({ backend: memoryRunBackend() })) {
  const deleted: number[] = [];
  const deleteUser = tool({
    name: 'deleteUser',
    description: 'Deletes a user.',
    parameters: z.object({ id: z.number() }),
    needsApproval: true,
    execute: async ({ id }) => {
      deleted.push(id);
      return 'deleted';
    },
  });
  const agent = new Agent({ name: 'keeper', instructions: 'You look after accounts.', tools: [deleteUser] });
  const runner = new Runner({ modelProvider: { getModel: () => aModel }, tracingDisabled: true });
  return { options: { runs, runner, agent, scope: { principal: 'ann' } }, deleted };
}

/** Asks for the tool first, and answers in text once it has the tool's result or refusal. */
const aModel: Model = {
  async getResponse({ input }): Promise<ModelResponse> {
    const answered = Array.isArray(input) && input.some(({ type }) => type === 'function_call_result');
    return {
      usage: new Usage(),
      output: [
        answered
          ? {
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: 'It is done.' }],
            }
          : {
              type: 'function_call',
              callId: 'call-1',
              name: 'deleteUser',
              arguments: '{"id":42}',
              status: 'completed',
            },
      ],
    };
  },
  getStreamedResponse() {
    throw new Error('This model does not stream.');
  },
};
