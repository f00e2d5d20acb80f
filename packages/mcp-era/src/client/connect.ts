/** `connectClient`: from a target to a connected official client, in the right era, with at most one question. */
import { DEFAULT_CLIENT_INFO } from '../discover-request.js';
import { createEraResolver, type EraResolver } from '../resolver.js';
import { Connection } from './connection.js';
import type { ConnectOptions, EraConnection } from './options.js';
import { type ConnectableClient, createOfficialClient, importModule, type OfficialClient } from './sdk.js';
import { authContextOf, type EraTarget } from './target.js';

let shared: EraResolver | undefined;

/**
 * Connects an official client to a server of either era.
 *
 * The era comes from the resolver: from its cache without a question, else by one `server/discover`. Over stdio that is
 * asked on the connection's own process, so that there is only ever one. A client of 2.x is given the verdict as its
 * `prior` and asks nothing again; a client of 1.x is connected in the legacy era. When a later answer proves the verdict
 * wrong, the client is reconnected once in the other era.
 *
 * ```ts
 * const connection = await connectClient({ type: 'streamable-http', url: 'https://api.example.com/mcp' });
 * const { tools } = await connection.run((client) => client.listTools());
 * await connection.close();
 * ```
 *
 * @throws {EraUndeterminedError} when the era cannot be told: sign-in needed, unavailable, redirected, not MCP, …
 * @throws {SdkMissingError} when no client is given and no official SDK is installed
 * @throws what the official client throws when it cannot connect
 */
export function connectClient<C extends ConnectableClient>(
  target: EraTarget,
  options: ConnectOptions<C> & { readonly client: C },
): Promise<EraConnection<C>>;
export function connectClient(
  target: EraTarget,
  options?: ConnectOptions<OfficialClient>,
): Promise<EraConnection<OfficialClient>>;
export async function connectClient(
  target: EraTarget,
  options: ConnectOptions<ConnectableClient> = {},
): Promise<EraConnection<ConnectableClient>> {
  options.signal?.throwIfAborted();
  shared ??= createEraResolver();
  const { resolver = shared, clientInfo = DEFAULT_CLIENT_INFO, capabilities = {} } = options;
  const load = options.importModule ?? importModule;
  const client = options.client ?? (await createOfficialClient({ clientInfo, capabilities }, load));
  const authContext = options.authContext ?? (await authContextOf(target, options.fetch));
  return new Connection(target, client, options, resolver, authContext).open();
}
