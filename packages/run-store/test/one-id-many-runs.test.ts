/** The same run id is used again for the next pause: what is about one run must never reach the other. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AgentRunState, createRunStore, newAgentRunId, type RunBackend, type RunStore } from '../src/index.js';
import { redisRunBackend } from '../src/redis.js';
import { backends, type TestBackend } from './support/backends.js';
import { aClock, aPausedRun, type TestClock } from './support/runs.js';

const url = inject('redisUrl');
const onRedis = async (): Promise<TestBackend> => {
  const client = new Redis(url!);
  return { backend: redisRunBackend({ client }), close: async () => void (await client.quit()) };
};
const everywhere: Record<string, (clock: TestClock) => Promise<TestBackend>> = {
  ...backends,
  ...(url === undefined ? {} : { redis: onRedis }),
};
const token = 'a-token-that-was-used-before';
const scope = { tenant: 'acme', principal: 'ada' };
const first = aPausedRun({ meta: 'first' });
const second = aPausedRun({ meta: 'second' });
const yes = { approved: ['call_1'] };

describe.each(Object.entries(everywhere))('two runs of one id on %s', (_, open) => {
  let opened: TestBackend;
  let runs: RunStore<AgentRunState>;
  beforeAll(async () => {
    opened = await open(aClock());
    runs = createRunStore<AgentRunState>({ backend: opened.backend });
  });
  afterAll(() => opened.close());

  it.each(['cancel', 'touch'] as const)(
    'a %s checks a scope and acts on that very run, not on the next one',
    async (act) => {
      const id = newAgentRunId();
      const other = { tenant: 'acme', principal: 'bob' };
      await runs.store(id, first, { scope });
      // Somebody else's run takes the place of the first right after it was looked at.
      const { backend } = opened;
      const racing: RunBackend = {
        ...backend,
        get: async (key) => {
          const seen = await backend.get(key);
          await runs.store(id, second, { scope: other });
          return seen;
        },
      };
      const acting = createRunStore<AgentRunState>({ backend: racing });
      const done = act === 'cancel' ? acting.cancel(id, { scope }) : acting.touch(id, { scope, ttlSeconds: 1 });
      expect(await done).toBe(false);
      expect(await runs.load(id, { scope: other })).toEqual(second);
    },
  );

  it('a resume that is repeated gets the run that its token took, and leaves the next one', async () => {
    const id = newAgentRunId();
    await runs.store(id, first, { scope });
    await runs.resume(id, yes, scope, { token });
    await runs.store(id, second, { scope });
    expect(await runs.resume(id, yes, scope, { token })).toMatchObject({ kind: 'resumed', state: first });
    expect(await runs.resume(id, yes, scope)).toMatchObject({ kind: 'resumed', state: second });
    expect(await runs.resume(id, yes, scope)).toEqual({ kind: 'not_found' });
  });

  it('a claim that is repeated never hands out the next run under the lease of the first', async () => {
    const id = newAgentRunId();
    await runs.store(id, first, { scope });
    const claimed = await runs.claim(id, { leaseMs: 60_000, owner: 'w', token });
    await runs.store(id, second, { scope });
    for (const asked of [{ scope }, { scope, decision: yes }]) {
      const repeated = runs.claim(id, { leaseMs: 60_000, owner: 'w', token, ...asked });
      await expect(repeated).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining('token'),
      });
    }
    if (claimed.kind === 'claimed') await claimed.claim.ack({ outcome: 'done' });
    expect(await runs.consume(id)).toEqual(second);
  });

  it('a consume with a scope checks the copy that its token took before', async () => {
    const id = newAgentRunId();
    await runs.store(id, first, { scope: { tenant: 'other' } });
    await runs.consume(id, { token });
    await expect(runs.consume(id, { token, scope })).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
  });

  it('a consume with a scope does not take what was stored after its look', async () => {
    const id = newAgentRunId();
    const { backend } = opened;
    const late: RunBackend = {
      ...backend,
      async get(key) {
        const found = await backend.get(key);
        await runs.store(id, second, { scope: { tenant: 'other' } });
        return found;
      },
    };
    expect(await createRunStore<AgentRunState>({ backend: late }).consume(id, { scope })).toBeNull();
    expect(await runs.load(id)).toEqual(second);
  });

  it('the end of the first does not forget what was decided about the next', async () => {
    const id = newAgentRunId();
    await runs.store(id, first, { scope });
    const claimed = await runs.claim(id, { leaseMs: 60_000, owner: 'w' });
    await runs.store(id, aPausedRun({ pendingToolCallIds: ['a', 'b'] }), { scope });
    await runs.resume(id, { approved: ['a'] }, scope, { mode: 'partial' });
    if (claimed.kind === 'claimed') await claimed.claim.ack({ outcome: 'done' });
    const completed = await runs.resume(id, { approved: ['b'] }, scope, { mode: 'partial' });
    expect(completed).toMatchObject({ kind: 'resumed', decision: { approved: ['a', 'b'] } });
  });

  it('a stranger who claims never holds the run, not for a moment', async () => {
    const id = newAgentRunId();
    await runs.store(id, first, { scope });
    let claims = 0;
    const watched: RunBackend = {
      ...opened.backend,
      claims: {
        ...opened.backend.claims!,
        claim: (key, request) => {
          claims += 1;
          return opened.backend.claims!.claim(key, request);
        },
      },
    };
    const eve = { leaseMs: 60_000, owner: 'eve', scope: { tenant: 'acme', principal: 'eve' } };
    const claimed = createRunStore<AgentRunState>({ backend: watched }).claim(id, eve);
    await expect(claimed).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    expect(claims).toBe(0);
  });

  it('a touch never lets a run expire under its worker', async () => {
    const clock = aClock();
    const place = await open(clock);
    const held = createRunStore<AgentRunState>({ backend: place.backend });
    const id = newAgentRunId();
    await held.store(id, first);
    const claimed = await held.claim(id, { leaseMs: 600_000, owner: 'w' });
    await held.touch(id, { ttlSeconds: 0.001 });
    clock.advance(60_000);
    expect(await held.load(id)).toEqual(first);
    if (claimed.kind === 'claimed') await claimed.claim.ack();
    await place.close();
  });

  it('an approver who is overtaken seventy times is heard all the same', async () => {
    const id = newAgentRunId();
    const pendingToolCallIds = Array.from({ length: 80 }, (_, i) => `call_${i}`);
    await runs.store(id, aPausedRun({ pendingToolCallIds }), { scope });
    const cells = opened.backend.cells!;
    let overtaken = 0;
    const slow: RunBackend = {
      ...opened.backend,
      cells: {
        read: cells.read,
        async swap(key, change) {
          if (overtaken < 70) {
            overtaken += 1;
            await runs.resume(id, { approved: [`call_${overtaken}`] }, scope, { mode: 'partial' });
          }
          return cells.swap(key, change);
        },
      },
    };
    const late = createRunStore<AgentRunState>({ backend: slow });
    const answer = await late.resume(id, { approved: ['call_0'] }, scope, { mode: 'partial' });
    expect(answer).toEqual({ kind: 'waiting', missing: pendingToolCallIds.slice(71) });
  });
});
