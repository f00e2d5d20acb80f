import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { aRecord, isRunning, scripted, textOf } from '../fixtures/scripted.js';
import { heldTimers, providerOf, proxyOf } from '../fixtures/scripted-proxy.js';

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
      message: 'Server "a": command "no-such-command-here" was not found. Install it, or give its full path.',
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
