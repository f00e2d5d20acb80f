import { describe, expect, it, vi } from 'vitest';
import { scripted, textOf } from '../fixtures/scripted.js';
import { heldTimers, providerOf, proxyOf } from '../fixtures/scripted-proxy.js';

describe('a call', () => {
  it('that is over is not told of line by line, when its progress goes on', async () => {
    const lines: string[] = [];
    const connection = await providerOf({ a: scripted() }, { debugLog: (line) => lines.push(line) }).connect('a');
    for (let count = 0; count < 3; count += 1) await connection.callTool('late', {});
    expect(lines.filter((line) => line.includes('a call that is over'))).toHaveLength(1);
    expect(lines.join()).not.toContain('too late');
  });

  it('that is cancelled is cancelled at the upstream too, without the reason of the caller', async () => {
    const provider = providerOf({ a: scripted() });
    const connection = await provider.connect('a');
    const stop = new AbortController();
    const call = connection.callTool('hold', {}, stop.signal);
    await vi.waitFor(async () => expect(textOf(await connection.callTool('seen', {}))).toContain('"hold"'), {
      timeout: 30_000,
    });
    stop.abort(new Error('the user said: my password is 1234'));
    await expect(call).rejects.toThrow('my password is 1234');
    const seen = textOf(await connection.callTool('seen', {}));
    expect(seen).toContain('notifications/cancelled');
    expect(seen).not.toContain('password');
  });

  it('that is silent for too long is cut off, and the answer names the server and the setting', async () => {
    const { setTimer, fire } = heldTimers();
    const provider = providerOf({ a: scripted('good', { callTimeoutMs: 1234 }) }, { setTimer });
    const connection = await provider.connect('a');
    const call = connection.callTool('hold', {});
    await vi.waitFor(async () => expect(textOf(await connection.callTool('seen', {}))).toContain('"hold"'), {
      timeout: 30_000,
    });
    fire(1234);
    await expect(call).rejects.toMatchObject({
      code: 'UPSTREAM_CALL_TIMEOUT',
      message: expect.stringContaining('callTimeoutMs'),
    });
    expect(textOf(await connection.callTool('seen', {}))).toContain('notifications/cancelled');
  });

  it('that reports progress passes it on, and starts its silence anew', async () => {
    const { setTimer } = heldTimers();
    const silences: number[] = [];
    const provider = providerOf(
      { a: scripted('good', { callTimeoutMs: 777 }) },
      {
        setTimer: (callback, delayMs) => {
          if (delayMs === 777) silences.push(delayMs);
          return setTimer(callback, delayMs);
        },
      },
    );
    const progress: unknown[] = [];
    const connection = await provider.connect('a');
    await connection.callTool('progress', { steps: 3 }, undefined, { onProgress: (step) => progress.push(step) });
    expect(progress).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })));
    expect(silences).toHaveLength(4);
  });

  it('has a longest duration that progress does not extend', async () => {
    const { setTimer, fire } = heldTimers();
    const provider = providerOf({ a: scripted('good', { maxCallMs: 4321 }) }, { setTimer });
    const call = (await provider.connect('a')).callTool('hold', {});
    await vi.waitFor(() => expect(fire(4321)).toBe(1), { timeout: 30_000 });
    await expect(call).rejects.toThrow('was not done after 4321 ms');
  });

  it('returns what the upstream said, whole', async () => {
    const connection = await providerOf({ a: scripted() }).connect('a');
    expect(await connection.callTool('fail', {})).toEqual({
      content: [{ type: 'text', text: 'it went wrong' }],
      isError: true,
    });
    expect(await connection.callTool('structured', {})).toEqual({
      content: [],
      structuredContent: { answer: 42, list: [1, 2] },
    });
    expect(await connection.callTool('media', {})).toMatchObject({
      content: [
        { type: 'image' },
        { type: 'audio' },
        { type: 'resource_link' },
        { type: 'resource' },
        { annotations: { priority: 0.5 } },
      ],
      _meta: { 'example.com/trace': 'abc' },
    });
    await expect(connection.callTool('refuse', {})).rejects.toMatchObject({
      code: -32000,
      message: expect.stringContaining('no such account'),
    });
  });
});

describe('an upstream that overwhelms', () => {
  it('with messages that nobody asked for is ended', async () => {
    const provider = providerOf({ a: scripted('flood') }, { flood: { burst: 2_000, perSecond: 10 } });
    const connection = await provider.connect('a');
    const reason = await new Promise((resolve) => void connection.onClose(resolve));
    expect(reason).toMatchObject({ code: 'UPSTREAM_FLOOD' });
  });

  it('with a line that never ends is ended within its bound', async () => {
    const provider = providerOf({ a: scripted() }, { stdio: { maxMessageBytes: 1024 * 1024 } });
    const connection = await provider.connect('a');
    await expect(connection.callTool('endless-line', {})).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      cause: expect.objectContaining({ code: 'UPSTREAM_MESSAGE_TOO_LARGE' }),
    });
  });
});

describe('an unused upstream', () => {
  it('is not stopped before its first call, however short its idle time', async () => {
    const { setTimer, fire } = heldTimers();
    const { provider } = proxyOf({ a: scripted('good', { idleTimeoutMs: 1 }) }, { setTimer });
    await provider.connect('a');
    expect([fire(1), fire(1_000)]).toEqual([0, 1]);
  });

  it('is stopped after its idle time, and started again by the next call', async () => {
    const { setTimer, fire } = heldTimers();
    const { proxy, provider } = proxyOf({ a: scripted('good', { idleTimeoutMs: 5_555 }) }, { setTimer });
    const first = textOf(await proxy.run({ tool: 'pid', server: 'a' }));
    const connection = await provider.connect('a');
    const ended = new Promise((resolve) => void connection.onClose(resolve));
    expect(fire(5_555)).toBe(1);
    expect(await ended).toBeUndefined();
    expect(textOf(await proxy.run({ tool: 'pid', server: 'a' }))).not.toBe(first);
  });

  it('is kept while a call runs, and for ever with keep-alive', async () => {
    const { setTimer, fire } = heldTimers();
    const provider = providerOf(
      {
        a: scripted('good', { idleTimeoutMs: 5_555 }),
        b: scripted('good', { idleTimeoutMs: 5_555, lifecycle: 'keep-alive' }),
      },
      { setTimer },
    );
    const [a, b] = [await provider.connect('a'), await provider.connect('b')];
    const call = a.callTool('hold', {});
    expect(fire(5_555)).toBe(0);
    await a.callTool('release', {});
    await call;
    expect(b.alive).toBe(true);
  });
});
