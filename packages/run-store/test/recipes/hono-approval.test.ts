import { type AgentRunState, createRunStore, memoryRunBackend } from '@mcp-interlock/run-store';
import { describe, expect, test } from 'vitest';
import { approvalApp } from '../../examples/hono-approval.js';
import { aPausedRun } from '../../src/testing/index.js';

const ann = { tenant: 'acme', principal: 'ann' };

describe('approval over HTTP', () => {
  test('GET shows what waits, any number of times, and POST resumes it once', async () => {
    const { get, post, resumed } = await aServerWithRun();
    for (let peek = 0; peek < 3; peek += 1) {
      expect(await get('/runs/run-1')).toMatchObject({ status: 200, body: { pending: ['call-sample'] } });
    }
    expect(await post('/runs/run-1', { approved: ['call-sample'] })).toEqual({ status: 200, body: { answer: 'done' } });
    expect(await post('/runs/run-1', { approved: ['call-sample'] })).toMatchObject({ status: 404 });
    expect(resumed).toEqual([{ approved: ['call-sample'], rejected: [], results: [] }]);
  });

  test('of two people who press at once, one resumes', async () => {
    const { post, resumed } = await aServerWithRun();
    const answers = await Promise.all([1, 2].map(() => post('/runs/run-1', { rejected: ['call-sample'] })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(resumed).toHaveLength(1);
  });

  test('a forged id, a contradiction and no body are refused with what is wrong, and the run still waits', async () => {
    const { get, post } = await aServerWithRun();
    const bad = [{ approved: ['forged'] }, { approved: ['call-sample'], rejected: ['call-sample'] }, {}, 'text'];
    for (const decision of bad) expect(await post('/runs/run-1', decision)).toMatchObject({ status: 422 });
    expect(await post('/runs/run-1', { approved: ['forged'] })).toMatchObject({
      body: { problems: expect.arrayContaining([{ kind: 'not_pending', id: 'forged' }]) },
    });
    expect(await get('/runs/run-1')).toMatchObject({ status: 200 });
  });

  test('somebody else, even with the id, sees and gets what an unknown id gives', async () => {
    const { get, post } = await aServerWithRun();
    const [stranger, unknown] = [await get('/runs/run-1', 'eve'), await get('/runs/no-such-run')];
    expect(stranger).toEqual(unknown);
    expect(await get('/runs/%00')).toEqual(unknown);
    expect(await post('/runs/run-1', { approved: ['call-sample'] }, 'eve')).toMatchObject({ status: 404 });
    expect(await get('/runs/run-1')).toMatchObject({ status: 200 });
  });

  test('the list shows what waits for the caller, and nobody signed out sees anything', async () => {
    const { get } = await aServerWithRun();
    expect(await get('/runs')).toMatchObject({ status: 200, body: { runs: [{ runId: 'run-1' }] } });
    expect(await get('/runs', 'eve')).toMatchObject({ body: { runs: [] } });
    expect(await get('/runs', '')).toMatchObject({ status: 401 });
  });
});

async function aServerWithRun() {
  const runs = createRunStore<AgentRunState>({ backend: memoryRunBackend(), index: 'clear' });
  await runs.store('run-1', aPausedRun(), { scope: ann });
  const resumed: unknown[] = [];
  const app = approvalApp({
    runs,
    callerOf: (c) => {
      const principal = c.req.header('x-test-user');
      return principal ? { tenant: 'acme', principal } : undefined;
    },
    async goOn(_state, decision) {
      resumed.push(decision);
      return 'done';
    },
  });
  const send = async (path: string, init: RequestInit, user: string) => {
    const response = await app.request(path, { ...init, headers: { 'x-test-user': user } });
    return { status: response.status, body: await response.json() };
  };
  return {
    resumed,
    get: (path: string, user = 'ann') => send(path, {}, user),
    post: (path: string, body: unknown, user = 'ann') =>
      send(path, { method: 'POST', body: JSON.stringify(body) }, user),
  };
}
