/**
 * The backend on Redis 6.2 or newer.
 *
 * Storing is one SET, loading one GET, taking one pipeline: RENAMENX of the value to a key named by the caller's token,
 * then GETEX of that key. A command that a client sends again after a lost reply finds the caller's own copy, and every
 * other token finds nothing.
 */
import {
  type ClaimReply,
  type PutOptions,
  type RunBackend,
  type RunBackendCapabilities,
  type RunCells,
  type RunClaims,
  type RunIndex,
  type RunKey,
  STAMP_BYTES,
  type TakeOptions,
} from '../backend.js';
import { OutcomeUnknownError, RunStoreError } from '../errors.js';
import {
  asBuffer,
  createSender,
  foreignValue,
  isForeignValue,
  plain,
  type RedisClient,
  type RedisReply,
  scripted,
  valueIn,
  withoutArguments,
  writeFailure,
} from './client.js';
import { allKeys, cellOf, claimed, claimOf, copyOf, lease, outcomeOf, waiting } from './keys.js';
import { createRedisIndex } from './run-index.js';
import * as scripts from './scripts.js';
import { createSharedWrite } from './shared-write.js';
import { NoAnswerError } from './watchdog.js';

export interface RedisRunBackendOptions {
  /** An ioredis client (5.4 or newer, or 6), single server or Cluster. The caller closes it. */
  readonly client: RedisClient;
  /**
   * How long to wait for an answer, in milliseconds; then a read fails and a write has an unknown outcome. Without it a
   * half-open connection can hold a caller for ever. Default 10,000; `Infinity` waits as long as the client does.
   */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds since the epoch; orders and trims the index only. Expiry is Redis'. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** For tests. Default `setTimeout`. */
  readonly setTimer?: ((run: () => void, ms: number) => unknown) | undefined;
}

const capabilities: RunBackendCapabilities = {
  atomicTake: 'store',
  retrySafeTake: true,
  expiry: true,
  // As durable as Redis is configured to be: without AOF, a crash of the server loses what RDB has not saved yet.
  durability: 'process-exit',
  shared: true,
};

/**
 * @example
 * const runs = createRunStore({ backend: redisRunBackend({ client: new Redis(url) }), runtime: nodeRuntime });
 */
export function redisRunBackend(
  options: RedisRunBackendOptions,
): RunBackend & { readonly cells: RunCells; readonly claims: RunClaims; readonly index: RunIndex } {
  const { client, now = Date.now, timeoutMs = 10_000 } = options;
  if (typeof client?.pipeline !== 'function' || typeof client.getBuffer !== 'function') {
    throw new RunStoreError(
      'INVALID_OPTION',
      'The option `client` must be an ioredis client. Install ioredis and pass `new Redis(url)` or `new Cluster(nodes)`.',
    );
  }
  const sender = createSender({
    client,
    timeoutMs,
    setTimer: options.setTimer ?? ((run, ms) => setTimeout(run, ms)),
  });
  const index = createRedisIndex({ client, sender, now });
  const shareWrite = createSharedWrite({ client, isIdle: sender.isIdle });

  async function scriptOnce(operation: string, ...command: Parameters<typeof scripted>): Promise<unknown> {
    const [reply] = await sender.pipeline([scripted(...command)]).catch((error) => {
      throw writeFailure(error, operation);
    });
    return valueIn(reply, operation);
  }

  /** Of a script that answers with a number, which ioredis gives as text where the client asks for `stringNumbers`. */
  async function countOf(...script: Parameters<typeof scriptOnce>): Promise<number> {
    return Number(await scriptOnce(...script));
  }

  function put(key: RunKey, bytes: Uint8Array, put: PutOptions): Promise<'stored' | 'exists'> {
    const { ttlMs, existing, index: entry } = put;
    const value = asBuffer(bytes);
    shareWrite(entry === undefined ? 'one' : 'pair');
    const sent =
      entry === undefined ? undefined : index.send({ key, stamp: bytes.subarray(0, STAMP_BYTES), ttlMs, entry });
    sent?.catch(ignored); // Looked at after the run's own answer.
    const written =
      existing === 'keep'
        ? setIfAbsent(key, value, ttlMs)
        : ttlMs === undefined
          ? client.set(waiting(key), value)
          : client.set(waiting(key), value, 'PX', ttlMs);
    const reply = sent === undefined ? replyOf : (answer: unknown) => sent.then(() => replyOf(answer), entryFailed);
    return sender.withinThen(written, reply, storeFailed);
  }

  async function setIfAbsent(key: RunKey, value: Buffer, ttlMs: number | undefined): Promise<unknown> {
    const keys = [waiting(key), claimed(key)];
    const [reply] = await sender.pipeline([scripted(scripts.PUT_IF_ABSENT, keys, value, STAMP_BYTES, ttlMs ?? '')]);
    return valueIn(reply, 'store');
  }

  function get(key: RunKey): Promise<Uint8Array | null> {
    shareWrite('one');
    return sender.withinThen<Buffer | null, Uint8Array | null>(
      client.getBuffer(waiting(key)),
      (bytes) => bytes ?? getClaimed(key),
      failed,
    );
  }

  /** Both at once, since it may be given back between two looks. */
  async function getClaimed(key: RunKey): Promise<Uint8Array | null> {
    const [given, held] = await sender.within(client.mgetBuffer(waiting(key), claimed(key)));
    return given ?? held ?? null;
  }

  function take(key: RunKey, options: TakeOptions): Promise<Uint8Array | null> {
    // A line may tear between the two commands below. The copy then lives as long as the run would have; where that is
    // for ever, one script does both.
    const isEndless = options.ttlMs === undefined;
    if (isEndless || options.ifStamp !== undefined || options.ifCell !== undefined) return takeIf(key, options);
    const copy = copyOf(key, options.token);
    // Both are sent before either is answered, in this order, on one connection: one round trip.
    shareWrite('pair');
    const moved = client.renamenx(waiting(key), copy);
    moved.catch(ignored); // Looked at by `judge`, where it matters.
    const read = client.getexBuffer(copy, 'PX', options.retainMs);
    const judge = async (): Promise<Uint8Array | null> => {
      const replies = await sender.together([moved, read]).catch((error) => {
        throw writeFailure(error, 'consume');
      });
      await putForeignBack(key, options.token, replies);
      return copyRead(replies) ?? takeIf(key, options);
    };
    return sender.withinThen<Buffer | null, Uint8Array | null>(
      read,
      (bytes) => bytes ?? judge(),
      (error) => {
        if (error instanceof NoAnswerError) throw writeFailure(error, 'consume');
        return judge();
      },
    );
  }

  async function takeIf(key: RunKey, { token, retainMs, ifStamp, ifCell }: TakeOptions): Promise<Uint8Array | null> {
    const copy = copyOf(key, token);
    // The run may lie under a lease that has passed, or is wanted on a condition; or the two commands above were
    // redirected and changed places, and the copy is there.
    const cell = ifCell === undefined ? 'any' : ifCell === null ? 'empty' : 'is';
    const replies = await sender
      .pipeline([
        scripted(
          scripts.TAKE,
          [waiting(key), claimed(key), lease(key), claimOf(key), cellOf(key), copy],
          stampOf(ifStamp),
          cell,
          asBuffer(ifCell ?? new Uint8Array()),
          retainMs,
        ),
        plain('getexBuffer', copy, 'PX', retainMs),
      ])
      .catch((error) => {
        throw writeFailure(error, 'consume');
      });
    await putForeignBack(key, token, replies);
    return copyRead(replies);
  }

  /** RENAMENX moves whatever lies under the key; what is none of ours goes back as it was. */
  async function putForeignBack(key: RunKey, token: string, [, read]: readonly RedisReply[]): Promise<void> {
    if (read?.kind !== 'error' || !isForeignValue(read.error)) return;
    await scriptOnce('consume', scripts.PUT_BACK, [copyOf(key, token), waiting(key)], 'keep');
    throw foreignValue();
  }

  async function claim(key: RunKey, request: Parameters<RunClaims['claim']>[1]): Promise<ClaimReply> {
    const { token, leaseMs, ifStamp } = request;
    const keys = [waiting(key), claimed(key), lease(key), claimOf(key)];
    const replies = await sender
      .pipeline([
        scripted(scripts.CLAIM, keys, token, leaseMs, stampOf(ifStamp)),
        plain('getBuffer', claimed(key)),
        plain('getBuffer', outcomeOf(key)),
      ])
      .catch((error) => {
        throw writeFailure(error, 'claim');
      });
    return claimReply(replies);
  }

  const claims: RunClaims = {
    claim,
    extend: async (key, { token, leaseMs }) =>
      okOrStale(await scriptOnce('extend', scripts.EXTEND, [claimed(key), lease(key), claimOf(key)], token, leaseMs)),
    release: async (key, { token }) =>
      okOrStale(
        await scriptOnce('release', scripts.RELEASE, [waiting(key), claimed(key), lease(key), claimOf(key)], token),
      ),
    outcome: async (key) => outcomeBytes(await sender.within(client.getBuffer(outcomeOf(key)))),
    settle: async (key, { token, outcome, outcomeTtlMs }) => {
      const value = outcome === undefined ? token : Buffer.concat([Buffer.from(`${token}:`), outcome]);
      const keys = [claimed(key), lease(key), claimOf(key), cellOf(key), outcomeOf(key), waiting(key)];
      return okOrStale(await scriptOnce('ack', scripts.SETTLE, keys, token, value, outcomeTtlMs));
    },
  };

  const cells: RunCells = {
    read: (key) => sender.within(client.getBuffer(cellOf(key))),
    swap: async (key, { expected, next, ifStamp }) => {
      const held = [expected === null ? 'empty' : 'is', asBuffer(expected ?? new Uint8Array())] as const;
      const keys = [waiting(key), cellOf(key)];
      return (await countOf('swap', scripts.SWAP, keys, asBuffer(ifStamp), ...held, asBuffer(next))) > 0;
    },
  };

  return {
    name: 'redis',
    capabilities,
    put,
    get,
    take,
    putBack: async (key, { token, ttlMs }) =>
      (await countOf('putBack', scripts.PUT_BACK, [copyOf(key, token), waiting(key)], putBackLife(ttlMs))) > 0,
    touch: async (key, { ttlMs, index: entry, ifStamp }) => {
      const keys = [waiting(key), claimed(key), lease(key), claimOf(key), cellOf(key)];
      if ((await countOf('touch', scripts.TOUCH, keys, ttlMs, stampOf(ifStamp))) === 0) return false;
      if (entry !== undefined) await index.prolong({ key, ttlMs, entry, stamp: ifStamp });
      return true;
    },
    remove: async (key, { ifStamp } = {}) =>
      (await countOf('cancel', scripts.REMOVE, allKeys(key), stampOf(ifStamp))) > 0,
    cells,
    claims,
    index,
  };
}

/** Scripts take the empty one for any. */
function stampOf(stamp: Uint8Array | undefined): Buffer {
  return asBuffer(stamp ?? new Uint8Array());
}

/** What the run had left went when it was taken. A run that nobody could read must not end the sooner for it. */
const PUT_BACK_MS = 7 * 86_400_000;

function putBackLife(ttlMs: number | undefined): number | '' {
  return ttlMs === undefined ? '' : Math.max(ttlMs, PUT_BACK_MS);
}

function replyOf(answer: unknown): 'stored' | 'exists' {
  return answer === 0 || answer === '0' ? 'exists' : 'stored';
}

/** The run was stored and its entry was not, whatever the entry's error says. Storing it again mends that. */
function entryFailed(error: unknown): never {
  throw new OutcomeUnknownError('store', { cause: withoutArguments(error) });
}

function storeFailed(error: unknown): never {
  throw writeFailure(error, 'store');
}

function failed(error: unknown): never {
  const clean = withoutArguments(error);
  throw isForeignValue(clean) ? foreignValue() : clean;
}

function ignored(): void {}

/** The copy, or why there is none: the move failed for a reason other than that there was nothing to move. */
function copyRead([moved, read]: readonly RedisReply[]): Uint8Array | null {
  if (moved === undefined || read === undefined) throw new OutcomeUnknownError('consume');
  if (read.kind === 'value' && Buffer.isBuffer(read.value)) return read.value;
  if (moved.kind === 'error' && !isNoSuchKey(moved.error)) throw writeFailure(moved.error, 'consume');
  // The run may have been moved and could not be read: its copy waits for the token.
  if (read.kind === 'error') throw new OutcomeUnknownError('consume', { cause: read.error });
  return null;
}

function isNoSuchKey(error: Error): boolean {
  return error.name === 'ReplyError' && error.message.includes('no such key');
}

function claimReply([script, run, outcome]: readonly RedisReply[]): ClaimReply {
  const verdict = valueIn(script, 'claim');
  const [kind, detail]: unknown[] = Array.isArray(verdict) ? verdict : [];
  if (kind === 'held') return { kind: 'held', retryInMs: Math.max(1, Number(detail)) };
  if (kind === 'claimed') {
    const bytes = valueIn(run, 'claim');
    if (Buffer.isBuffer(bytes)) return { kind: 'claimed', bytes, fence: Number(detail) };
  }
  const kept = outcomeBytes(outcome?.kind === 'value' ? outcome.value : null);
  return kept === null ? { kind: 'missing' } : { kind: 'settled', outcome: kept };
}

/** After the token that settled; nothing when it settled without an outcome. */
function outcomeBytes(value: unknown): Uint8Array | null {
  const colon = Buffer.isBuffer(value) ? value.indexOf(':') : -1;
  return Buffer.isBuffer(value) && colon !== -1 ? value.subarray(colon + 1) : null;
}

function okOrStale(reply: unknown): 'ok' | 'stale' {
  return reply === 'ok' ? 'ok' : 'stale';
}
