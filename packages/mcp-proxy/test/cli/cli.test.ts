import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type CommandIo, writerTo } from '../../src/cli/io.js';
import { main } from '../../src/cli/main.js';
import { protectedUpstream } from '../fixtures/authorization-server.js';
import { listeningOn } from '../fixtures/listening.js';
import { aFolder, aRecord, isRunning, scripted, textOf } from '../fixtures/scripted.js';

const bin = fileURLToPath(new URL('../../bin/mcp-proxy.js', import.meta.url));
const closers: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function aConfig(entries: Record<string, unknown>): Promise<{ config: string; state: string; folder: string }> {
  const folder = await aFolder();
  const config = join(folder, 'mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers: entries }));
  return { config, state: join(folder, 'state'), folder };
}

async function run(argv: readonly string[], more: Partial<CommandIo> = {}) {
  let out = '';
  let err = '';
  const code = await main(argv, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    stdin: async () => '',
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
    openUrl: () => undefined,
    ...more,
  });
  return { code, out, err };
}

describe('mcp-proxy in a terminal', () => {
  it('status starts every server, shows progress meanwhile, and says how each one is', async () => {
    const { config, state } = await aConfig({
      good: scripted('good', { allowedTools: ['echo'] }),
      dead: { command: 'no-such-command' },
      off: scripted('good', { disabled: true }),
    });
    const { code, out, err } = await run(['status', '--config', config, '--state', state]);
    expect(code).toBe(0);
    expect(err).toContain('… good: starting');
    expect(err).toContain('✓ good: 1 tool (');
    expect(err).toContain('✗ dead: ');
    expect(out).toMatch(/good: connected/);
    expect(out).toMatch(/dead: failed/);
    expect(out).not.toContain('off');
  });

  it('search, describe and call find their way, each starting only what it needs', async () => {
    const { config, state } = await aConfig({ a: scripted() });
    const common = ['--config', config, '--state', state];
    expect((await run(['search', 'echo', ...common])).out).toContain('echo');
    expect((await run(['describe', 'echo', ...common])).out).toContain('message');
    expect(await run(['call', 'echo', '{"message":"hi"}', ...common])).toMatchObject({ code: 0, out: 'Echo: hi\n' });
    expect(await run(['call', 'echo', '-', ...common], { stdin: async () => '{"message":"piped"}' })).toMatchObject({
      out: 'Echo: piped\n',
    });
  });

  it('says what to do next in commands, not in calls of a model', async () => {
    const { config, state } = await aConfig({ a: scripted(), 'b c': scripted(), dead: { command: 'no-such-command' } });
    const common = ['--config', config, '--state', state];
    const said = async (...argv: string[]): Promise<string> => (await run([...argv, ...common])).out;
    const answers = {
      status: await said('status'),
      nothing: await said('search', 'qqqqqq'),
      unknown: await said('describe', 'qqqqqq'),
      ambiguous: await said('call', 'echo'),
      failed: await said('call', 'echo', '--server', 'dead'),
    };
    expect(answers.status).toContain('Next: mcp-proxy search <words…>');
    expect(answers.nothing).toContain('or mcp-proxy status to see the servers');
    expect(answers.unknown).toContain('mcp-proxy search');
    expect(answers.ambiguous).toContain('Add --server <name> to say which');
    expect(answers.failed).toContain('Try again: mcp-proxy status');
    expect(Object.values(answers).join('\n')).not.toContain('mcp(');
  });

  it('a terminal is sent no escape sequence of a server, a pipe gets every byte', () => {
    const hostile = '\u001b]52;c;ZXZpbA==\u0007\u001b[2Jtext\u009b1m\n';
    const written: string[] = [];
    const stream = (isTTY: boolean) => ({ isTTY, write: (text: string) => written.push(text) });
    writerTo(stream(true))(hostile);
    writerTo(stream(false))(hostile);
    expect(written).toEqual(['text\n', hostile]);
  });

  it('prints JSON when asked', async () => {
    const { config, state } = await aConfig({ a: scripted() });
    const { out } = await run(['call', 'structured', '--json', '--config', config, '--state', state]);
    expect(JSON.parse(out)).toMatchObject({ kind: 'result', result: { structuredContent: { answer: 42 } } });
  });

  it.each([
    [['call', 'fail'], 1, ''],
    [['call', 'no-such-tool'], 1, ''],
    [['call', 'echo', 'not json'], 2, 'The arguments are no JSON'],
    [['call', 'echo', '[1]'], 2, 'must be a JSON object'],
    [['login', 'nobody'], 2, 'No server "nobody" is configured. Known: a.'],
    [['frobnicate'], 2, 'no command "frobnicate"'],
  ])('%j ends with %i', async (argv, expected, message) => {
    const { config, state } = await aConfig({ a: scripted() });
    const { code, err } = await run([...argv, '--config', config, '--state', state]);
    expect(code).toBe(expected);
    expect(err).toContain(message);
  });

  it('without a configuration says where it looked', async () => {
    const { code, err } = await run(['status'], { cwd: await aFolder() });
    expect(code).toBe(2);
    expect(err).toContain('.cursor/mcp.json');
  });

  it('finds the configuration of an editor in the folder', async () => {
    const { folder, config } = await aConfig({ a: scripted() });
    expect(config).toBe(join(folder, 'mcp.json'));
    const { code, out } = await run(['call', 'echo', '{"message":"hi"}', '--state', join(folder, 's')], {
      cwd: folder,
    });
    expect([code, out]).toEqual([0, 'Echo: hi\n']);
  });

  it('approve shows what changed, and trusts it', async () => {
    const { config, state } = await aConfig({ a: scripted('changed-tool', {}, 'now') });
    const common = ['--config', config, '--state', state];
    await run(['call', 'seen', ...common]);
    const [name = ''] = await readdir(join(state, 'pins'));
    const pins = JSON.parse(await readFile(join(state, 'pins', name), 'utf8'));
    pins.tools.echo.hash = 'of another definition';
    pins.tools.echo.definition.description = 'The tool echo before';
    await writeFile(join(state, 'pins', name), JSON.stringify(pins));
    const held = await run(['call', 'echo', '{"message":"hi"}', ...common]);
    expect(held).toMatchObject({ code: 1, out: expect.stringContaining('trust it: mcp-proxy approve a\n') });
    const { out, err } = await run(['approve', 'a', ...common]);
    expect(err).toMatch(/- .*before[\s\S]*\+ .*now/);
    expect(out).toBe('Trusted now: echo\n');
    expect(await run(['call', 'echo', '{"message":"hi"}', ...common])).toMatchObject({ code: 0, out: 'Echo: hi\n' });
    expect((await run(['approve', 'a', ...common])).out).toBe('Nothing was held back.\n');
  });

  it('signs in and out', async () => {
    const upstream = await protectedUpstream();
    closers.push(() => upstream.close());
    const { config, state } = await aConfig({ up: { url: upstream.url } });
    const common = ['--config', config, '--state', state];
    expect((await run(['call', 'echo', '{"message":"hi"}', ...common])).out).toContain('mcp-proxy login up');
    const signed = await run(['login', 'up', ...common], { openUrl: async (url) => void (await upstream.visit(url)) });
    expect(signed).toMatchObject({ code: 0, out: 'Signed in to "up".\n' });
    expect(await run(['call', 'echo', '{"message":"hi"}', ...common])).toMatchObject({ code: 0, out: 'Echo: hi\n' });
    expect((await run(['logout', 'up', ...common])).code).toBe(0);
    expect((await run(['call', 'echo', '{"message":"hi"}', ...common])).code).toBe(1);
  });

  it('says why a login failed without the secrets that the server repeats', async () => {
    const upstream = await protectedUpstream({ tokens: 'refuse' });
    closers.push(() => upstream.close());
    const { config, state } = await aConfig({ up: { url: upstream.url } });
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const openUrl = async (url: URL): Promise<void> => void (await upstream.visit(url));
    const { code, out, err } = await run(['login', 'up', '--config', config, '--state', state, '--verbose'], {
      openUrl,
    });
    const said = `${out}${err}${warn.mock.calls.join()}`;
    warn.mockRestore();
    expect([code, err]).toEqual([1, expect.stringContaining('[secret]')]);
    expect(upstream.secrets.length).toBeGreaterThanOrEqual(2);
    expect(upstream.secrets.filter((secret) => said.includes(secret))).toEqual([]);
  });

  it('says its version and its commands', async () => {
    expect((await run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/);
    expect((await run(['--help'])).out).toContain('mcp-proxy login');
  });
});

describe('mcp-proxy as a command of a host', () => {
  it('serves the one tool over stdio to hosts of both eras', async () => {
    const { config, state } = await aConfig({ a: scripted() });
    const params = {
      command: process.execPath,
      args: [bin, '--config', config, '--state', state],
      stderr: 'ignore' as const,
    };
    const modern = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await modern.connect(new StdioClientTransport(params));
    closers.push(() => modern.close());
    expect(modern.getProtocolEra()).toBe('modern');
    const legacy = new LegacyClient({ name: 'host', version: '1' });
    await legacy.connect(new LegacyStdio(params));
    closers.push(() => legacy.close());
    for (const client of [modern, legacy]) {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['mcp']);
      const result = await client.callTool({ name: 'mcp', arguments: { tool: 'echo', args: { message: 'hi' } } });
      expect(textOf(result)).toBe('Echo: hi');
    }
  });

  it('tells its host when the configuration names other servers', async () => {
    const { config, state } = await aConfig({ a: scripted() });
    const client = new LegacyClient({ name: 'host', version: '1' });
    const descriptions: string[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
      descriptions.push((await client.listTools()).tools[0]?.description ?? '');
    });
    const args = [bin, '--config', config, '--state', state];
    await client.connect(new LegacyStdio({ command: process.execPath, args, stderr: 'ignore' }));
    closers.push(() => client.close());
    await writeFile(config, JSON.stringify({ mcpServers: { a: scripted(), newcomer: scripted() } }));
    await vi.waitFor(() => expect(descriptions.at(-1)).toContain('newcomer'), { timeout: 30_000 });
  });

  it('leaves when the host closes the pipe, and takes its upstreams along', async () => {
    const record = aRecord();
    const { config, state } = await aConfig({
      a: scripted('good', { env: { RECORD: record.path }, lifecycle: 'eager' }),
    });
    const child = spawn(process.execPath, [bin, '--config', config, '--state', state], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    closers.push(() => void child.kill('SIGKILL'));
    await vi.waitFor(async () => expect(await record.lines()).toContain('notifications/initialized'), {
      timeout: 30_000,
    });
    child.stdin.end();
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    const pid = Number((await record.lines())[0]?.split(' ')[1]);
    expect(await isRunning(pid)).toBe(false);
  });

  it('ends cleanly on SIGTERM', async () => {
    const record = aRecord();
    const { config, state } = await aConfig({
      a: scripted('stubborn', { env: { RECORD: record.path }, lifecycle: 'eager' }),
    });
    const child = spawn(process.execPath, [bin, '--config', config, '--state', state], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    closers.push(() => void child.kill('SIGKILL'));
    await vi.waitFor(async () => expect(await record.lines()).toContain('notifications/initialized'), {
      timeout: 30_000,
    });
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
    expect(await isRunning(Number((await record.lines())[0]?.split(' ')[1]))).toBe(false);
  });

  it('serves over HTTP, with a token from the environment', async () => {
    const { config, state } = await aConfig({ a: scripted() });
    const argv = [bin, '--config', config, '--state', state, '--http', '0', '--token-env', 'PROXY_TOKEN'];
    const child = spawn(process.execPath, argv, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, PROXY_TOKEN: 'let-me-in' },
    });
    closers.push(() => void child.kill('SIGKILL'));
    const url = await listeningOn(child);
    const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const requestInit = { headers: { Authorization: 'Bearer let-me-in' } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    const result = await client.callTool({ name: 'mcp', arguments: { tool: 'echo', args: { message: 'hi' } } });
    expect(textOf(result)).toBe('Echo: hi');
    await client.close();
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  });
});
