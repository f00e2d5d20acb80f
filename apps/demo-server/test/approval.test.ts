import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aParkedPayment, aRunningDemo } from './running.js';

describe('a payment over the limit', () => {
  it('waits, can be looked at without being used up, and is resumed once', async () => {
    const running = await aRunningDemo();
    const agent = await running.agent();
    const runId = await aParkedPayment(agent);
    expect(await agent.toolNames()).not.toContain('cart_pay');
    for (let look = 0; look < 3; look++) {
      const peek = await running.operator('GET', runId);
      expect(peek.status).toBe(200);
      // Not the session, by whose id one could act as the agent.
      expect(await peek.json()).toEqual({
        runId,
        order: { principal: 'local', amount: 1398, items: ['2 × Standing desk'] },
      });
    }
    expect((await agent.call('payment_result', { runId })).structured.status).toBe('waiting_for_approval');

    expect((await running.operator('POST', runId)).status).toBe(200);
    const again = await running.operator('POST', runId);
    expect(again.status).toBe(409);
    expect(await again.json()).toMatchObject({ status: 'paid' });
    expect((await agent.call('payment_result', { runId })).structured).toMatchObject({ status: 'paid', amount: 1398 });
    expect(await agent.toolNames()).toContain('order_start_over');
  });

  it('is decided once by sixteen operators who press the button at the same time', async () => {
    const running = await aRunningDemo();
    const runId = await aParkedPayment(await running.agent());
    const answers = await Promise.all(Array.from({ length: 16 }, () => running.operator('POST', runId)));
    expect(answers.map((answer) => answer.status).filter((status) => status === 200)).toHaveLength(1);
    expect(answers.map((answer) => answer.status).filter((status) => status === 409)).toHaveLength(15);
  });

  it('goes back to payment when the operator rejects it', async () => {
    const running = await aRunningDemo();
    const agent = await running.agent();
    const runId = await aParkedPayment(agent);
    const rejected = await running.operator('POST', runId, { decision: 'reject', reason: 'too many desks' });
    expect(await rejected.json()).toEqual({ status: 'rejected', reason: 'too many desks' });
    expect((await agent.call('payment_result', { runId })).structured).toEqual({
      status: 'rejected',
      reason: 'too many desks',
    });
    expect(await agent.toolNames()).toContain('cart_pay');
  });

  it('is not settled by what was decided about an earlier payment of the same session', async () => {
    const running = await aRunningDemo();
    const agent = await running.agent();
    for (const decision of ['approve', 'reject']) {
      const earlier = await aParkedPayment(agent);
      await running.operator('POST', earlier, { decision });
      await agent.call(decision === 'approve' ? 'order_start_over' : 'cart_cancel_payment');
      const waiting = await aParkedPayment(agent);

      await agent.call('payment_result', { runId: earlier });
      expect(await agent.toolNames()).toEqual(['catalogue_list', 'cart_view', 'payment_result', 'mcp']);
      expect((await running.operator('POST', waiting)).status).toBe(200);
      expect(await agent.toolNames()).toContain('order_start_over');
      await agent.call('order_start_over');
    }
  });

  it('survives a restart of the server when there is a data folder', async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), 'interlock-demo-test-'));
    onTestFinished(() => rm(dataFolder, { recursive: true }));
    const before = await aRunningDemo({ dataFolder });
    const runId = await aParkedPayment(await before.agent());
    await before.close();

    const after = await aRunningDemo({ dataFolder });
    expect((await after.operator('GET', runId)).status).toBe(200);
    expect((await after.operator('POST', runId)).status).toBe(200);
    expect((await (await after.agent()).call('payment_result', { runId })).structured.status).toBe('paid');
  });
});

describe('a decision that is not one', () => {
  it.each([
    ['an empty object', {}],
    ['another word', { decision: 'maybe' }],
    ['a list', []],
    ['a reason that is an object', { decision: 'reject', reason: {} }],
  ])('%s is refused with what to send, and the payment still waits', async (_, body) => {
    const running = await aRunningDemo();
    const runId = await aParkedPayment(await running.agent());
    const answer = await running.operator('POST', runId, body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: expect.stringContaining('"decision"') });
    expect((await running.operator('GET', runId)).status).toBe(200);
  });

  it.each(['unknown', '../../etc/passwd', '%00', 'a'.repeat(500), '{x}:v'])(
    'the run id %j is unknown, not a crash',
    async (runId) => {
      const running = await aRunningDemo();
      expect((await running.operator('GET', encodeURIComponent(runId))).status).toBe(404);
      expect((await running.operator('POST', encodeURIComponent(runId))).status).toBe(404);
      const answer = await (await running.agent()).call('payment_result', { runId: runId.slice(0, 128) });
      expect(answer.isError).toBe(true);
      expect(answer.text).toContain('cart_pay');
    },
  );
});
