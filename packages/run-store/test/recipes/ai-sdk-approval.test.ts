import { createRunStore, DecisionError, memoryRunBackend } from '@mcp-interlock/run-store';
import { tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  type ApprovedGenerationOptions,
  decide,
  generate,
  type PausedGeneration,
} from '../../examples/ai-sdk-approval.js';

describe('a generation of the AI SDK that waits for approval', () => {
  test('runs the tool after approval, once, and then answers', async () => {
    const { options, deleted } = anAgent();
    const paused = await askToDelete(options);
    expect(paused.asks).toMatchObject([{ toolName: 'deleteUser', input: { id: 42 } }]);
    expect(deleted).toEqual([]);

    const approved = [paused.asks[0]!.approvalId];
    expect(await decide(paused.runId, { approved }, options)).toEqual({ kind: 'done', text: 'It is done.' });
    expect(await decide(paused.runId, { approved }, options)).toEqual({ kind: 'gone' });
    expect(deleted).toEqual([42]);
  });

  test('does not run the tool after a rejection, and tells the model why', async () => {
    const { options, deleted, model } = anAgent();
    const paused = await askToDelete(options);
    const rejected = [{ toolCallId: paused.asks[0]!.approvalId, reason: 'not this one' }];
    expect(await decide(paused.runId, { rejected }, options)).toMatchObject({ kind: 'done' });
    expect(deleted).toEqual([]);
    expect(JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)).toContain('not this one');
  });

  test('still waits after a forged approval id', async () => {
    const { options, deleted } = anAgent();
    const paused = await askToDelete(options);
    await expect(decide(paused.runId, { approved: ['forged'] }, options)).rejects.toBeInstanceOf(DecisionError);
    expect(deleted).toEqual([]);
    expect(await options.runs.load(paused.runId, { scope: options.scope })).not.toBeNull();
  });
});

async function askToDelete(options: ApprovedGenerationOptions) {
  const paused = await generate([{ role: 'user', content: 'Delete user 42.' }], options);
  if (paused.kind !== 'paused') throw new Error(`expected a pause, got ${paused.kind}`);
  return paused;
}

/** A model that asks for the tool first and answers in text once it has the tool's result or refusal. */
function anAgent() {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  const model = new MockLanguageModelV3({
    async doGenerate({ prompt }) {
      const answered = prompt.some(({ role }) => role === 'tool');
      const call = { type: 'tool-call', toolCallId: 'call-1', toolName: 'deleteUser', input: '{"id":42}' } as const;
      return answered
        ? {
            content: [{ type: 'text', text: 'It is done.' }],
            finishReason: { unified: 'stop', raw: undefined },
            usage,
            warnings: [],
          }
        : { content: [call], finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] };
    },
  });
  const deleted: number[] = [];
  const deleteUser = tool({
    description: 'Deletes a user.',
    inputSchema: z.object({ id: z.number() }),
    needsApproval: true,
    execute: async ({ id }) => {
      deleted.push(id);
      return 'deleted';
    },
  });
  const runs = createRunStore<PausedGeneration>({ backend: memoryRunBackend() });
  const options = { runs, model, tools: { deleteUser }, scope: { principal: 'ann' } };
  return { options, deleted, model };
}
