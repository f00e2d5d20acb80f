import type { AuthProvider, OAuthClientProvider } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { McpProxyTool, type ProxyEvent } from '../../src/index.js';
import {
  createMetadataStore,
  createNodeProvider,
  createPinStore,
  createSpill,
  login,
  type NodeProviderOptions,
  specsOf,
  storedOAuthProvider,
  type UpstreamConfig,
} from '../../src/node/index.js';
import { type ProtectedUpstreamOptions, protectedUpstream } from '../fixtures/authorization-server.js';
import { parrot, parrotHandler } from '../fixtures/parrot.js';
import { aFolder, configOf, textOf } from '../fixtures/scripted.js';
import { filesIn } from '../fixtures/state-files.js';

const closers: (() => Promise<unknown>)[] = [];
/** The SDK writes there by itself. */
const consoleWarn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
afterEach(async () => {
  consoleWarn.mockClear();
  for (const close of closers.splice(0).reverse()) await close();
});

/** A proxy with one server, and everything that it ever said. */
async function aProxy(entry: Record<string, unknown>, options: NodeProviderOptions, folder: string) {
  const configs = configOf({ up: { protocol: 'legacy', ...entry } });
  const said: string[] = [];
  const tell = (value: unknown): void => void said.push(JSON.stringify(value) ?? '');
  const provider = createNodeProvider(configs, {
    debugLog: tell,
    onLog: (_name, log) => tell(log),
    ...options,
  });
  const configOfName = (name: string): UpstreamConfig | undefined => configs.get(name);
  const proxy = new McpProxyTool(provider, specsOf(configs), {
    debugLog: tell,
    onEvent: (event: ProxyEvent) => tell(event),
    pins: createPinStore(folder, configOfName),
    metadata: createMetadataStore(folder, configOfName),
    output: { spill: createSpill(folder) },
  });
  closers.push(async () => {
    await proxy.closeAll();
    await provider.closeAll();
  });
  /** Makes the server say everything that it can say, by every way out. */
  const sayAll = async (context: unknown = undefined): Promise<void> => {
    const onProgress = (progress: unknown): void => tell(progress);
    for (const tool of ['fly', 'fall', 'sing', 'chirp', 'ask', 'big']) {
      const channel = {
        kind: 'interlock:host-channel' as const,
        hostId: 'host',
        capabilities: { elicitation: {} },
        logLevel: 'debug',
        request: async (_method: string, params: unknown) => {
          tell(params);
          return { action: 'accept', content: {} };
        },
        log: tell,
      };
      const callContext = context ?? (tool === 'chirp' ? undefined : channel);
      tell(await proxy.run({ tool, server: 'up' }, { onProgress, context: callContext }));
      tell(await proxy.perform({ kind: 'call', tool, server: 'up', args: {} }, { onProgress, context: callContext }));
      said.push(await proxy.asTool().execute({ tool, server: 'up' }));
    }
    tell(await proxy.run({ describe: 'fly', server: 'up' }));
    tell(await proxy.perform({ kind: 'status' }));
    tell(await proxy.run({ search: 'bad credentials' }));
    const connection = await provider.connect('up');
    tell([connection.getInstructions(), connection.getServerInfo()]);
  };
  return { proxy, provider, configs, said, sayAll };
}

/** The parts of tokens are no better than tokens; `bad credentials` shows that something was said at all. */
function expectNoneOf(secrets: readonly string[], said: readonly string[]): void {
  const text = said.join('\n');
  expect(text).toContain('bad credentials');
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
}

async function aSignedInServer(options: ProtectedUpstreamOptions = {}) {
  const upstream = await protectedUpstream({ behind: parrotHandler(), ...options });
  closers.push(() => upstream.close());
  const folder = await aFolder();
  const config = configOf({ up: { url: upstream.url, protocol: 'legacy' } }).get('up') as UpstreamConfig;
  await login(config, { folder, openUrl: async (url) => void (await upstream.visit(url)) });
  return { upstream, folder, config };
}

describe('a token of a sign-in that the server repeats', () => {
  it('is in no answer, result, definition, question, log, event or file, before and after it was renewed', async () => {
    const { upstream, folder } = await aSignedInServer();
    const authProvider = (each: UpstreamConfig) => storedOAuthProvider(each, folder);
    const { said, sayAll } = await aProxy(
      { url: upstream.url },
      { authProvider, relay: ['elicitation/create'] },
      folder,
    );
    await sayAll();
    upstream.expireTokens();
    await sayAll();
    const tokens = upstream.events.filter((event) => event.startsWith('token'));
    expect(tokens).toEqual(['token authorization_code', 'token refresh_token']);
    expectNoneOf(upstream.secrets, said);
    const written = (await filesIn(folder)).filter(({ path }) => !path.includes('oauth'));
    expect(written.map(({ path }) => path).join()).toMatch(/pins.*spill.*tools/);
    expectNoneOf(
      upstream.secrets,
      written.map(({ text }) => text),
    );
  });

  it('is in no status after the server lost its connection, and is known to the next one', async () => {
    const { upstream, folder } = await aSignedInServer();
    const authProvider = (each: UpstreamConfig) => storedOAuthProvider(each, folder);
    const { proxy, provider, said, sayAll } = await aProxy({ url: upstream.url }, { authProvider }, folder);
    await sayAll();
    await provider.closeAll();
    upstream.expireTokens();
    await sayAll();
    said.push(textOf(await proxy.run({})));
    expectNoneOf(upstream.secrets, said);
  });

  it('is not in the error when it cannot be renewed, nor is the refresh token', async () => {
    const { upstream, folder } = await aSignedInServer();
    const authProvider = (each: UpstreamConfig) => storedOAuthProvider(each, folder);
    const { proxy, said, sayAll } = await aProxy({ url: upstream.url }, { authProvider }, folder);
    await sayAll();
    upstream.refuseTokens();
    upstream.expireTokens();
    said.push(JSON.stringify(await proxy.perform({ kind: 'call', tool: 'sing', server: 'up', args: {} })));
    said.push(textOf(await proxy.run({ connect: 'up' })), textOf(await proxy.run({})));
    said.push(...consoleWarn.mock.calls.flat().map(String));
    expect(said.at(-1)).toContain('invalid_grant');
    expectNoneOf(upstream.secrets, said);
  });

  it('is taken out whatever gave it: an OAuth client of the program, or a function that returns tokens', async () => {
    let issued = 0;
    const secrets: string[] = [];
    const next = (kind: string): string => {
      issued += 1;
      secrets.push(`${kind}-of-the-program-${issued}`);
      return `${kind}-of-the-program-${issued}`;
    };
    const own: AuthProvider = { token: async () => next('token') };
    class Client implements Partial<OAuthClientProvider> {
      readonly #redirect = 'http://127.0.0.1/callback';
      get redirectUrl(): string {
        return this.#redirect;
      }
      readonly clientMetadata = { redirect_uris: [] };
      clientInformation = () => ({ client_id: 'id', client_secret: next('secret') });
      tokens = async () => ({
        access_token: next('access'),
        refresh_token: next('refresh'),
        id_token: next('id'),
        token_type: 'Bearer',
      });
      saveTokens = () => undefined;
      redirectToAuthorization = () => undefined;
      saveCodeVerifier = () => undefined;
      codeVerifier = () => next('verifier');
    }
    for (const signIn of [own, new Client() as OAuthClientProvider]) {
      const upstream = await parrot();
      closers.push(upstream.close);
      const url = upstream.origin;
      const { said, sayAll } = await aProxy({ url }, { authProvider: () => signIn }, await aFolder());
      await sayAll();
      expectNoneOf(secrets, said);
    }
    expect(secrets.length).toBeGreaterThan(20);
  });
});

describe('the headers of a caller that the server repeats', () => {
  it('are in nothing that this caller, another caller or a log gets', async () => {
    const upstream = await parrot();
    closers.push(upstream.close);
    const callerHeaders: NodeProviderOptions['callerHeaders'] = ({ context }) =>
      typeof context === 'string'
        ? { Authorization: `Bearer token-of-${context}-0123`, 'X-Api-Key': `key-of-${context}-0123456` }
        : {};
    const { said, sayAll } = await aProxy({ url: upstream.origin }, { callerHeaders }, await aFolder());
    await sayAll('ada');
    await sayAll('bob');
    const names = ['ada', 'bob'];
    expectNoneOf(
      names.flatMap((name) => [`token-of-${name}-0123`, `key-of-${name}-0123456`]),
      said,
    );
  });
});

describe('a login that fails', () => {
  it('says why without the code, the verifier and the secret of the client', async () => {
    const upstream = await protectedUpstream({ tokens: 'refuse' });
    closers.push(() => upstream.close());
    const oauth = { clientId: 'client', clientSecret: 'secret of the client', scope: 'all' };
    const config = configOf({ up: { url: upstream.url, oauth } }).get('up') as UpstreamConfig;
    const openUrl = async (url: URL): Promise<void> => void (await upstream.visit(url));
    const error = await login(config, { folder: await aFolder(), openUrl }).catch((reason: Error) => reason);
    const { message, stack } = error as Error;
    const said = `${message}${stack}${consoleWarn.mock.calls.flat().join()}`;
    expect(said).toContain('invalid_grant');
    expect(message).toContain('[secret]');
    // The code, its verifier and the secret: all of them were repeated.
    expect(upstream.secrets.length).toBeGreaterThanOrEqual(3);
    expect(upstream.secrets.filter((secret) => said.includes(secret))).toEqual([]);
  });
});
