/** A store over a line to Redis that breaks, and how its calls end. */
import { once } from 'node:events';
import {
  type AgentRunState,
  createRunStore,
  OutcomeUnknownError,
  type RunStore,
  RunStoreError,
} from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { type Client, type ClientKind, type ClientOptions, type LineFault, proxyTo } from './lines.js';

/** How long a store waits on a line that went silent. Elsewhere a timeout must not be what ends a call. */
const SILENCE_MS = 400;
const PATIENCE_MS = 30_000;

/** What stands at the line's end. */
export interface LineEnd {
  readonly url: string;
  readonly kind: ClientKind;
  readonly options: ClientOptions;
}

/** A store at one end, the client that it has, and how to break what is between. */
export interface BreakableLine {
  readonly line: RunStore<AgentRunState>;
  readonly client: Client;
  readonly strike: () => Promise<void>;
}

/** Opens a store over a proxied, connected client, and closes all of it again. Without a fault there is nothing to strike. */
export async function overALine(
  { url, kind, options }: LineEnd,
  fault: LineFault | undefined,
  body: (line: BreakableLine) => Promise<void>,
): Promise<void> {
  const proxy = await proxyTo(url);
  const client = kind.connect(proxy.port, options);
  try {
    if (client.status !== 'ready') await once(client, 'ready');
    // A client that neither sends again nor rejects leaves its caller as silent a line.
    const silent = fault?.silent || options.autoResendUnfulfilledCommands === false;
    const backend = redisRunBackend({ client, timeoutMs: silent ? SILENCE_MS : PATIENCE_MS });
    const line = createRunStore<AgentRunState>({ backend, ttlSeconds: 600 });
    await body({ line, client, strike: async () => fault?.strike(proxy) });
  } finally {
    client.disconnect();
    await proxy.stop();
  }
}

/** How a call ended. `refused`: nothing happened, so there is no token to repeat with. */
export type Settled<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'unknown'; readonly token: string | undefined }
  | { readonly kind: 'refused'; readonly code: string };

/** Anything else than an error of ours fails the test. */
export async function settle<T>(call: Promise<T>): Promise<Settled<T>> {
  try {
    return { kind: 'value', value: await call };
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return { kind: 'unknown', token: error.token };
    if (error instanceof RunStoreError) return { kind: 'refused', code: error.code };
    throw error;
  }
}
