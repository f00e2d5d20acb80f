/** Sessions in Redis: every step is one atomic script on one key, so that any number of processes may serve a session. */
import { GateError } from './errors.js';
import { COMMIT, FORCE, RELEASE, RENEW, RESERVE } from './redis/scripts.js';
import type { GateStore, ReserveOutcome, StoreChange, StoredSession } from './sessions/store.js';
import type { FsmSnapshot } from './snapshot.js';

/** The part of ioredis (`Redis` or `Cluster`, 5 or 6) that is used. */
export interface RedisClient {
  evalsha(sha: string, keys: number, ...args: string[]): Promise<unknown>;
  eval(script: string, keys: number, ...args: string[]): Promise<unknown>;
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
  del(key: string): Promise<number>;
}

/** The part of ioredis that a connection in subscriber mode is used for. */
export interface RedisSubscriber {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  off(event: 'message', listener: (channel: string, message: string) => void): unknown;
}

/** Options of `redisGateStore`. */
export interface RedisGateStoreOptions {
  /** The connection; yours to open and to close. On Redis Cluster a session's key names its slot. */
  readonly client: RedisClient;
  /** A second connection: with it, changes made by other processes reach `onChange`. */
  readonly subscriber?: RedisSubscriber;
  /** Before each session's key. Default `interlock:gate:`. */
  readonly prefix?: string;
  /** For how long a session that no call touches is kept, in seconds. Default 86,400 (one day). */
  readonly ttlSeconds?: number;
  /** Milliseconds since the epoch, for leases. Default: the clock of the server, so that the processes' clocks need not agree. */
  readonly now?: () => number;
  /** What failed where nobody waits for an answer (the subscription, a foreign message). Default `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/**
 * A store on Redis 5 or later. A reservation and its commit are one round trip each.
 *
 * A primary that fails over before it replicated a lease forgets the lease: the fence of the next call is still greater, so a
 * system that checks fences stays safe.
 *
 * @example
 * ```ts
 * const sessions = createGateSessions({ gate, store: redisGateStore({ client: new Redis(url) }) });
 * ```
 * @throws every method rejects with `GateError`: `STORE_FAILED` (its `cause` is Redis's) or `SNAPSHOT_INVALID`.
 */
export function redisGateStore(options: RedisGateStoreOptions): GateStore {
  const { client, subscriber, prefix = 'interlock:gate:', ttlSeconds = 86_400, now, onError = console.error } = options;
  if (typeof client?.evalsha !== 'function')
    throw new GateError(
      'ARGUMENT_INVALID',
      'client must be a connection of the package ioredis; install it and pass new Redis(url).',
    );
  if (!(ttlSeconds > 0)) throw new GateError('ARGUMENT_INVALID', 'ttlSeconds must be a positive number of seconds.');
  const ttlMs = String(Math.ceil(ttlSeconds * 1_000));
  const channel = `${prefix}changes`;
  // Tells our own messages from those of other processes.
  const origin = crypto.randomUUID();

  const store: GateStore = {
    async read(key) {
      const [snapshot, version] = await attempt(() => client.hmget(prefix + key, 's', 'v'));
      return snapshot ? session(snapshot, version) : undefined;
    },

    async reserve(key, { id, tool, initial, leaseMs, onlyIn }): Promise<ReserveOutcome> {
      const wanted = onlyIn ? JSON.stringify(onlyIn) : '';
      const begin = initial();
      const reply = await run(RESERVE, key, id, tool, String(Math.ceil(leaseMs)), begin.state, wanted);
      const [kind, snapshot, version, who, left] = strings(reply);
      try {
        const found = snapshot ? session(snapshot, version) : { snapshot: begin, version: 0 };
        if (kind === 'granted') return { kind, session: found, fence: Number(who) };
        if (kind === 'held') return { kind, session: found, tool: who ?? '', expiresInMs: Number(left) };
        return { kind: 'elsewhere', session: found };
      } catch (error) {
        // A slot that cannot be read must not stay locked, or an operator's reset would be refused for the lease's time.
        if (kind === 'granted') await store.release(key, Number(who));
        throw error;
      }
    },

    async renew(key, fence, leaseMs) {
      return (await run(RENEW, key, String(fence), String(Math.ceil(leaseMs)))) === 1;
    },

    async commit(key, fence, snapshot) {
      const version = Number(await run(COMMIT, key, String(fence), ...written(key, snapshot)));
      return version > 0 ? { kind: 'committed', version } : { kind: 'lost' };
    },

    async release(key, fence) {
      await run(RELEASE, key, String(fence));
    },

    async force(key, snapshot) {
      return { snapshot, version: Number(await run(FORCE, key, '', ...written(key, snapshot))) };
    },

    async delete(key) {
      await attempt(() => client.del(prefix + key));
    },
  };
  return subscriber ? { ...store, subscribe: (listener) => subscribe(subscriber, listener) } : store;

  function written(key: string, snapshot: FsmSnapshot): string[] {
    return [JSON.stringify(snapshot), snapshot.state, subscriber ? channel : '', origin, key];
  }

  async function run(script: string, key: string, ...args: string[]): Promise<unknown> {
    const all = [prefix + key, now ? String(now()) : '', ttlMs, ...args];
    const sha = await shaOf(script);
    return attempt(async () => {
      try {
        return await client.evalsha(sha, 1, ...all);
      } catch (error) {
        // A server that was restarted, or another one of the cluster, has not seen the script yet.
        if (!String(error).includes('NOSCRIPT')) throw error;
        return client.eval(script, 1, ...all);
      }
    });
  }

  function subscribe(connection: RedisSubscriber, listener: (change: StoreChange) => void): () => void {
    const onMessage = (from: string, message: string): void => {
      if (from !== channel) return;
      try {
        const change = readChange(message);
        if (change && change.origin !== origin) listener(change);
      } catch (error) {
        onError(error);
      }
    };
    connection.on('message', onMessage);
    connection.subscribe(channel).catch(onError);
    return () => {
      connection.off('message', onMessage);
      connection.unsubscribe(channel).catch(onError);
    };
  }
}

const shas = new Map<string, Promise<string>>();

function shaOf(script: string): Promise<string> {
  let sha = shas.get(script);
  if (!sha) {
    sha = crypto.subtle
      .digest('SHA-1', new TextEncoder().encode(script))
      .then((digest) => [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join(''));
    shas.set(script, sha);
  }
  return sha;
}

async function attempt<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new GateError('STORE_FAILED', `Redis did not carry out a step of a session: ${why}`, { cause });
  }
}

function session(snapshot: string, version: unknown): StoredSession {
  return { snapshot: parseSnapshot(snapshot), version: Number(version) };
}

function parseSnapshot(text: string): FsmSnapshot {
  try {
    // Its shape is checked by the gate's model, which knows its states.
    return JSON.parse(text) as FsmSnapshot;
  } catch (cause) {
    throw new GateError('SNAPSHOT_INVALID', 'What Redis holds of a session is no JSON; reset the session.', { cause });
  }
}

function readChange(message: string): (StoreChange & { origin: unknown }) | undefined {
  // Anyone with access to the server may publish; a message of another shape is not ours.
  const data = JSON.parse(message) as Record<string, unknown>;
  const { origin, key, previous, current, version } = data;
  if (typeof key !== 'string' || typeof current !== 'string' || typeof version !== 'number') return undefined;
  return {
    origin,
    key,
    previous: typeof previous === 'string' ? parseSnapshot(previous) : undefined,
    current: parseSnapshot(current),
    version,
  };
}

function strings(reply: unknown): (string | undefined)[] {
  return Array.isArray(reply) ? reply.map(String) : [];
}
