import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindingOf, PendingCalls, type PendingCallsOptions } from '../../src/server/pending-calls.js';

const never = new AbortController().signal;
setMaxListeners(0, never);
const askName = async (ask: (method: 'elicitation/create', params: object, signal: AbortSignal) => Promise<unknown>) =>
  `answer: ${JSON.stringify(await ask('elicitation/create', { message: 'Name?' }, never))}`;

async function aWaitingCall(options: PendingCallsOptions = {}) {
  const calls = new PendingCalls<string, string>(options);
  const step = await calls.start('ada/args', 'first request', never, askName);
  if (step.kind !== 'asks') throw new Error('expected a question');
  return { calls, step, key: Object.keys(step.inputRequests)[0] ?? '' };
}

describe('a call that waits for input', () => {
  it('goes on with the answer', async () => {
    const { calls, step, key } = await aWaitingCall();
    expect(step.inputRequests[key]).toEqual({ method: 'elicitation/create', params: { message: 'Name?' } });
    expect(await calls.resume(step.requestState, 'ada/args', { [key]: 'Ada' }, 'second request', never)).toEqual({
      kind: 'done',
      result: 'answer: "Ada"',
    });
    expect(calls.size).toBe(0);
  });

  it('has a handle that works once', async () => {
    const { calls, step, key } = await aWaitingCall();
    await calls.resume(step.requestState, 'ada/args', { [key]: 'Ada' }, '', never);
    expect(await calls.resume(step.requestState, 'ada/args', { [key]: 'Eve' }, '', never)).toEqual({
      kind: 'unknown-handle',
    });
  });

  it('of one principal and one set of arguments does not go on for another, and is not lost by the attempt', async () => {
    const { calls, step, key } = await aWaitingCall();
    expect(await calls.resume(step.requestState, 'eve/args', { [key]: 'Eve' }, '', never)).toEqual({
      kind: 'other-call',
    });
    expect(await calls.resume(step.requestState, 'ada/args', { [key]: 'Ada' }, '', never)).toMatchObject({
      kind: 'done',
    });
  });

  it('asks again for what was not answered, under a new handle', async () => {
    const { calls, step, key } = await aWaitingCall();
    const again = await calls.resume(step.requestState, 'ada/args', { unrelated: 1 }, '', never);
    expect(again).toMatchObject({ kind: 'asks', inputRequests: step.inputRequests });
    const requestState = again.kind === 'asks' ? again.requestState : '';
    expect(requestState).not.toBe(step.requestState);
    expect(await calls.resume(requestState, 'ada/args', { [key]: 'Ada' }, '', never)).toMatchObject({ kind: 'done' });
  });

  it('is cancelled when nobody answers in time', async () => {
    const timers: (() => void)[] = [];
    const { calls, step, key } = await aWaitingCall({
      setTimer: (callback) => {
        timers.push(callback);
        return () => undefined;
      },
    });
    timers[0]?.();
    expect(await calls.resume(step.requestState, 'ada/args', { [key]: 'Ada' }, '', never)).toEqual({
      kind: 'unknown-handle',
    });
  });

  it('is cancelled with the gateway', async () => {
    const calls = new PendingCalls<string, string>();
    let aborted = false;
    await calls.start('b', '', never, async (ask, signal) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return String(await ask('elicitation/create', {}, never));
    });
    calls.close();
    expect(aborted).toBe(true);
    expect(calls.size).toBe(0);
  });

  it('is refused when too many wait already', async () => {
    const { calls } = await aWaitingCall({ maxCalls: 1 });
    await expect(calls.start('other', '', never, askName)).rejects.toThrow('1 calls wait for input already');
  });

  it('ends when the connected host cancels, and not when an earlier request of it ends', async () => {
    const first = new AbortController();
    const calls = new PendingCalls<string, string>();
    const step = await calls.start('b', '', first.signal, askName);
    first.abort();
    const state = step.kind === 'asks' ? step.requestState : '';
    const second = new AbortController();
    second.abort();
    await expect(calls.resume(state, 'b', {}, '', second.signal)).rejects.toThrow('cancelled');
  });

  it('is told which request is connected', async () => {
    const calls = new PendingCalls<string, string>();
    const step = await calls.start('b', 'first', never, async (ask, _signal, leg) => {
      const before = leg();
      await ask('elicitation/create', {}, never);
      return `${before}, then ${leg()}`;
    });
    const state = step.kind === 'asks' ? step.requestState : '';
    expect(await calls.resume(state, 'b', { input1: {} }, 'second', never)).toEqual({
      kind: 'done',
      result: 'first, then second',
    });
  });

  it('asks everything of one round together', async () => {
    const calls = new PendingCalls<string, string>();
    const step = await calls.start('b', '', never, async (ask) => {
      const answers = await Promise.all([1, 2, 3].map((n) => ask('elicitation/create', { n }, never)));
      return answers.join();
    });
    expect(step.kind === 'asks' && Object.keys(step.inputRequests)).toHaveLength(3);
  });
});

it('handles are unguessable and never repeat', async () => {
  const calls = new PendingCalls<string, string>();
  const handles = new Set<string>();
  for (let index = 0; index < 200; index += 1) {
    const step = await calls.start('b', '', never, askName);
    if (step.kind === 'asks') handles.add(step.requestState);
  }
  expect(handles.size).toBe(200);
  for (const handle of handles) expect(Buffer.from(handle, 'base64url')).toHaveLength(32);
  calls.close();
});

it('a binding differs whenever the principal or the arguments do', () => {
  const parts = fc.tuple(
    fc.string().filter((text) => !text.includes('\0')),
    fc.string(),
  );
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      expect(bindingOf(...a) === bindingOf(...b)).toBe(a[0] === b[0] && a[1] === b[1]);
    }),
  );
});
