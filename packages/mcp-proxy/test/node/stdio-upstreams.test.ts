import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { McpProxyTool } from '../../src/index.js';
import { createNodeProvider, type NodeProvider, type NodeProviderOptions, specsOf } from '../../src/node/index.js';
import { aRecord, configOf, isRunning, scripted, textOf } from '../fixtures/scripted.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function providerOf(entries: Record<string, Record<string, unknown>>, options: NodeProviderOptions = {}): NodeProvider {
  const provider = createNodeProvider(configOf(entries), options);
  closers.push(() => provider.closeAll());
  return provider;
}

function proxyOf(
  entries: Record<string, Record<string, unknown>>,
  options: NodeProviderOptions = {},
): { proxy: McpProxyTool; provider: NodeProvider } {
  const provider = providerOf(entries, options);
  const proxy = new McpProxyTool(provider, specsOf(configOf(entries)));
  closers.push(() => proxy.closeAll());
  return { proxy, provider };
}

/** Timers that run when the test says so. */
function heldTimers(): { setTimer: NonNullable<NodeProviderOptions['setTimer']>; fire: (delayMs: number) => number } {
  const timers = new Set<{ callback: () => void; delayMs: number }>();
  return {
    setTimer: (callback, delayMs) => {
      const timer = { callback, delayMs };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    fire: (delayMs) => {
      const due = [...timers].filter((timer) => timer.delayMs === delayMs);
      for (const timer of due) {
        timers.delete(timer);
        timer.callback();
      }
      return due.length;
    },
  };
}

describe('an upstream over stdio', () => {
  it('that died is started again for the next call', async () => {
    const { proxy } = proxyOf({ a: scripted() });
    const first = textOf(await proxy.run({ tool: 'pid', server: 'a' }));
    expect(textOf(await proxy.run({ tool: 'crash', server: 'a', args: {} }))).toContain('out of cheese');
    const second = textOf(await proxy.run({ tool: 'pid', server: 'a' }));
    expect(second).toMatch(/^\d+$/);
    expect(second).not.toBe(first);
  });

  it('that dies under a call gets it a second time only if the tool is declared idempotent', async () => {
    const record = aRecord();
    const { proxy } = proxyOf({ a: scripted('good', { env: { RECORD: record.path } }) });
    await proxy.run({ tool: 'crash', server: 'a' });
    expect((await record.lines()).filter((line) => line === 'tools/call')).toHaveLength(1);
    await proxy.run({ tool: 'crash-once-readonly', server: 'a' });
    expect((await record.lines()).filter((line) => line === 'crash')).toHaveLength(2);
  });

  it('that cannot be found is named with its command', async () => {
    const provider = providerOf({ a: { command: 'no-such-command-here' } });
    await expect(provider.connect('a')).rejects.toMatchObject({
      code: 'UPSTREAM_CONNECT_FAILED',
      message: expect.stringContaining('command "no-such-command-here" was not found'),
    });
  });

  it('that exits at its start tells why, without its secrets and without escape codes', async () => {
    const provider = providerOf({ a: scripted('exit-on-start', { env: { TOKEN: 'hunter2-very-secret' } }) });
    const error = await provider.connect('a').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'UPSTREAM_EXITED' });
    expect(String(error)).toContain('cannot start: token [secret] is wrong');
    expect(String(error)).not.toContain('hunter2');
    expect(String(error)).not.toContain('\u001b');
  });

  it('that writes banners to stdout and floods stderr works all the same', async () => {
    const provider = providerOf({ a: scripted('noise') });
    const connection = await provider.connect('a');
    expect(textOf(await connection.callTool('echo', { message: 'hi' }))).toBe('Echo: hi');
  });

  it('that leaves at the era probe is started afresh and spoken to in the older era', async () => {
    const record = aRecord();
    const provider = providerOf({ a: scripted('exit-on-probe', { env: { RECORD: record.path } }) });
    const connection = await provider.connect('a');
    expect(connection.era).toBe('legacy');
    expect(textOf(await connection.callTool('echo', { message: 'hi' }))).toBe('Echo: hi');
  });

  it('that is silent at the era probe is spoken to in the older era, by the same process', async () => {
    const { setTimer, fire } = heldTimers();
    const record = aRecord();
    const provider = providerOf({ a: scripted('silent-on-probe', { env: { RECORD: record.path } }) }, { setTimer });
    const connecting = provider.connect('a');
    await vi.waitFor(async () => expect(await record.lines()).toContain('server/discover'), { timeout: 30_000 });
    expect(fire(3_000)).toBe(1);
    expect((await connecting).era).toBe('legacy');
    expect((await record.lines()).filter((line) => line.startsWith('start'))).toHaveLength(1);
  });

  it('gets no variables of ours but the harmless ones and its own', async () => {
    vi.stubEnv('SECRET_OF_THE_HOST', 'do not pass on');
    const provider = providerOf({ a: scripted('good', { env: { MINE: 'yes' } }) });
    const env = JSON.parse(textOf(await (await provider.connect('a')).callTool('env', {})));
    expect(env).toMatchObject({ MINE: 'yes', PATH: process.env.PATH });
    expect(env).not.toHaveProperty('SECRET_OF_THE_HOST');
    vi.unstubAllEnvs();
  });
});

describe('an upstream of the newer era over stdio', () => {
  const modern = {
    command: process.execPath,
    args: [fileURLToPath(new URL('../fixtures/modern-stdio.mjs', import.meta.url))],
  };

  it('is found out by one question to the one process, and used', async () => {
    const { proxy, provider } = proxyOf({ a: modern });
    expect(textOf(await proxy.run({ tool: 'echo', args: { message: 'hi' } }))).toBe('Echo: hi');
    expect(provider.describe('a')).toEqual({ state: 'connected', era: 'modern' });
  });

  it('tells that its tools changed', async () => {
    const { proxy } = proxyOf({ a: modern });
    await proxy.run({ tool: 'grow', server: 'a' });
    await vi.waitFor(async () => expect(textOf(await proxy.run({ search: 'grown' }))).toContain('grown('), {
      timeout: 30_000,
    });
  });

  it('asks the host of the call, and is told what that host cannot', async () => {
    const { provider } = proxyOf({ a: modern });
    const connection = await provider.connect('a');
    const context = {
      kind: 'interlock:host-channel',
      hostId: 'h',
      capabilities: { elicitation: { form: {} } },
      request: async () => ({ action: 'accept', content: { name: 'Ada' } }),
    };
    expect(textOf(await connection.callTool('ask', {}, undefined, { context }))).toContain('Ada');
    const unable = { ...context, capabilities: {} };
    await expect(connection.callTool('ask', {}, undefined, { context: unable })).rejects.toMatchObject({
      code: 'UPSTREAM_INPUT_REFUSED',
    });
  });
});

describe('two upstreams with tools of the same names', () => {
  it('work side by side; a call without a server gets the candidates', async () => {
    const { proxy } = proxyOf({ one: scripted(), two: scripted() });
    const answer = textOf(await proxy.run({ tool: 'echo', args: { message: 'hi' } }));
    expect(answer).toContain('one');
    expect(answer).toContain('two');
    expect(answer).not.toContain('Echo: hi');
    expect(textOf(await proxy.run({ tool: 'echo', server: 'two', args: { message: 'hi' } }))).toBe('Echo: hi');
  });
});

describe('a text answer', () => {
  it('holds no base64, and says what a result without text holds', async () => {
    const { proxy } = proxyOf({ a: scripted() });
    const media = await proxy.asTool().execute({ tool: 'media', server: 'a' });
    expect(media).not.toContain('aGVsbG8=');
    expect(media).toContain('image/png');
    expect(await proxy.asTool().execute({ tool: 'structured', server: 'a' })).toContain('42');
  });
});

describe('a connect', () => {
  it('is shared: fifty callers start one process', async () => {
    const record = aRecord();
    const provider = providerOf({ a: scripted('good', { env: { RECORD: record.path } }) });
    const connections = await Promise.all(Array.from({ length: 50 }, () => provider.connect('a')));
    expect(new Set(connections).size).toBe(1);
    expect((await record.lines()).filter((line) => line.startsWith('start'))).toHaveLength(1);
  });

  it('of a keep-alive server is used again by every call', async () => {
    const record = aRecord();
    const { proxy } = proxyOf({ a: scripted('good', { env: { RECORD: record.path }, lifecycle: 'keep-alive' }) });
    for (let call = 0; call < 50; call += 1) await proxy.run({ tool: 'echo', server: 'a', args: { message: 'hi' } });
    expect((await record.lines()).filter((line) => line.startsWith('start'))).toHaveLength(1);
  });

  it('goes on for the others when one caller gives up', async () => {
    const provider = providerOf({ a: scripted() });
    const impatient = new AbortController();
    const leaving = provider.connect('a', impatient.signal);
    const staying = provider.connect('a', new AbortController().signal);
    impatient.abort(new Error('too slow for me'));
    await expect(leaving).rejects.toThrow('too slow for me');
    expect((await staying).alive).toBe(true);
  });

  it('that nobody waits for any more is given up, and its process is gone', async () => {
    const record = aRecord();
    const provider = providerOf({ a: scripted('hang-on-start', { env: { RECORD: record.path } }) });
    const giveUp = new AbortController();
    const connecting = provider.connect('a', giveUp.signal);
    await vi.waitFor(async () => expect(await record.lines()).toContain('server/discover'), { timeout: 30_000 });
    giveUp.abort(new Error('enough'));
    await expect(connecting).rejects.toThrow('enough');
    await provider.closeAll();
    const [, pid] = (await record.lines())[0]?.split(' ') ?? [];
    expect(await isRunning(Number(pid))).toBe(false);
  });

  it('that never finishes is cut off at its timeout, and the next ones do not pile up processes', async () => {
    const record = aRecord();
    const entry = scripted('hang-on-start', { env: { RECORD: record.path }, connectTimeoutMs: 400 });
    const provider = providerOf({ a: entry });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(provider.connect('a')).rejects.toMatchObject({ code: 'UPSTREAM_CONNECT_TIMEOUT' });
    }
    const pids = (await record.lines())
      .filter((line) => line.startsWith('start'))
      .map((line) => Number(line.split(' ')[1]));
    expect(await Promise.all(pids.map(isRunning))).toEqual(pids.map(() => false));
  });

  it('of an unknown or disabled server is refused by name', async () => {
    const provider = providerOf({ a: scripted('good', { disabled: true }) });
    await expect(provider.connect('b')).rejects.toThrow('No server "b" is configured. Known: a.');
    await expect(provider.connect('a')).rejects.toMatchObject({ code: 'UPSTREAM_DISABLED' });
  });
});

describe('a tool list', () => {
  it('is read to its last page', async () => {
    const provider = providerOf({ a: scripted('pages') });
    const tools = await (await provider.connect('a')).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['page-0', 'page-1', 'page-2']);
  });

  it.each([
    ['whose cursor comes back', 'cursor-repeats', 'UPSTREAM_CURSOR_REPEATED'],
    ['that never ends', 'cursor-endless', 'UPSTREAM_LIST_TOO_LONG'],
    ['of ten thousand and one tools', 'huge-list', 'UPSTREAM_LIST_TOO_LONG'],
  ])('%s is an error', async (_what, behaviour, code) => {
    const provider = providerOf({ a: scripted(behaviour) });
    await expect((await provider.connect('a')).listTools()).rejects.toMatchObject({ code, serverName: 'a' });
  });

  it('with broken tools keeps the good ones, and the status names the others', async () => {
    const { proxy } = proxyOf({ a: scripted('broken-tools') });
    const list = textOf(await proxy.run({ server: 'a' }));
    expect(list).toContain('good');
    expect(list).toContain('also-good');
    expect(textOf(await proxy.run({ status: true }))).toContain('deep');
  });

  it('that changed is read again', async () => {
    const { proxy } = proxyOf({ a: scripted() });
    const changed = new Promise<string>((resolve) => void proxy.onToolsChanged(resolve));
    await proxy.run({ tool: 'grow', server: 'a' });
    expect(await changed).toBe('a');
    await vi.waitFor(async () => expect(textOf(await proxy.run({ search: 'grown-1' }))).toContain('grown-1'), {
      timeout: 30_000,
    });
  });
});

describe('a call', () => {
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
