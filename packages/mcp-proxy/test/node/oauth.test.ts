import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEraResolver } from '@mcp-interlock/mcp-era';
import { afterEach, describe, expect, it } from 'vitest';
import {
  createNodeProvider,
  forgetLogin,
  login,
  type NodeProvider,
  storedOAuthProvider,
  type UpstreamConfig,
} from '../../src/node/index.js';
import { type ProtectedUpstream, protectedUpstream } from '../fixtures/authorization-server.js';
import { aFolder, configOf, scripted, textOf } from '../fixtures/scripted.js';
import { filesIn } from '../fixtures/state-files.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function aProtectedServer(): Promise<{
  upstream: ProtectedUpstream;
  config: UpstreamConfig;
  folder: string;
  provider: () => NodeProvider;
  logged: string[];
}> {
  const upstream = await protectedUpstream();
  closers.push(() => upstream.close());
  const configs = configOf({ up: { url: upstream.url } });
  const folder = await aFolder();
  const logged: string[] = [];
  const provider = (): NodeProvider => {
    const made = createNodeProvider(configs, {
      authProvider: (each) => storedOAuthProvider(each, folder),
      resolver: createEraResolver(),
      debugLog: (line) => logged.push(line),
    });
    closers.push(() => made.closeAll());
    return made;
  };
  return { upstream, config: configs.get('up') as UpstreamConfig, folder, provider, logged };
}

describe('signing in', () => {
  it('is asked for, done once in a browser, and kept for the next connections', async () => {
    const { upstream, config, folder, provider } = await aProtectedServer();
    await expect(provider().connect('up')).rejects.toMatchObject({ code: 'UPSTREAM_LOGIN_REQUIRED' });
    // Asking for nothing must leave nothing behind at the authorization server.
    expect(upstream.events).not.toContain('register');

    await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
    const connection = await provider().connect('up');
    expect(textOf(await connection.callTool('echo', { message: 'hi' }))).toBe('Echo: hi');
    const again = await provider().connect('up');
    expect(textOf(await again.callTool('echo', { message: 'again' }))).toBe('Echo: again');
    expect(upstream.events.filter((event) => event.startsWith('token'))).toEqual(['token authorization_code']);
  });

  it('keeps tokens in a private file, and writes them to no log', async () => {
    const { upstream, config, folder, provider, logged } = await aProtectedServer();
    await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
    await (await provider().connect('up')).callTool('echo', { message: 'hi' });
    const [file] = await filesIn(join(folder, 'oauth'));
    expect((await stat(file?.path ?? '')).mode & 0o777).toBe(0o600);
    const { tokens } = JSON.parse(file?.text ?? '{}') as { tokens: { access_token: string; refresh_token: string } };
    expect(tokens.access_token).toMatch(/^[0-9a-f-]{36}$/);
    expect(logged.join('\n')).not.toContain(tokens.access_token);
    expect(logged.join('\n')).not.toContain(tokens.refresh_token);
  });

  it('is renewed when the token has expired, in the middle of things too', async () => {
    const { upstream, config, folder, provider } = await aProtectedServer();
    await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
    upstream.expireTokens();
    const connection = await provider().connect('up');
    upstream.expireTokens();
    expect(textOf(await connection.callTool('echo', { message: 'hi' }))).toBe('Echo: hi');
    expect(upstream.events.filter((event) => event === 'token refresh_token')).toHaveLength(2);
  });

  it('is renewed once for all calls that find the token expired', async () => {
    const { upstream, config, folder, provider } = await aProtectedServer();
    await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
    const connection = await provider().connect('up');
    upstream.expireTokens();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => connection.callTool('echo', { message: `${index}` })),
    );
    expect(answers.map(textOf)).toEqual(Array.from({ length: 8 }, (_, index) => `Echo: ${index}`));
    expect(upstream.events.filter((event) => event === 'token refresh_token')).toHaveLength(1);
  });

  it('that another process renewed is taken over', async () => {
    const { upstream, config, folder, provider } = await aProtectedServer();
    await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
    const [ours, theirs] = [await provider().connect('up'), await provider().connect('up')];
    upstream.expireTokens();
    expect(textOf(await theirs.callTool('echo', { message: 'first' }))).toBe('Echo: first');
    expect(textOf(await ours.callTool('echo', { message: 'second' }))).toBe('Echo: second');
    expect(upstream.events.filter((event) => event === 'token refresh_token')).toHaveLength(1);
  });

  it('that was forgotten is asked for again', async () => {
    const { upstream, config, folder, provider } = await aProtectedServer();
    await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
    await forgetLogin(config, folder);
    await expect(provider().connect('up')).rejects.toMatchObject({ code: 'UPSTREAM_LOGIN_REQUIRED' });
  });

  it('that the person refuses fails with the reason', async () => {
    const { upstream, config, folder } = await aProtectedServer();
    await expect(
      login(config, { folder, openUrl: async (url) => void (await upstream.visit(url, 'no')) }),
    ).rejects.toThrow('access_denied');
  });

  it.each(['file:///usr/bin/calculator', 'ms-msdt:/id', 'javascript:alert(1)'])(
    'opens no page at %s, whatever the server says',
    async (signInPage) => {
      const upstream = await protectedUpstream({ signInPage });
      closers.push(() => upstream.close());
      const opened: URL[] = [];
      const config = configOf({ up: { url: upstream.url } }).get('up') as UpstreamConfig;
      const openUrl = (url: URL): void => void opened.push(url);
      // Whoever opened it would wait for its answer: the signal only keeps a failing test from hanging.
      await expect(
        login(config, { folder: await aFolder(), openUrl, signal: AbortSignal.timeout(30_000) }),
      ).rejects.toThrow(/no web page|URL|url|scheme/i);
      expect(opened).toEqual([]);
    },
  );

  it('does not take an answer that belongs to another login', async () => {
    const { upstream, config, folder } = await aProtectedServer();
    const openUrl = async (url: URL): Promise<void> => void (await upstream.visit(url, 'forged-state'));
    await expect(login(config, { folder, openUrl })).rejects.toThrow('belongs to another login');
    expect(upstream.events).not.toContain('token authorization_code');
  });

  it('stops when it is told to', async () => {
    const { config, folder } = await aProtectedServer();
    const stop = new AbortController();
    const openUrl = (): void => stop.abort(new Error('Ctrl-C'));
    await expect(login(config, { folder, openUrl, signal: stop.signal })).rejects.toThrow('Ctrl-C');
  });

  it('is nothing for a local server', async () => {
    const config = configOf({ a: scripted() }).get('a') as UpstreamConfig;
    await expect(login(config, { folder: await aFolder(), openUrl: () => undefined })).rejects.toThrow('local command');
  });

  it('with a damaged file is an error that says what to do', async () => {
    const { upstream, config, folder, provider } = await aProtectedServer();
    await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
    const [file] = await filesIn(join(folder, 'oauth'));
    await writeFile(file?.path ?? '', '{"version": 99}');
    await expect(provider().connect('up')).rejects.toMatchObject({
      cause: { code: 'STATE_FILE_CORRUPT', message: expect.stringContaining('sign in again') },
    });
  });
});
