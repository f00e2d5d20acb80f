import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ProxyEvent } from '../../src/index.js';
import { type ConfigError, type OpenedProxy, type OpenProxyOptions, openProxy } from '../../src/node/index.js';
import { aFolder, aRecord, scripted, textOf } from '../fixtures/scripted.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function aProxy(
  entries: Record<string, unknown>,
  options: Partial<OpenProxyOptions> = {},
): Promise<OpenedProxy & { folder: string }> {
  const folder = options.stateFolder ?? (await aFolder());
  const opened = await openProxy({ config: { mcpServers: entries }, stateFolder: folder, ...options });
  closers.push(() => opened.close());
  return { ...opened, folder };
}

const ask = async (opened: OpenedProxy, args: unknown): Promise<string> => textOf(await opened.proxy.run(args));

describe('openProxy', () => {
  it('is three lines from a configuration file to an answer', async () => {
    const config = join(await aFolder(), 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: { a: scripted() } }));
    const { proxy, close } = await openProxy({ config, stateFolder: await aFolder() });
    expect(await proxy.asTool().execute({ tool: 'echo', args: { message: 'hi' } })).toBe('Echo: hi');
    await close();
  });

  it('starts nothing by itself when all servers are lazy', async () => {
    const record = aRecord();
    const entries = Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [`s${index}`, scripted('good', { env: { RECORD: record.path } })]),
    );
    const opened = await aProxy(entries);
    await opened.started;
    expect(await ask(opened, {})).toContain('s24');
    expect(opened.proxy.asTool().description).toMatch(/s0, s1, .* and 15 more/);
    expect(await record.lines()).toEqual([]);
  });

  it('starts eager servers, and a bad one keeps nobody waiting', async () => {
    const opened = await aProxy({
      good: scripted('good', { lifecycle: 'eager' }),
      dead: { command: 'no-such-command', lifecycle: 'eager' },
      lazy: scripted(),
    });
    await opened.started;
    const status = await ask(opened, { status: true });
    expect(status).toMatch(/good: connected/);
    expect(status).toMatch(/dead: failed .*no-such-command/);
    expect(status).toMatch(/lazy: not connected/);
  });

  it('brings a keep-alive server back when it dies', async () => {
    const events: ProxyEvent[] = [];
    const opened = await aProxy(
      { a: scripted('good', { lifecycle: 'keep-alive' }) },
      { proxy: { onEvent: (event) => events.push(event) } },
    );
    await opened.started;
    await ask(opened, { tool: 'crash', server: 'a' });
    await vi.waitFor(() => expect(events.filter(({ type }) => type === 'connected')).toHaveLength(2), {
      timeout: 30_000,
    });
    expect(opened.provider.describe('a')).toMatchObject({ state: 'connected' });
  });

  it('reports servers that are wrong, and serves the others', async () => {
    const problems: string[] = [];
    const opened = await aProxy(
      { a: scripted(), b: { url: 'ftp://x' } },
      { onProblem: ({ message }) => problems.push(message) },
    );
    expect(problems).toEqual([expect.stringContaining('server "b": url must start with')]);
    expect(await ask(opened, { tool: 'echo', args: { message: 'hi' } })).toBe('Echo: hi');
  });

  it('tells whoever asks for a server that is wrong what is wrong with it', async () => {
    const opened = await aProxy({ a: scripted(), b: { url: 'ftp://x' } });
    expect(await ask(opened, {})).toMatch(/b: not connected\n.*url must start with http/);
    expect(await ask(opened, { search: 'echo' })).toMatch(/a: echo[\s\S]*- b: .*url must start with http/);
    expect(await ask(opened, { tool: 'echo', server: 'b' })).toContain('url must start with http');
    expect((await ask(opened, {})).split('url must start with http')).toHaveLength(2);
  });
});

describe('a change of the configuration', () => {
  it('is picked up: new servers appear, removed ones end, changed ones are started anew, others are left alone', async () => {
    const config = join(await aFolder(), 'mcp.json');
    const write = (servers: Record<string, unknown>): Promise<void> =>
      writeFile(config, JSON.stringify({ mcpServers: servers }));
    await write({ same: scripted(), gone: scripted(), changed: scripted('good', { env: { V: '1' } }) });
    const opened = await openProxy({ config, stateFolder: await aFolder(), reload: 'watch' });
    closers.push(() => opened.close());
    const same = await ask(opened, { tool: 'pid', server: 'same' });
    await ask(opened, { tool: 'pid', server: 'gone' });
    expect(await ask(opened, { tool: 'env', server: 'changed' })).toContain('"V":"1"');

    await write({ same: scripted(), fresh: scripted(), changed: scripted('good', { env: { V: '2' } }) });
    await vi.waitFor(async () => expect(await ask(opened, {})).toContain('fresh'), { timeout: 30_000 });

    expect(await ask(opened, {})).not.toContain('gone');
    expect(await ask(opened, { tool: 'pid', server: 'same' })).toBe(same);
    expect(await ask(opened, { tool: 'env', server: 'changed' })).toContain('"V":"2"');
    expect(await ask(opened, { tool: 'echo', server: 'fresh', args: { message: 'hi' } })).toBe('Echo: hi');
  });

  it('that puts a wrong entry right makes its server work, and one that breaks it says so', async () => {
    const config = join(await aFolder(), 'mcp.json');
    const write = (server: Record<string, unknown>): Promise<void> =>
      writeFile(config, JSON.stringify({ mcpServers: { a: server } }));
    await write({});
    const opened = await openProxy({ config, stateFolder: await aFolder() });
    closers.push(() => opened.close());
    expect(await ask(opened, { tool: 'echo', server: 'a' })).toContain('needs "command"');
    await write(scripted());
    await opened.reload();
    expect(await ask(opened, { tool: 'echo', server: 'a', args: { message: 'hi' } })).toBe('Echo: hi');
    await write({ url: 'ftp://x' });
    await opened.reload();
    expect(await ask(opened, { tool: 'echo', server: 'a' })).toContain('url must start with http');
  });

  it('that cannot be read leaves everything as it is, and is told', async () => {
    const config = join(await aFolder(), 'mcp.json');
    await writeFile(config, JSON.stringify({ mcpServers: { a: scripted() } }));
    const problems: ConfigError[] = [];
    const opened = await openProxy({
      config,
      stateFolder: await aFolder(),
      reload: 'watch',
      onProblem: (problem) => problems.push(problem),
    });
    closers.push(() => opened.close());
    const pid = await ask(opened, { tool: 'pid' });
    await writeFile(config, '{ broken');
    const told = (): ConfigError | undefined => problems.find(({ code }) => code === 'CONFIG_NOT_JSON');
    await vi.waitFor(() => expect(told()?.message).toContain('was not reloaded'), { timeout: 30_000 });
    expect(await ask(opened, { tool: 'pid' })).toBe(pid);
  });
});

describe('what is kept on disk', () => {
  it('lets search cover servers that are not connected, in the next run', async () => {
    const record = aRecord();
    const entries = { a: scripted('good', { env: { RECORD: record.path } }) };
    const first = await aProxy(entries);
    await ask(first, { connect: 'a' });
    await first.close();
    const starts = (await record.lines()).length;
    const second = await aProxy(entries, { stateFolder: first.folder });
    expect(await ask(second, { search: 'echo' })).toContain('echo');
    expect(await record.lines()).toHaveLength(starts);
    expect(await ask(second, { tool: 'echo', args: { message: 'hi' } })).toBe('Echo: hi');
  });

  it('is not what a server listed to a client that could be asked for less', async () => {
    const stateFolder = await aFolder();
    const config = { mcpServers: { a: scripted('by-capability') } };
    const inTerminal = await openProxy({ config, stateFolder });
    expect(await ask(inTerminal, { server: 'a' })).not.toContain('sample');
    await inTerminal.close();
    const gateway = await openProxy({ config, stateFolder, provider: { relay: ['sampling/createMessage'] } });
    closers.push(() => gateway.close());
    expect(await ask(gateway, { search: 'sample' })).toContain('a: sample');
  });

  it('is not used for a server whose configuration changed', async () => {
    const first = await aProxy({ a: scripted() });
    await ask(first, { connect: 'a' });
    await first.close();
    const second = await aProxy({ a: scripted('pages') }, { stateFolder: first.folder });
    expect(await ask(second, { search: 'page' })).toContain('page-2');
  });

  it.each([
    ['0', false],
    ['60000', true],
  ])('honours a ttlMs above 0 only: %s', async (ttl, kept) => {
    const opened = await aProxy({ a: scripted('ttl', {}, ttl) });
    await ask(opened, { connect: 'a' });
    await opened.close();
    const [name] = await readdir(join(opened.folder, 'tools'));
    const data = JSON.parse(await readFile(join(opened.folder, 'tools', name ?? ''), 'utf8'));
    expect('ttlMs' in data).toBe(kept);
  });

  it('is readable by its owner alone, and a damaged tool list is only a missing one', async () => {
    const opened = await aProxy({ a: scripted() });
    await ask(opened, { connect: 'a' });
    await opened.close();
    for (const part of ['tools', 'pins']) {
      const folder = join(opened.folder, part);
      expect((await stat(folder)).mode & 0o777).toBe(0o700);
      for (const name of await readdir(folder)) {
        expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
        if (part === 'tools') await writeFile(join(folder, name), '{ damaged');
      }
    }
    const again = await aProxy({ a: scripted() }, { stateFolder: opened.folder });
    expect(await ask(again, { search: 'echo' })).toContain('echo');
  });

  it('holds a changed tool back with its diff until it is approved, while the others work', async () => {
    const first = await aProxy({ a: scripted('changed-tool', {}, 'as trusted') });
    await ask(first, { connect: 'a' });
    await first.close();
    // The same command lists something else: what a compromised update does.
    const [pins] = await readdir(join(first.folder, 'pins'));
    const path = join(first.folder, 'pins', pins ?? '');
    const text = await readFile(path, 'utf8');
    const stored = JSON.parse(text);
    stored.tools.echo.hash = 'another';
    stored.tools.echo.definition.description = 'The tool echo as it was';
    await writeFile(path, JSON.stringify(stored));

    const second = await aProxy({ a: scripted('changed-tool', {}, 'as trusted') }, { stateFolder: first.folder });
    const answer = await ask(second, { tool: 'echo', server: 'a', args: { message: 'hi' } });
    expect(answer).toContain('changed since it was trusted');
    const status = await second.proxy.perform({ kind: 'status' });
    const held = status.kind === 'status' ? status.servers[0]?.held : undefined;
    expect(held).toMatchObject([{ toolName: 'echo', reason: 'changed' }]);
    expect(held?.[0]?.diff.join('\n')).toMatch(/- .*as it was[\s\S]*\+ .*as trusted/);
    expect(await ask(second, { tool: 'seen', server: 'a' })).toContain('initialize');
    await second.proxy.approvePins('a');
    expect(await ask(second, { tool: 'echo', server: 'a', args: { message: 'hi' } })).toBe('Echo: hi');
  });

  it('fails closed when the pins are damaged', async () => {
    const first = await aProxy({ a: scripted(), b: scripted() });
    await ask(first, { connect: 'a' });
    await first.close();
    const [name] = await readdir(join(first.folder, 'pins'));
    await writeFile(join(first.folder, 'pins', name ?? ''), '{ damaged');
    const second = await aProxy({ a: scripted(), b: scripted('pages') }, { stateFolder: first.folder });
    expect(await ask(second, { tool: 'echo', server: 'a', args: { message: 'hi' } })).not.toContain('Echo');
    expect(await ask(second, { status: true })).toContain('damaged');
    expect(await ask(second, { tool: 'page-0', server: 'b' })).toContain('Unknown tool');
  });

  it('takes the rest of an answer that is too long, in a private file', async () => {
    const opened = await aProxy({ a: scripted() });
    const answer = await opened.proxy.asTool().execute({ tool: 'big', args: { size: 300_000 } });
    expect(Buffer.byteLength(answer)).toBeLessThan(60_000);
    const path = /is in (\S+\.txt)/.exec(answer)?.[1] ?? '';
    expect((await readFile(path, 'utf8')).length).toBeGreaterThanOrEqual(300_000);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});
