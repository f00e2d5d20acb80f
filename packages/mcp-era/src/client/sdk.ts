/** The official SDKs, loaded when they are needed: the client and transports of 2.x, of 1.x where only that is there. */
import type { EraFetch } from '../http-probe.js';
import type { TransportLike } from '../transport.js';

/** The least of an official client. `Client` of both generations is one. */
export interface ConnectableClient {
  connect(transport: TransportLike, options?: object): Promise<void>;
  close(): Promise<void>;
}

/** What clients of both generations can do; what `connectClient` gives when it is brought no client. */
export interface OfficialClient extends ConnectableClient {
  listTools(params?: { cursor?: string }): Promise<{ tools: { name: string; description?: string | undefined }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<Record<string, unknown>>;
  getServerCapabilities(): object | undefined;
  getServerVersion(): { name: string; version: string } | undefined;
}

export type SdkGeneration = 'v1' | 'v2';

/** No official SDK, or not the one that is needed. */
export class SdkMissingError extends Error {
  override readonly name: string = 'SdkMissingError';
  readonly code: string = 'SDK_MISSING';
}

/** Loads a module by its name; injected by tests. */
export type ImportModule = (name: string) => Promise<unknown>;

export const importModule: ImportModule = (name) => import(name);

/** Only clients of 2.x know eras. */
export const generationOf = (client: object): SdkGeneration => ('getProtocolEra' in client ? 'v2' : 'v1');

export interface ClientIdentity {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly capabilities: Readonly<Record<string, unknown>>;
}

type ClientClass = new (info: object, options: object) => OfficialClient;
type TransportClass = new (url: URL, options: object) => TransportLike;

/** A client of 2.x, of 1.x where only that is installed. */
export async function createOfficialClient(
  { clientInfo, capabilities }: ClientIdentity,
  load: ImportModule,
): Promise<OfficialClient> {
  const { Client } = ((await loadIfInstalled(load, '@modelcontextprotocol/client')) ??
    (await loadIfInstalled(load, '@modelcontextprotocol/sdk/client/index.js')) ??
    missing()) as { Client: ClientClass };
  return new Client(clientInfo, { capabilities });
}

export interface HttpTransportOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch?: EraFetch | undefined;
}

/** The SDK's own Streamable HTTP or HTTP+SSE transport, of the client's generation. */
export async function createHttpTransport(
  kind: 'streamable' | 'sse',
  generation: SdkGeneration,
  { url, headers, fetch }: HttpTransportOptions,
  load: ImportModule,
): Promise<TransportLike> {
  const file = kind === 'sse' ? 'sse' : 'streamableHttp';
  const name = generation === 'v2' ? '@modelcontextprotocol/client' : `@modelcontextprotocol/sdk/client/${file}.js`;
  const classes = ((await loadIfInstalled(load, name)) ?? missing()) as Record<string, TransportClass>;
  const Transport = classes[kind === 'sse' ? 'SSEClientTransport' : 'StreamableHTTPClientTransport'] as TransportClass;
  return new Transport(new URL(url), { requestInit: { headers: { ...headers } }, ...(fetch && { fetch }) });
}

async function loadIfInstalled(load: ImportModule, name: string): Promise<unknown> {
  try {
    return await load(name);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Only the absence of the package itself: a broken one must say so.
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes('@modelcontextprotocol/')) return undefined;
    throw error;
  }
}

function missing(): never {
  throw new SdkMissingError(
    'No official MCP SDK is installed: `npm install @modelcontextprotocol/client` (both eras), or @modelcontextprotocol/sdk (legacy only)',
  );
}
