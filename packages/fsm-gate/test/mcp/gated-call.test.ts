/** What handlers may do to a call that holds its session, without an SDK between that would tidy it up. */
import { describe, expect, it } from 'vitest';
import { StateMachineGate } from '../../src/index.js';
import { attachGate } from '../../src/mcp/index.js';
import { createGateSessions, memoryGateStore } from '../../src/sessions/index.js';
import { type BareHandler, bareServer } from './bare-server.js';

/** `call` is what an SDK would do with a request. */
function aServer(handler: BareHandler) {
  const server = bareServer({ 'tools/call': handler });
  const call = async (name: unknown, args?: object) =>
    server._requestHandlers.get('tools/call')?.({ method: 'tools/call', params: { name, arguments: args } }, {});
  return { server, call };
}

const HANDLERS: [string, () => unknown, 'commits' | 'leaves'][] = [
  ['answers at once', () => ({ content: [] }), 'commits'],
  ['answers later', async () => ({ content: [] }), 'commits'],
  [
    'answers a promise of another library',
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what it is about
    () => ({ then: (done: (result: unknown) => void) => done({ content: [] }) }),
    'commits',
  ],
  ['throws at once', () => raise('at once'), 'leaves'],
  ['throws later', async () => raise('later'), 'leaves'],
  ['answers nothing', () => undefined, 'leaves'],
  ['answers what cannot be read', () => hostile(), 'leaves'],
  ['says that it failed', () => ({ content: [], isError: true }), 'leaves'],
  ['asks a question', () => ({ resultType: 'input_required' }), 'leaves'],
];

function raise(when: string): never {
  throw new Error(`broken ${when}`);
}

function hostile(): unknown {
  return Object.defineProperty({}, 'resultType', { get: () => raise('when it is read') });
}

describe.each([
  ['in memory', () => memoryGateStore()],
  ['behind a wrapped store', () => ({ ...memoryGateStore() })],
])('a session %s', (_where, open) => {
  it.each(HANDLERS)('of a tool that %s', async (_what, handler, outcome) => {
    const gate = new StateMachineGate({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { on: { BACK: 'a' } } } });
    gate.bindTool('go', 'a', 'GO').bindTool('back', 'b', 'BACK');
    const store = open();
    const sessions = createGateSessions({ gate, store });
    const { server, call } = aServer((request) => {
      const { params } = request as { params: { name: string } };
      return params.name === 'go' && isTried ? handler() : { content: [] };
    });
    let isTried = false;
    attachGate(server, sessions, { check: 'off', stateKey: () => 'ann' });
    // The session is known by then, and free.
    await call('go');
    await call('back');
    isTried = true;
    await call('go').catch(() => undefined);
    expect((await sessions.inspect('ann')).state).toBe(outcome === 'commits' ? 'b' : 'a');
    // Nobody holds it any more.
    expect((await sessions.reserve('ann', outcome === 'commits' ? 'back' : 'go')).kind).toBe('admitted');
  });
});

describe('a call', () => {
  it('without arguments gets none of another call', async () => {
    const seen: unknown[] = [];
    for (let time = 0; time < 2; time += 1) {
      const gate = new StateMachineGate({ initial: 'a', states: { a: { on: { STAY: 'a' } } } });
      gate.bindTool('stay', 'a', {
        event: 'STAY',
        guard: (args) => {
          seen.push({ ...(args as object) });
          (args as { tenant?: string }).tenant ??= 'ann';
          return true;
        },
      });
      const { server, call } = aServer(() => ({ content: [] }));
      attachGate(server, createGateSessions({ gate }), { check: 'off' });
      await call('stay');
    }
    expect(seen).toEqual([{}, {}]);
  });

  it('whose name cannot be a text is refused, and the cause is for onError', async () => {
    const gate = new StateMachineGate({ initial: 'a', states: { a: {} } }).bindTool('stay', 'a');
    const errors: unknown[] = [];
    const { server, call } = aServer(() => ({ content: [] }));
    attachGate(server, createGateSessions({ gate }), { check: 'off', onError: (error) => errors.push(error) });
    await expect(call({ toString: 1, valueOf: 1 })).rejects.toMatchObject({ code: 'STATE_UNAVAILABLE' });
    expect(errors).toEqual([expect.any(TypeError)]);
  });
});
