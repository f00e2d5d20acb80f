/** What lies under a run's key and is no run: told by a typed error, never `null`, and left where it is. */
import { PGlite } from '@electric-sql/pglite';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AgentRunState, createRunStore, newAgentRunId, type RunStore } from '../src/index.js';
import { type PostgresClient, postgresRunBackend } from '../src/postgres.js';
import { RedisAgentRunStore, type RedisClient } from '../src/redis.js';
import { openSqlite } from '../src/sqlite.js';
import { backends } from './support/backends.js';
import { aClock, aPausedRun } from './support/runs.js';

const url = inject('redisUrl');
const corrupt = { code: 'RUN_CORRUPT' };
const token = 'a-token-known-to-the-test';

async function expectLeftInPlace(runs: RunStore<AgentRunState>, id: string): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await expect(runs.consume(id)).rejects.toMatchObject(corrupt);
    await expect(runs.claim(id, { leaseMs: 60_000, owner: 'w' })).rejects.toMatchObject(corrupt);
    await expect(runs.resume(id, {})).rejects.toMatchObject(corrupt);
    await expect(runs.load(id)).rejects.toMatchObject(corrupt);
  }
}

describe.skipIf(url === undefined)('on Redis', () => {
  let client: Redis;
  beforeAll(() => {
    client = new Redis(url!);
  });
  afterAll(() => client.quit());

  it.each([300, 'never'] as const)('a key of another type stays as it was (life %s)', async (ttlSeconds) => {
    const runs = new RedisAgentRunStore({ client, ttlSeconds });
    const id = newAgentRunId();
    const key = `${await runs.keyOf(id)}:v`;
    await client.lpush(key, 'a job of somebody else');
    await expectLeftInPlace(runs, id);
    expect([await client.lrange(key, 0, -1), await client.ttl(key)]).toEqual([['a job of somebody else'], -1]);
  });

  it('an empty value is not overwritten by a store that asks for an absent id', async () => {
    const runs = new RedisAgentRunStore({ client });
    const id = newAgentRunId();
    await client.set(`${await runs.keyOf(id)}:v`, '');
    await expect(runs.store(id, aPausedRun(), { ifAbsent: true })).rejects.toMatchObject({ code: 'RUN_EXISTS' });
    await expectLeftInPlace(runs, id);
  });

  it('a run that could not be read does not end the sooner because somebody tried', async () => {
    const writer = new RedisAgentRunStore({ client, encryption: keyRing('b') });
    const reader = new RedisAgentRunStore({ client, encryption: keyRing('a') });
    const id = newAgentRunId();
    await writer.store(id, aPausedRun(), { ttlSeconds: 86_400 });
    await expect(reader.consume(id)).rejects.toMatchObject({ code: 'RUN_UNREADABLE' });
    expect(await client.ttl(`${await writer.keyOf(id)}:v`)).toBeGreaterThan(80_000);
    expect(await writer.consume(id)).toEqual(aPausedRun());
  });

  it('a taken copy of a run without an end has one, also when the line tears in the middle of the take', async () => {
    const runs = new RedisAgentRunStore({ client: tornAfterTheFirst(client), ttlSeconds: 'never' });
    const id = newAgentRunId();
    await runs.store(id, aPausedRun());
    await runs.consume(id, { token }).catch(() => undefined);
    const copyMs = await client.pttl(`${await runs.keyOf(id)}:t:${token}`);
    expect(copyMs).toBeGreaterThan(0);
    expect(copyMs).toBeLessThanOrEqual(60_000);
  });

  it('a run whose entry in the index was refused is not reported as untouched', async () => {
    const refusing: RedisClient = Object.create(client, {
      zadd: { value: async () => Promise.reject(Object.assign(new Error('NOPERM'), { name: 'ReplyError' })) },
    });
    const runs = new RedisAgentRunStore({ client: refusing, index: 'clear' });
    const id = newAgentRunId();
    const stored = runs.store(id, aPausedRun(), { scope: { tenant: id } });
    await expect(stored).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  });
});

describe('on SQLite', () => {
  it('a text in place of the bytes stays as it was', async () => {
    const { backend, database, close } = await openSqlite({ path: ':memory:' });
    const runs = createRunStore<AgentRunState>({ backend });
    const id = newAgentRunId();
    await runs.store(id, aPausedRun());
    database.exec(`UPDATE interlock_runs SET value = 'edited by hand'`);
    await expectLeftInPlace(runs, id);
    close();
  });
});

describe('on Postgres', () => {
  let database: PGlite;
  beforeAll(async () => {
    database = await PGlite.create();
  });
  afterAll(() => database.close());

  const answering = (bytes: (value: Uint8Array) => unknown): PostgresClient => ({
    async query(text, values) {
      const result = await database.query<Record<string, unknown>>(text, values);
      const parsed = (value: unknown) => (value instanceof Uint8Array ? bytes(value) : value);
      const rows = result.rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, parsed(value)])),
      );
      return { rows };
    },
  });
  const hex = (value: Uint8Array) => `\\x${Buffer.from(value).toString('hex')}`;

  it.each([
    ['hexadecimal text', hex],
    ['an ArrayBuffer', (value: Uint8Array) => new Uint8Array(value).buffer],
  ])('a client that answers bytes as %s works', async (_, bytes) => {
    const runs = createRunStore<AgentRunState>({ backend: postgresRunBackend({ client: answering(bytes) }) });
    const id = newAgentRunId();
    await runs.store(id, aPausedRun());
    expect(await runs.load(id)).toEqual(aPausedRun());
    expect(await runs.consume(id)).toEqual(aPausedRun());
  });

  it('a client that answers bytes as something else is told of, and the run is not answered with null', async () => {
    const client = answering(() => 'bytes');
    const runs = createRunStore<AgentRunState>({ backend: postgresRunBackend({ client }) });
    const id = newAgentRunId();
    await runs.store(id, aPausedRun());
    await expect(runs.load(id)).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
    await expect(runs.consume(id)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  });

  it.each(['EPIPE', 'EBADF', '08006'])('%s is no word of the server: whether it wrote is unknown', async (code) => {
    let failing = false;
    const client: PostgresClient = {
      query: (text, values) =>
        failing ? Promise.reject(Object.assign(new Error('lost'), { code })) : database.query(text, values),
    };
    const runs = createRunStore<AgentRunState>({ backend: postgresRunBackend({ client }) });
    const id = newAgentRunId();
    await runs.store(id, aPausedRun());
    failing = true;
    await expect(runs.consume(id)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  });
});

describe.each(Object.entries(backends))('on %s', (_, open) => {
  it('a run that could not be read keeps the life that it had', async () => {
    const clock = aClock();
    const { backend, close } = await open(clock);
    const writer = createRunStore<AgentRunState>({ backend, encryption: keyRing('b') });
    const reader = createRunStore<AgentRunState>({ backend, encryption: keyRing('a') });
    const id = newAgentRunId();
    await writer.store(id, aPausedRun(), { ttlSeconds: 7200 });
    await expect(reader.consume(id)).rejects.toMatchObject({ code: 'RUN_UNREADABLE' });
    clock.advance(7_199_000);
    expect(await writer.load(id)).toEqual(aPausedRun());
    clock.advance(1_000);
    expect(await writer.load(id)).toBeNull();
    await close();
  });
});

function keyRing(activeKeyId: 'a' | 'b') {
  const key = new Uint8Array(32).fill(activeKeyId.charCodeAt(0));
  return { activeKeyId, keys: { [activeKeyId]: key } };
}

/** Of commands that are sent together, only the first arrives; nothing is answered. */
function tornAfterTheFirst(client: Redis): RedisClient {
  const torn = async (): Promise<never> => {
    throw new Error('Connection is closed.');
  };
  return Object.create(client, {
    renamenx: { value: (key: string, newKey: string) => client.renamenx(key, newKey).then(torn) },
    getexBuffer: { value: torn },
    pipeline: {
      value: (commands: unknown[][]) => ({ exec: () => client.pipeline(commands.slice(0, 1)).exec().then(torn) }),
    },
  });
}
