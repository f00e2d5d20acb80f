/** Names, numbers and hooks as a careless or hostile caller hands them in. */
import { describe, expect, it } from 'vitest';
import { type AgentRunState, cacheRunBackend, createRunStore, memoryRunBackend, newAgentRunId } from '../src/index.js';
import { postgresRunBackend } from '../src/postgres.js';
import { redisRunBackend } from '../src/redis.js';
import { sqliteRunBackend } from '../src/sqlite.js';
import { aPausedRun } from './support/runs.js';

const aStore = () => createRunStore<AgentRunState>({ backend: memoryRunBackend() });
const invalid = (text: string) => ({ code: 'INVALID_OPTION', message: expect.stringContaining(text) });

describe('what a store is made of', () => {
  // Not what the types say: callers in JavaScript.
  it.each<[string, () => unknown]>([
    ['backend', () => createRunStore({} as never)],
    ['database', () => sqliteRunBackend({} as never)],
    ['client', () => postgresRunBackend({} as never)],
    ['client', () => redisRunBackend({} as never)],
    ['cache', () => cacheRunBackend({} as never)],
  ])('is named where it is missing: %s', (option, make) => {
    expect(make).toThrow(expect.objectContaining(invalid(`The option \`${option}\``)));
  });
});

describe('a scope', () => {
  it.each<[string, unknown]>([
    ['no object', 'acme'],
    ['null', null],
    ['a list', ['acme']],
    ['none of the fields', { tenantId: 'acme' }],
    ['an empty name', { tenant: 'acme', principal: '' }],
    ['a number', { tenant: 7 }],
    ['a lone surrogate', { tenant: 'acme\ud800' }],
    ['a name without end', { threadId: 'x'.repeat(513) }],
  ])('of %s is refused when storing, and makes no run that is everybody’s', async (_, scope) => {
    const runs = aStore();
    const id = newAgentRunId();
    // Not what the type says: callers in JavaScript.
    const stored = runs.store(id, aPausedRun(), { scope: scope as { tenant: string } });
    await expect(stored).rejects.toMatchObject(invalid('scope'));
    expect(await runs.load(id)).toBeNull();
  });

  it.each([undefined, null, 7, 'acme\udfff'])('%o lists and erases nobody’s runs', async (tenant) => {
    const runs = aStore();
    await runs.store(newAgentRunId(), aPausedRun(), { scope: { tenant: 'undefined' } });
    await runs.store(newAgentRunId(), aPausedRun(), { scope: { tenant: 'acme\ufffd' } });
    const name = tenant as string; // Not what the type says: callers in JavaScript.
    await expect(runs.list({ tenant: name })).rejects.toMatchObject(invalid('tenant'));
    await expect(runs.eraseTenant(name)).rejects.toMatchObject(invalid('tenant'));
  });

  it('that comes from a prototype or misses a field does not open a run', async () => {
    const runs = aStore();
    const id = newAgentRunId();
    await runs.store(id, aPausedRun(), { scope: { tenant: 'acme', principal: 'ada' } });
    const forged: unknown[] = [
      {},
      { tenant: 'acme' },
      { tenant: '', principal: '' },
      { principal: 'ada' },
      'acme',
      null,
    ];
    forged.push(JSON.parse('{"__proto__":{"tenant":"acme","principal":"ada"}}'));
    for (const scope of forged as { tenant: string }[]) {
      await expect(runs.resume(id, { approved: ['call_1'] }, scope)).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
      await expect(runs.consume(id, { scope })).rejects.toMatchObject({ code: 'SCOPE_MISMATCH' });
    }
    expect(await runs.load(id)).not.toBeNull();
  });
});

it.each([2 ** 53 - 1, 1e300])('a life of %d seconds is refused before anything moves', async (seconds) => {
  const runs = aStore();
  const id = newAgentRunId();
  await expect(runs.store(id, aPausedRun(), { ttlSeconds: seconds })).rejects.toMatchObject(invalid('ttlSeconds'));
  await runs.store(id, aPausedRun());
  const claimed = runs.claim(id, { leaseMs: 2 ** 53 - 1, owner: 'w' });
  await expect(claimed).rejects.toMatchObject(invalid('leaseMs'));
});

describe('a hook', () => {
  it('that fails later, or whose failure fails again, neither ends the process nor loses a run', async () => {
    const errors: unknown[] = [];
    const fail = async (): Promise<void> => {
      throw new Error('no log');
    };
    const onError = (error: unknown) => {
      errors.push(error);
      throw error;
    };
    const runs = createRunStore<AgentRunState>({ backend: memoryRunBackend(), onEvent: fail, onError });
    const id = newAgentRunId();
    await runs.store(id, aPausedRun());
    expect(await runs.resume(id, { approved: ['call_1'] })).toMatchObject({ kind: 'resumed' });
    const throwing = createRunStore<AgentRunState>({
      backend: memoryRunBackend(),
      onEvent: () => {
        throw new Error('no log');
      },
      onError,
    });
    await throwing.store(id, aPausedRun());
    expect(await throwing.consume(id)).toEqual(aPausedRun());
    expect(errors.length).toBeGreaterThan(2);
  });

  it('that brings a state to the next version may take its time', async () => {
    const backend = memoryRunBackend();
    const id = newAgentRunId();
    await createRunStore<AgentRunState>({ backend }).store(id, aPausedRun());
    const migrations = { 1: async (state: unknown) => Object.assign({}, state, { meta: 'moved' }) };
    const runs = createRunStore<AgentRunState>({ backend, schemaVersion: 2, migrations });
    const resumed = await runs.resume(id, { approved: ['call_1'] });
    expect(resumed).toMatchObject({ kind: 'resumed', state: { meta: 'moved' } });
  });
});
