import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDecision, type RunDecision, type Verdict } from '../src/engine/decision.js';
import {
  type AgentRunState,
  cacheRunBackend,
  createRunStore,
  type DecisionError,
  memoryRunBackend,
  newAgentRunId,
  type RunBackend,
  type RunStore,
} from '../src/index.js';
import { backends, type TestBackend } from './support/backends.js';
import { aClock, aPausedRun } from './support/runs.js';

const scope = { tenant: 'acme', principal: 'ada' };
const twoApprovals = aPausedRun({ pendingToolCallIds: ['a', 'b'] });
const twoTools = aPausedRun({ pauseKind: 'client_tool', pendingToolCallIds: ['a', 'b'] });

describe.each(Object.entries(backends))('resuming on %s', (_, open) => {
  let opened: TestBackend;
  let runs: RunStore<AgentRunState>;
  const park = async (state = twoApprovals): Promise<string> => {
    const id = newAgentRunId();
    await runs.store(id, state, { scope });
    return id;
  };
  beforeAll(async () => {
    opened = await open(aClock());
    runs = createRunStore<AgentRunState>({ backend: opened.backend });
  });
  afterAll(() => opened.close());

  it('takes the run when scope and decision fit, once', async () => {
    const id = await park();
    const decision = { approved: ['a'], rejected: [{ toolCallId: 'b', reason: 'too much' }] };
    expect(await runs.resume(id, decision, scope)).toEqual({
      kind: 'resumed',
      state: twoApprovals,
      decision: { results: [], approved: ['a'], rejected: [{ toolCallId: 'b', reason: 'too much' }] },
      scope,
    });
    expect(await runs.resume(id, decision, scope)).toEqual({ kind: 'not_found' });
    expect(await runs.load(id)).toBeNull();
  });

  it.each([
    ['another principal', { tenant: 'acme', principal: 'eve' }, ['principal']],
    ['another tenant', { tenant: 'evil', principal: 'ada' }, ['tenant']],
    ['no scope at all', undefined, ['tenant', 'principal']],
  ])('refuses %s and leaves the run', async (_, given, fields) => {
    const id = await park();
    const resumed = runs.resume(id, { approved: ['a', 'b'] }, given);
    await expect(resumed).rejects.toMatchObject({ code: 'SCOPE_MISMATCH', fields });
    await expect(resumed).rejects.not.toMatchObject({ message: expect.stringContaining('ada') });
    expect(await runs.load(id, { scope })).toEqual(twoApprovals);
  });

  it('guards load, consume and cancel by scope as well, when one is given', async () => {
    const id = await park();
    const eve = { scope: { tenant: 'acme', principal: 'eve' } };
    await expect(runs.load(id, eve)).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    await expect(runs.consume(id, eve)).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    await expect(runs.cancel(id, eve)).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    await expect(runs.touch(id, eve)).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    expect(await runs.consume(id, { scope })).toEqual(twoApprovals);
  });

  const result = (toolCallId: string) => ({ toolCallId, result: 1 });
  it.each<[string, AgentRunState, unknown, { kind: string; id: string }[]]>([
    ['a forged id', twoApprovals, { approved: ['a', 'b', 'x'] }, [{ kind: 'not_pending', id: 'x' }]],
    ['an id left out', twoApprovals, { approved: ['a'] }, [{ kind: 'missing', id: 'b' }]],
    [
      'everything left out',
      twoTools,
      {},
      [
        { kind: 'missing', id: 'a' },
        { kind: 'missing', id: 'b' },
      ],
    ],
    ['an id doubled', twoApprovals, { approved: ['a', 'a', 'b'] }, [{ kind: 'doubled', id: 'a' }]],
    ['a result doubled', twoTools, { results: ['a', 'b', 'b'].map(result) }, [{ kind: 'doubled', id: 'b' }]],
    [
      'an id both approved and rejected',
      twoApprovals,
      { approved: ['a', 'b'], rejected: ['b'] },
      [{ kind: 'contradicting', id: 'b' }],
    ],
    [
      'a yes where a result is due',
      twoTools,
      { approved: ['a'], results: [result('b')] },
      [{ kind: 'wrong_kind', id: 'a' }],
    ],
    [
      'a result where a yes is due',
      twoApprovals,
      { approved: ['a'], results: [result('b')] },
      [{ kind: 'wrong_kind', id: 'b' }],
    ],
    [
      'several faults',
      twoApprovals,
      { approved: ['x', 'y'] },
      [
        { kind: 'not_pending', id: 'x' },
        { kind: 'not_pending', id: 'y' },
      ],
    ],
    ['no decision', twoApprovals, null, [{ kind: 'malformed', id: 'decision' }]],
    ['a list that is none', twoApprovals, { approved: 'a' }, [{ kind: 'malformed', id: 'approved' }]],
    ['an id that is none', twoApprovals, { rejected: ['a', 7] }, [{ kind: 'malformed', id: 'rejected[1]' }]],
  ])('refuses %s, says so, and leaves the run', async (_, state, decision, problems) => {
    const id = await park(state);
    await expect(runs.resume(id, decision as RunDecision, scope)).rejects.toMatchObject({
      code: 'DECISION_INVALID',
      problems,
    });
    expect(await runs.load(id)).toEqual(state);
  });

  it('gathers partial decisions of several approvers until they are complete', async () => {
    const id = await park();
    const partial = { mode: 'partial' } as const;
    expect(await runs.resume(id, { approved: ['a'] }, scope, partial)).toEqual({ kind: 'waiting', missing: ['b'] });
    expect(await runs.load(id)).toEqual(twoApprovals);
    // The same again is no harm; the opposite is refused.
    expect(await runs.resume(id, { approved: ['a'] }, scope, partial)).toEqual({ kind: 'waiting', missing: ['b'] });
    await expect(runs.resume(id, { rejected: ['a'] }, scope, partial)).rejects.toMatchObject({
      problems: [{ kind: 'already_decided', id: 'a' }],
    });
    expect(await runs.resume(id, { rejected: ['b'] }, scope, partial)).toMatchObject({
      kind: 'resumed',
      decision: { approved: ['a'], rejected: [{ toolCallId: 'b' }] },
    });
  });

  it('completes once when all approvers answer at the same time', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const id = await park(aPausedRun({ pendingToolCallIds: ids }));
    const answers = await Promise.all(
      ids.map((one) => runs.resume(id, { approved: [one] }, scope, { mode: 'partial' })),
    );
    const resumed = answers.filter((answer) => answer.kind === 'resumed');
    expect(resumed).toMatchObject([{ decision: { approved: ids } }]);
    expect(answers.filter((answer) => answer.kind === 'waiting')).toHaveLength(5);
  });

  it('does not let a complete decision pass over one that came between', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await park();
      const answers = await Promise.allSettled([
        runs.resume(id, { rejected: ['a'] }, scope, { mode: 'partial' }),
        runs.resume(id, { approved: ['a', 'b'] }, scope),
      ]);
      const [no, yes] = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.kind : 'refused'));
      // Either the rejection was kept, and the approval refused; or the run was resumed, and the rejection came late.
      expect([
        ['waiting', 'refused'],
        ['not_found', 'resumed'],
      ]).toContainEqual([no, yes]);
    }
  });

  it('forgets partial decisions of an earlier run under the same id', async () => {
    const id = await park();
    await runs.resume(id, { approved: ['a'] }, scope, { mode: 'partial' });
    await runs.store(id, twoApprovals, { scope });
    expect(await runs.resume(id, { rejected: ['a'] }, scope, { mode: 'partial' })).toEqual({
      kind: 'waiting',
      missing: ['b'],
    });
  });

  it('hands the run to the same token again, and to no other', async () => {
    const id = await park();
    const token = 'a-token-of-the-caller';
    await runs.resume(id, { approved: ['a'] }, scope, { mode: 'partial' });
    const first = await runs.resume(id, { approved: ['b'] }, scope, { token });
    expect(first.kind).toBe('resumed');
    expect(await runs.resume(id, { approved: ['b'] }, scope, { token })).toEqual(first);
    expect(await runs.resume(id, { approved: ['b'] }, scope, { token: 'some-other-token-here' })).toEqual({
      kind: 'not_found',
    });
  });

  it('finds nothing to resume while somebody works on the run, and does not knock at the store for it', async () => {
    const id = await park();
    await runs.claim(id, { leaseMs: 60_000, owner: 'w' });
    let looks = 0;
    const get: RunBackend['get'] = (key) => {
      looks += 1;
      return opened.backend.get(key);
    };
    const watched = createRunStore<AgentRunState>({ backend: { ...opened.backend, get } });
    expect(await watched.resume(id, { approved: ['a', 'b'] }, scope)).toEqual({ kind: 'not_found' });
    expect(await watched.resume(id, { approved: ['a'] }, scope, { mode: 'partial' })).toEqual({ kind: 'not_found' });
    expect(looks).toBeLessThanOrEqual(4);
  });

  it('takes only the run that it has validated, not one stored meanwhile under its id', async () => {
    const id = await park();
    const { backend } = opened;
    const later = aPausedRun({ pendingToolCallIds: ['a', 'b'], stepsSoFar: 99 });
    let meddled = false;
    const meddling: RunBackend = {
      ...backend,
      take: async (key, options) => {
        if (!meddled) {
          meddled = true;
          await runs.consume(id);
          await runs.store(id, { ...later, pendingToolCallIds: ['z'] }, { scope });
        }
        return backend.take(key, options);
      },
    };
    const racing = createRunStore<AgentRunState>({ backend: meddling });
    await expect(racing.resume(id, { approved: ['a', 'b'] }, scope)).rejects.toMatchObject({
      code: 'DECISION_INVALID',
    });
    expect(await runs.load(id)).toMatchObject({ stepsSoFar: 99 });
  });
});

describe('resuming', () => {
  it('works over a cache for whole decisions, and says what partial ones need', async () => {
    const entries = new Map<string, unknown>();
    const runs = createRunStore<AgentRunState>({
      backend: cacheRunBackend({
        cache: {
          get: async <T>(key: string) => (entries.get(key) ?? null) as T | null,
          set: async (key, value) => void entries.set(key, value),
          forget: async (key) => void entries.delete(key),
        },
      }),
    });
    await runs.store('run', twoApprovals, { scope });
    const partial = runs.resume('run', { approved: ['a'] }, scope, { mode: 'partial' });
    await expect(partial).rejects.toMatchObject({ code: 'UNSUPPORTED', message: expect.stringContaining('"cache"') });
    expect(await runs.resume('run', { approved: ['a', 'b'] }, scope)).toMatchObject({ kind: 'resumed' });
  });

  it('says the outcome is unknown when the store does not answer, and gives the token to ask again with', async () => {
    const backend = memoryRunBackend();
    let lost = true;
    const lossy: RunBackend = {
      ...backend,
      take: async (key, options) => {
        const taken = await backend.take(key, options);
        if (lost) throw new Error('socket closed');
        return taken;
      },
    };
    const runs = createRunStore<AgentRunState>({ backend: lossy });
    await runs.store('run', twoApprovals);
    const error = await runs.resume('run', { approved: ['a', 'b'] }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN', token: expect.any(String) });
    lost = false;
    const { token } = error as { token: string };
    expect(await runs.resume('run', { approved: ['a', 'b'] }, undefined, { token })).toMatchObject({ kind: 'resumed' });
  });
});

describe('the message of a refused decision', () => {
  it('stays a line, whatever and however much was sent', async () => {
    const runs = createRunStore<AgentRunState>({ backend: memoryRunBackend() });
    await runs.store('run', twoApprovals);
    const approved = Array.from({ length: 1_000 }, (_, i) => `${i}\n${'x'.repeat(10_000)}`);
    const error = (await runs.resume('run', { approved }).catch((thrown: unknown) => thrown)) as DecisionError;
    expect(error.problems).toHaveLength(1_000);
    expect(error.message.length).toBeLessThan(1_500);
    expect(error.message).not.toContain('\n');
    expect(error.message).toContain('"0\\nxxx');
    expect(error.message).toContain('and 992 more');
  });
});

describe('a check of a decision', () => {
  const ids = fc.uniqueArray(fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
  const anyDecision = fc.record(
    {
      approved: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'x')),
      rejected: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'x')),
    },
    { requiredKeys: [] },
  );

  it('is complete exactly when every pending id is answered once and nothing else is', () => {
    fc.assert(
      fc.property(ids, anyDecision, (pending, decision) => {
        const answered = [...(decision.approved ?? []), ...(decision.rejected ?? [])];
        const fits = new Set(answered).size === answered.length && answered.every((id) => pending.includes(id));
        const check = checkDecision({ pauseKind: 'approval', pending, decided: [] }, decision);
        const expected = !fits ? 'invalid' : answered.length === pending.length ? 'complete' : 'partial';
        expect(check.kind).toBe(expected);
      }),
    );
  });

  it('comes to the same end in whatever pieces and order the verdicts arrive', () => {
    const verdicts = ids.chain((pending) =>
      fc.record({
        pending: fc.constant(pending),
        yes: fc.array(fc.boolean(), { minLength: pending.length, maxLength: pending.length }),
        order: fc.shuffledSubarray(pending, { minLength: pending.length }),
      }),
    );
    fc.assert(
      fc.property(verdicts, ({ pending, yes, order }) => {
        const pick = (among: readonly string[], wanted: boolean): string[] =>
          among.filter((id) => yes[pending.indexOf(id)] === wanted);
        let decided: readonly Verdict[] = [];
        for (const id of order.slice(0, -1)) {
          const step = checkDecision(
            { pauseKind: 'approval', pending, decided },
            { approved: pick([id], true), rejected: pick([id], false) },
          );
          if (step.kind !== 'partial') throw new Error(step.kind);
          decided = step.decided;
        }
        const last = order.slice(-1);
        const piecewise = checkDecision(
          { pauseKind: 'approval', pending, decided },
          { approved: pick(last, true), rejected: pick(last, false) },
        );
        const atOnce = checkDecision(
          { pauseKind: 'approval', pending, decided: [] },
          { approved: pick(order, true), rejected: pick(order, false) },
        );
        expect(piecewise).toEqual(atOnce);
      }),
    );
  });

  it('survives any value in place of a decision', () => {
    fc.assert(
      fc.property(fc.anything(), (decision) => {
        expect(['invalid', 'partial']).toContain(
          checkDecision({ pauseKind: 'approval', pending: ['a'], decided: [] }, decision).kind,
        );
      }),
    );
  });
});
