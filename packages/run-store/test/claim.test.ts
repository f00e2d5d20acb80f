import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AgentRunState,
  createRunStore,
  newAgentRunId,
  type RunClaim,
  type RunEvent,
  type RunStore,
} from '../src/index.js';
import { backends, type TestBackend } from './support/backends.js';
import { aClock, aPausedRun } from './support/runs.js';

const scope = { tenant: 'acme', principal: 'ada' };
const leaseMs = 30_000;

describe.each(Object.entries(backends))('a claim on %s', (_, open) => {
  const clock = aClock();
  const events: RunEvent[] = [];
  let opened: TestBackend;
  let runs: RunStore<AgentRunState>;
  beforeAll(async () => {
    opened = await open(clock);
    runs = createRunStore<AgentRunState>({
      backend: opened.backend,
      now: clock.now,
      outcomeSeconds: 600,
      onEvent: (event) => events.push(event),
    });
  });
  afterAll(() => opened.close());

  const park = async (): Promise<string> => {
    const id = newAgentRunId();
    await runs.store(id, aPausedRun(), { scope });
    return id;
  };
  const claimed = async (id: string, owner = 'worker'): Promise<RunClaim<AgentRunState>> => {
    const result = await runs.claim(id, { leaseMs, owner });
    if (result.kind !== 'claimed') throw new Error(`not claimed: ${result.kind}`);
    return result.claim;
  };

  it('hands out the state, and holds it against claims and consumers while the lease lives', async () => {
    const id = await park();
    const claim = await claimed(id);
    expect(claim.state).toEqual(aPausedRun());
    expect(await runs.claim(id, { leaseMs, owner: 'other' })).toEqual({ kind: 'held', retryInMs: leaseMs });
    expect(await runs.consume(id)).toBeNull();
    expect(await runs.load(id)).toEqual(aPausedRun());
  });

  it('has one winner among many claimers', async () => {
    const id = await park();
    const results = await Promise.all(
      Array.from({ length: 16 }, (_, i) => runs.claim(id, { leaseMs, owner: `w${i}` })),
    );
    expect(results.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'held')).toHaveLength(15);
  });

  it('of a crashed worker ends with its lease: the run can be claimed again, with a higher fence', async () => {
    const id = await park();
    const crashed = await claimed(id);
    clock.advance(leaseMs);
    const second = await claimed(id, 'second');
    expect(second.fence).toBeGreaterThan(crashed.fence);
    expect(second.state).toEqual(aPausedRun());
  });

  it('of a crashed worker does not keep the run from being consumed after its lease', async () => {
    const id = await park();
    await claimed(id);
    clock.advance(leaseMs);
    expect(await runs.consume(id)).toEqual(aPausedRun());
    expect(await runs.consume(id)).toBeNull();
  });

  it('that was overtaken is refused: a stale fence can neither extend, release nor acknowledge', async () => {
    const id = await park();
    const stale = await claimed(id);
    clock.advance(leaseMs);
    const current = await claimed(id, 'second');
    const refusal = { code: 'STALE_FENCE', fence: stale.fence };
    await expect(stale.extend(leaseMs)).rejects.toMatchObject(refusal);
    await expect(stale.release()).rejects.toMatchObject(refusal);
    await expect(stale.ack({ outcome: 'late' })).rejects.toMatchObject(refusal);
    await current.ack({ outcome: 'done' });
    expect(await runs.outcome(id)).toEqual({ outcome: 'done' });
  });

  it('lives as long as it is extended, and the run with it', async () => {
    const id = newAgentRunId();
    await runs.store(id, aPausedRun(), { ttlSeconds: 10 });
    const claim = await claimed(id);
    for (let i = 0; i < 5; i++) {
      clock.advance(leaseMs - 1);
      await claim.extend(leaseMs);
    }
    expect(await runs.claim(id, { leaseMs, owner: 'other' })).toMatchObject({ kind: 'held' });
    clock.advance(leaseMs);
    expect(await runs.claim(id, { leaseMs, owner: 'other' })).toMatchObject({ kind: 'claimed' });
  });

  it('may be acknowledged late, as long as nobody else has claimed', async () => {
    const id = await park();
    const claim = await claimed(id);
    clock.advance(leaseMs + 1);
    await claim.ack();
    expect(await runs.load(id)).toBeNull();
  });

  it('gives the run back at once when released, and may be released twice', async () => {
    const id = await park();
    const claim = await claimed(id);
    await claim.release();
    await claim.release();
    expect(await runs.consume(id)).toEqual(aPausedRun());
  });

  it('ends the run for good when acknowledged, and may be acknowledged twice', async () => {
    const id = await park();
    const claim = await claimed(id);
    await claim.ack();
    await claim.ack();
    expect(await runs.load(id)).toBeNull();
    expect(await runs.claim(id, { leaseMs, owner: 'other' })).toEqual({ kind: 'not_found' });
  });

  it('is answered with the first outcome when the work was done before', async () => {
    const id = await park();
    await (await claimed(id)).ack({ outcome: { paid: 12n, at: new Date(0) } });
    const settled = { kind: 'settled', outcome: { paid: 12n, at: new Date(0) } };
    expect(await runs.claim(id, { leaseMs, owner: 'again' })).toEqual(settled);
    expect(await runs.claim(id, { leaseMs, owner: 'again', decision: { approved: ['call_1'] }, scope })).toEqual(
      settled,
    );
    const eve = { leaseMs, owner: 'eve', scope: { tenant: 'acme', principal: 'eve' } };
    await expect(runs.claim(id, eve)).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    await expect(runs.outcome(id, eve)).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    clock.advance(600_000);
    expect(await runs.claim(id, { leaseMs, owner: 'again' })).toEqual({ kind: 'not_found' });
    expect(await runs.outcome(id)).toBeNull();
  });

  it('checks scope and decision before it takes the run', async () => {
    const id = await park();
    const wrong = { leaseMs, owner: 'w', decision: { approved: ['forged'] }, scope };
    await expect(runs.claim(id, wrong)).rejects.toMatchObject({ code: 'DECISION_INVALID' });
    await expect(
      runs.claim(id, { ...wrong, decision: { approved: ['call_1'] }, scope: undefined }),
    ).rejects.toMatchObject({
      code: 'SCOPE_MISMATCH',
    });
    const eve = { leaseMs, owner: 'eve', scope: { tenant: 'evil' } };
    await expect(runs.claim(id, eve)).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    const result = await runs.claim(id, { leaseMs, owner: 'w', decision: { approved: ['call_1'] }, scope });
    expect(result).toMatchObject({ kind: 'claimed', claim: { decision: { approved: ['call_1'] } } });
  });

  it('that was asked for again with its token is the same claim', async () => {
    const id = await park();
    const token = 'a-token-of-the-caller';
    const [first, again] = [
      await runs.claim(id, { leaseMs, owner: 'w', token }),
      await runs.claim(id, { leaseMs, owner: 'w', token }),
    ];
    if (first.kind !== 'claimed' || again.kind !== 'claimed') throw new Error('not claimed');
    expect(again.claim.fence).toBe(first.claim.fence);
  });

  it('cannot outlive a cancelled run', async () => {
    const id = await park();
    const claim = await claimed(id);
    expect(await runs.cancel(id)).toBe(true);
    await expect(claim.ack()).rejects.toMatchObject({ code: 'STALE_FENCE' });
  });

  it('lets the worker park the next pause under the same id before it acknowledges', async () => {
    const id = await park();
    const claim = await claimed(id);
    await runs.store(id, aPausedRun({ stepsSoFar: 4 }), { scope });
    expect(await runs.claim(id, { leaseMs, owner: 'eager' })).toMatchObject({ kind: 'held' });
    await claim.ack();
    expect(await runs.consume(id)).toMatchObject({ stepsSoFar: 4 });
  });

  it('is told of by events that name owner and fence, and neither payload nor run id', async () => {
    events.length = 0;
    const id = await park();
    const claim = await claimed(id, 'worker-7');
    await claim.ack();
    expect(events.map(({ type }) => type)).toEqual(['stored', 'claimed', 'acknowledged']);
    expect(events[1]).toMatchObject({ by: 'worker-7', fence: claim.fence, key: await runs.keyOf(id), scope });
    expect(JSON.stringify(events)).not.toContain(id);
    expect(JSON.stringify(events)).not.toContain('delete_user');
  });
});
