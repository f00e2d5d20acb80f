/** Several real processes on one Redis, some killed in the middle. */
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { redisGateStore } from '../src/redis.js';
import type { Phase } from './processes/messages.js';
import { Worker } from './processes/spawn.js';

const url = inject('redisUrl') ?? '';
/** Lease times in milliseconds. */
const SHORT = 500;
const LONG = 60_000;

describe.skipIf(!url)('several processes on one Redis', () => {
  let client: Redis;
  let workers: Worker[] = [];
  beforeAll(() => {
    client = new Redis(url);
  });
  afterAll(() => client.disconnect());
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    workers = [];
  });

  /** One worker for each lease. Those that shall die have a short one, those that shall not may be slow. */
  async function start(...leases: number[]) {
    const prefix = `interlock:test:processes:${crypto.randomUUID()}:`;
    workers = leases.map((leaseMs) => new Worker(url, prefix, leaseMs));
    await Promise.all(workers.map((worker) => worker.ready()));
    const store = redisGateStore({ client, prefix });
    return { workers, log: `${prefix}log`, version: async (key: string) => (await store.read(key))?.version ?? 0 };
  }

  it('let one call at a time move a session, and lose no move', async () => {
    const { log, version } = await start(LONG, LONG, LONG, LONG);
    const outcomes = await Promise.all(
      workers.flatMap((worker) =>
        Array.from({ length: 20 }, (_, at) =>
          worker.call({ key: 'shared', tool: at % 2 ? 'turn_on' : 'turn_off', log }),
        ),
      ),
    );
    const done = outcomes.filter((outcome) => outcome === 'done').length;
    expect(outcomes.filter((outcome) => outcome === 'refused').length).toBe(outcomes.length - done);
    expect(done).toBeGreaterThan(0);
    expect(await version('shared')).toBe(done);

    // Begin, effect and end of each call are neighbours: no other call came between.
    const entries = (await client.lrange(log, 0, -1)).map((entry) => entry.split(' '));
    for (let at = 0; at < entries.length; at += 3) {
      expect(entries.slice(at, at + 3).map(([what]) => what)).toEqual(['begin', 'effect', 'end']);
      expect(new Set(entries.slice(at, at + 3).map(([, fence]) => fence)).size).toBe(1);
    }

    // The commits of all processes are one line: each begins where the one before ended, under a greater fence.
    const commits = workers
      .flatMap((worker) => worker.records.filter(({ kind }) => kind === 'committed'))
      .sort((one, other) => one.version - other.version);
    expect(commits.map((commit) => commit.version)).toEqual(commits.map((_, at) => at + 1));
    commits.reduce((before, commit) => {
      expect(commit.state).toBe(before.nextState);
      expect(commit.fence).toBeGreaterThan(before.fence ?? 0);
      return commit;
    });
  });

  /** In which of the phases the session has moved when the process dies there. */
  const phases: [Phase, 'not moved' | 'moved' | 'either'][] = [
    ['before the reservation', 'not moved'],
    ['after the reservation', 'not moved'],
    ['before the effect', 'not moved'],
    ['after the effect', 'not moved'],
    ['before the commit', 'not moved'],
    ['in the commit', 'either'],
    ['after the commit', 'moved'],
  ];

  it.each(phases)('go on when one is killed %s', async (phase, moved) => {
    const { log, version } = await start(SHORT, LONG);
    const [victim, survivor] = workers as [Worker, Worker];
    void victim.call({ key: 'shared', tool: 'turn_on', log, stopIn: phase });
    await victim.reaches(phase);
    await victim.kill();

    const after = await version('shared');
    if (moved !== 'either') expect(after).toBe(moved === 'moved' ? 1 : 0);
    // The survivor waits for the dead one's lease to run out; a session that moved takes the other tool.
    const first = await survivor.call({ key: 'shared', tool: 'turn_on', log });
    const moves = await version('shared');
    expect(first === 'done' ? moves : `${first} ${moves}`).toBe(
      moved === 'moved' || first !== 'done' ? 'refused 1' : 1,
    );
    expect(await survivor.call({ key: 'shared', tool: 'turn_off', log })).toBe('done');
    expect(await version('shared')).toBe(2);
  });

  it('go on when one is killed while it waits for another', async () => {
    const { log } = await start(LONG, SHORT, LONG);
    const [holder, victim, survivor] = workers as [Worker, Worker, Worker];
    const holding = holder.call({ key: 'shared', tool: 'turn_on', log, holdUntil: `${log}:go` });
    await holder.reaches('before the effect');
    void victim.call({ key: 'shared', tool: 'turn_off', log, stopIn: 'while it waits' });
    await victim.reaches('while it waits');
    await victim.kill();
    const next = survivor.call({ key: 'shared', tool: 'turn_off', log });
    await survivor.reaches('while it waits');
    await client.rpush(`${log}:go`, 'go');
    expect(await holding).toBe('done');
    expect(await next).toBe('done');
  });

  it('go on when one is killed after it renewed its lease', async () => {
    const { log, version } = await start(SHORT, LONG);
    const [victim, survivor] = workers as [Worker, Worker];
    void victim.call({ key: 'shared', tool: 'turn_on', log, holdUntil: `${log}:never`, stopIn: 'after a renewal' });
    await victim.reaches('after a renewal');
    await victim.kill();
    expect(await version('shared')).toBe(0);
    expect(await survivor.call({ key: 'shared', tool: 'turn_on', log })).toBe('done');
  });

  it('keep every committed move while processes are killed in the middle of a storm', async () => {
    const { log, version } = await start(SHORT, SHORT, LONG, LONG);
    const [first, second, ...survivors] = workers as [Worker, Worker, ...Worker[]];
    const storm = (worker: Worker, count: number) =>
      Array.from({ length: count }, (_, at) =>
        worker.call({ key: 'shared', tool: at % 2 ? 'turn_on' : 'turn_off', log }),
      );
    void storm(first, 10);
    void storm(second, 10);
    const surviving = Promise.all(survivors.flatMap((worker) => storm(worker, 15)));
    await Promise.all([first.reaches('before the effect'), second.reaches('before the commit')]);
    await Promise.all([first.kill(), second.kill()]);
    const outcomes = await surviving;
    expect(outcomes.every((outcome) => ['done', 'refused', 'EFFECT_NOT_RECORDED'].includes(outcome))).toBe(true);

    const commits = workers
      .flatMap((worker) => worker.records.filter(({ kind }) => kind === 'committed'))
      .sort((one, other) => one.version - other.version);
    // A killed process may have committed once more than it could tell; nobody's commit is there twice.
    expect(new Set(commits.map((commit) => commit.version)).size).toBe(commits.length);
    const final = await version('shared');
    expect(final - commits.length).toBeGreaterThanOrEqual(0);
    expect(final - commits.length).toBeLessThanOrEqual(2);
    for (const [at, commit] of commits.entries()) {
      const before = commits[at - 1];
      if (before) expect(commit.fence).toBeGreaterThan(before.fence ?? 0);
      // The state follows from the version alone: each move is the other one.
      expect(commit.state).toBe(commit.version % 2 ? 'off' : 'on');
    }
  });
});
