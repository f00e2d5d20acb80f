/** What signing in to a remote server leaves behind: tokens and the client's registration, in a private file. */
import { join } from 'node:path';
import {
  type AuthProvider,
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { UpstreamConfig } from './config.js';
import { StateFileError, UpstreamError } from './errors.js';
import { fileNameOf, readStateFile, removeStateFile, writeStateFile } from './state-files.js';

/** The interactive half of a login; without it, a server that wants one is an error. */
export interface OAuthInteraction {
  /** Where the browser comes back to. */
  readonly redirectUrl: string;
  /** Unguessable, and checked when the browser comes back. */
  readonly state: string;
  readonly open: (authorizationUrl: URL) => void | Promise<void>;
}

/** What the SDK's transports take: tokens, or a whole OAuth client. */
export type SignIn = (AuthProvider & Partial<HoldsCredentials>) | OAuthClientProvider;

/** A sign-in that holds more than it hands out, and says what, so that it can be kept out of texts. */
export interface HoldsCredentials {
  /** Every secret that it holds at the moment: tokens of any kind, the client's secret. */
  credentials(): Promise<readonly string[]>;
}

interface Credentials {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly discovery?: OAuthDiscoveryState;
}

const VERSION = 1;
const credentialsFile = z.looseObject({
  version: z.literal(VERSION),
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string() }).optional(),
  discovery: z.looseObject({ authorizationServerUrl: z.string() }).optional(),
});

/** The SDK's OAuth provider over one file. Nothing of it is ever written to a log. */
export class FileOAuthProvider implements OAuthClientProvider, HoldsCredentials {
  readonly #config: UpstreamConfig;
  readonly #path: string;
  readonly #interaction: OAuthInteraction | undefined;
  #known: Promise<Credentials> | undefined;
  #verifier: string | undefined;

  constructor(config: UpstreamConfig, folder: string, interaction?: OAuthInteraction) {
    this.#config = config;
    this.#path = oauthPath(config, folder);
    this.#interaction = interaction;
  }

  get redirectUrl(): string {
    // Never used without an interaction, but its absence would make the SDK think of a flow without a person.
    return this.#interaction?.redirectUrl ?? 'http://127.0.0.1/callback';
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scope } = this.#config.oauth;
    return {
      client_name: 'Interlock mcp-proxy',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: this.#config.oauth.clientSecret ? 'client_secret_post' : 'none',
      ...(scope !== undefined && { scope }),
    };
  }

  state(): string {
    return this.#interaction?.state ?? '';
  }

  async clientInformation(): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.#config.oauth;
    if (clientId !== undefined) {
      return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
    }
    return (await this.#read()).client;
  }

  async saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    await this.#write({ ...(await this.#read()), client });
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return (await this.#read()).tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.#write({ ...(await this.#read()), tokens });
  }

  async redirectToAuthorization(authorizationUrl: URL): Promise<void> {
    if (!this.#interaction) {
      const { serverName } = this.#config;
      throw new UpstreamError(
        'UPSTREAM_LOGIN_REQUIRED',
        serverName,
        `Server "${serverName}" wants you to sign in. Run: mcp-proxy login ${serverName}`,
      );
    }
    const { protocol } = authorizationUrl;
    // The server chooses this address, and the system opens it: another scheme would start another program than a browser.
    if (protocol !== 'https:' && protocol !== 'http:') {
      const { serverName } = this.#config;
      throw new UpstreamError(
        'UPSTREAM_ADDRESS_REFUSED',
        serverName,
        `Server "${serverName}" wants a sign-in page at a "${protocol}" address, which is no web page; it was not opened.`,
      );
    }
    await this.#interaction.open(authorizationUrl);
  }

  async credentials(): Promise<readonly string[]> {
    const { tokens, client } = await this.#read();
    const secrets = [tokens?.access_token, tokens?.refresh_token, tokens?.id_token, client?.client_secret];
    return secrets.filter((secret) => secret !== undefined);
  }

  saveCodeVerifier(codeVerifier: string): void {
    this.#verifier = codeVerifier;
  }

  codeVerifier(): string {
    if (this.#verifier === undefined) throw new Error('The login was not started in this process; start it again.');
    return this.#verifier;
  }

  async saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    await this.#write({ ...(await this.#read()), discovery });
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.#read()).discovery;
  }

  async invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    const { client, tokens, discovery } = await this.#read();
    const keep = (name: 'client' | 'tokens' | 'discovery'): boolean => scope !== 'all' && scope !== name;
    if (scope === 'all' || scope === 'verifier') this.#verifier = undefined;
    await this.#write({
      ...(client && keep('client') && { client }),
      ...(tokens && keep('tokens') && { tokens }),
      ...(discovery && keep('discovery') && { discovery }),
    });
  }

  /** Whether another process has renewed the tokens; from then on its tokens are used. */
  async renewedElsewhere(): Promise<boolean> {
    const before = (await this.#read()).tokens?.access_token;
    const onDisk = await readCredentials(this.#path);
    if (!onDisk.tokens || onDisk.tokens.access_token === before) return false;
    this.#known = Promise.resolve(onDisk);
    return true;
  }

  #read(): Promise<Credentials> {
    this.#known ??= readCredentials(this.#path);
    return this.#known;
  }

  async #write(credentials: Credentials): Promise<void> {
    this.#known = Promise.resolve(credentials);
    await writeStateFile(this.#path, { version: VERSION, ...credentials });
  }
}

/** A provider for a server to which somebody has signed in; undefined when nobody has. */
export async function storedOAuthProvider(
  config: UpstreamConfig,
  folder: string,
): Promise<(AuthProvider & HoldsCredentials) | undefined> {
  if (config.endpoint.type === 'stdio') return undefined;
  const { tokens } = await readCredentials(oauthPath(config, folder));
  return tokens ? renewOnce(new FileOAuthProvider(config, folder)) : undefined;
}

type Refusal = Parameters<NonNullable<AuthProvider['onUnauthorized']>>[0];

/**
 * A refresh token often works once. Calls that are refused side by side must therefore share one renewal, and a renewal by another
 * process must be taken over: the SDK by itself renews for each of them, and the second one signs the person out.
 */
function renewOnce(provider: FileOAuthProvider): AuthProvider & HoldsCredentials {
  let renewing: Promise<void> | undefined;
  const renew = async ({ response, serverUrl, fetchFn }: Refusal): Promise<void> => {
    if (await provider.renewedElsewhere()) return;
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
    await auth(provider, {
      serverUrl,
      fetchFn,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
    });
  };
  return {
    token: async () => (await provider.tokens())?.access_token,
    credentials: () => provider.credentials(),
    onUnauthorized: (context) => {
      renewing ??= renew(context).finally(() => {
        renewing = undefined;
      });
      return renewing;
    },
  };
}

/** Forgets tokens and registration of a server. */
export async function forgetLogin(config: UpstreamConfig, folder: string): Promise<void> {
  await removeStateFile(oauthPath(config, folder));
}

function oauthPath(config: UpstreamConfig, folder: string): string {
  // Tokens belong to the URL: one that changed must not get the tokens of the old one.
  const url = config.endpoint.type === 'stdio' ? '' : config.endpoint.url;
  return join(folder, 'oauth', fileNameOf(config.serverName, url));
}

async function readCredentials(path: string): Promise<Credentials> {
  const data = await readStateFile(path);
  if (data === undefined) return {};
  const parsed = credentialsFile.safeParse(data);
  if (!parsed.success) {
    throw new StateFileError(
      'STATE_FILE_CORRUPT',
      path,
      `${path} holds no credentials of version ${VERSION}. Delete it and sign in again.`,
    );
  }
  // Written by ourselves from the SDK's own types; the fields that matter for safety were just checked.
  return parsed.data as Credentials;
}
