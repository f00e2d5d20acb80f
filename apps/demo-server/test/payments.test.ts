import { type AgentRunState, createRunStore, memoryRunBackend, OutcomeUnknownError } from '@mcp-interlock/run-store';
import { describe, expect, it } from 'vitest';
import { Payments } from '../src/payments.js';

const order = { sessionKey: 's', principal: 'local', amount: 700, items: ['1 × Standing desk'] };

describe('the payments that wait', () => {
  it('are all listed, however many there are', async () => {
    const payments = new Payments(aStore());
    for (let parked = 0; parked < 450; parked++) await payments.park(order);
    expect((await payments.waiting()).payments).toHaveLength(450);
  });

  it('are listed beside a run that is no payment, which is named', async () => {
    const runs = aStore();
    const payments = new Payments(runs);
    const runId = await payments.park(order);
    const foreign: AgentRunState = { messages: [], pendingToolCallIds: [], stepsSoFar: 0, tokensSoFar: 0 };
    const scope = { tenant: 'demo', principal: 'local' };
    await runs.store('foreign', { ...foreign, pauseKind: 'approval', meta: { amount: '<b>' } }, { scope });
    const waiting = await payments.waiting();
    expect(waiting.payments.map((payment) => payment.runId)).toEqual([runId]);
    expect(waiting.unreadable).toMatchObject([{ runId: 'foreign' }]);
    expect(String(waiting.unreadable[0]?.error)).toContain('amount');
    // A decision on it names the field each time and leaves no claim behind.
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(payments.decide('foreign', { kind: 'approve' }, 'operator')).rejects.toThrow('amount');
    }
  });
});

describe('a payment whose answer from the store is lost', () => {
  it('waits once, under the id that the agent is given', async () => {
    const runs = aStore();
    const payments = new Payments(losing(runs, 2));
    const runId = await payments.park(order);
    expect((await payments.waiting()).payments.map((payment) => payment.runId)).toEqual([runId]);
  });

  it('is an error when the store never answers', async () => {
    await expect(new Payments(losing(aStore(), Number.POSITIVE_INFINITY)).park(order)).rejects.toThrow(
      OutcomeUnknownError,
    );
  });
});

/** The store does what it is asked; the first answers do not arrive. */
function losing(runs: ReturnType<typeof aStore>, answers: number): typeof runs {
  const store = runs.store.bind(runs);
  let left = answers;
  runs.store = async (...args) => {
    const stored = store(...args);
    if (left-- <= 0) return stored;
    await stored.catch(() => {});
    throw new OutcomeUnknownError('store');
  };
  return runs;
}

function aStore() {
  return createRunStore<AgentRunState>({ backend: memoryRunBackend({ maxRuns: 1_000 }), ttlSeconds: 60 });
}
