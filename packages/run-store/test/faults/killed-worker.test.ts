import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { type AgentRunState, createRunStore, type RunStore } from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { aPausedRun } from '../../src/testing/index.js';
import { aRedisPlace } from '../conformance/redis-places.js';
import { openBackend, type Place } from './places.js';
import { LEASE_MS, type Step } from './worker-steps.js';

const url = inject('redisUrl') ?? '';
const DB = 15;

interface Site {
  readonly place: Place;
  readonly runs: RunStore<AgentRunState>;
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

describe.skipIf(!url)('on Redis, a worker that is killed', () => theWorker(onRedis));
describe('on SQLite, a worker that is killed', () => theWorker(onSqlite));

function theWorker(open: () => Promise<Site>): void {
  let site: Site;
  let runId: string;
  beforeEach(async () => {
    runId = crypto.randomUUID();
    site = await open();
  });
  afterEach(() => site.close());

  const claim = () => site.runs.claim(runId, { leaseMs: LEASE_MS, owner: 'rescuer' });
  const killedAfter = (step: Step) => killAfter(step, site.place, runId);

  test('after storing leaves the run for somebody else', async () => {
    await killedAfter('stored');
    expect(await site.runs.load(runId)).toEqual(aPausedRun(runId));
    expect(await site.runs.consume(runId)).toEqual(aPausedRun(runId));
  });

  test('after consuming has taken the run with it: that is what claims are for', async () => {
    await killedAfter('consumed');
    expect(await site.runs.consume(runId)).toBeNull();
  });

  test('after claiming is waited for until its lease is over; then the run is claimed again, with a greater fence', async () => {
    await killedAfter('claimed');
    expect(await claim()).toMatchObject({ kind: 'held' });
    expect(await site.runs.consume(runId)).toBeNull();
    await site.advance(LEASE_MS + 1);
    const first = await claim();
    if (first.kind !== 'claimed') throw new Error(first.kind);
    expect(first.claim.state).toEqual(aPausedRun(runId));
    await site.advance(LEASE_MS + 1);
    const second = await claim();
    if (second.kind !== 'claimed') throw new Error(second.kind);
    expect(second.claim.fence).toBeGreaterThan(first.claim.fence);
    await expect(first.claim.ack()).rejects.toMatchObject({ code: 'STALE_FENCE' });
    await second.claim.ack();
  });

  test('in the middle of its work loses nothing but the work', async () => {
    await killedAfter('extended');
    await site.advance(LEASE_MS + 1);
    expect(await claim()).toMatchObject({ kind: 'claimed', claim: { state: aPausedRun(runId) } });
  });

  test('after its work and before it said so has its work done again', async () => {
    await killedAfter('worked');
    expect(await claim()).toMatchObject({ kind: 'held' });
    await site.advance(LEASE_MS + 1);
    expect(await claim()).toMatchObject({ kind: 'claimed', claim: { state: aPausedRun(runId) } });
  });

  test('after it said so has its answer given to whoever asks again', async () => {
    await killedAfter('acknowledged');
    for (let repeat = 0; repeat < 2; repeat += 1) {
      expect(await claim()).toEqual({ kind: 'settled', outcome: 'the first answer' });
    }
    expect(await site.runs.consume(runId)).toBeNull();
  });
}

/** Starts a worker and kills it with SIGKILL once it has reported the step. */
async function killAfter(step: Step, place: Place, runId: string): Promise<void> {
  const worker = fork(new URL('./worker-process.ts', import.meta.url), [JSON.stringify(place), runId, step], {
    execArgv: ['--import', 'tsx'],
  });
  const gone = once(worker, 'exit');
  await reported(worker, step);
  worker.kill('SIGKILL');
  await gone;
}

function reported(worker: ChildProcess, step: Step): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message) => message === step && resolve());
    worker.once('exit', (code) => reject(new Error(`the worker ended with ${code} before '${step}'`)));
  });
}

async function onRedis(): Promise<Site> {
  const place: Place = { kind: 'redis', url, db: DB };
  const redis = aRedisPlace(() => new Redis(url, { db: DB }));
  const runs = createRunStore<AgentRunState>({ backend: redisRunBackend({ client: redis.client }), ttlSeconds: 600 });
  return { place, runs, advance: redis.age, close: redis.close };
}

async function onSqlite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'interlock-crash-'));
  const place: Place = { kind: 'sqlite', path: join(folder, 'runs.db') };
  let skew = 0;
  const runs = createRunStore<AgentRunState>({ backend: await openBackend(place, () => skew), ttlSeconds: 600 });
  return {
    place,
    runs,
    async advance(ms) {
      skew += ms;
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
