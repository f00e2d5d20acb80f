/** ioredis as this package sees it, and the one way in which commands are sent and failures told apart. */
import { corrupt } from '../codec/decode.js';
import { OutcomeUnknownError, RunStoreError } from '../errors.js';
import type { RedisScript } from './scripts.js';
import { createWatchdog, type Watchdog, type WatchdogOptions } from './watchdog.js';

export type RedisArgument = string | number | Buffer;

export interface RedisPipeline {
  exec(): Promise<[error: Error | null, result: unknown][] | null>;
}

/** What is used of an ioredis client, 5 or 6, single server or Cluster. */
export interface RedisClient {
  getBuffer(key: string): Promise<Buffer | null>;
  mgetBuffer(...keys: string[]): Promise<(Buffer | null)[]>;
  set(key: string, value: Buffer): Promise<unknown>;
  set(key: string, value: Buffer, unit: 'PX', milliseconds: number): Promise<unknown>;
  renamenx(key: string, newKey: string): Promise<unknown>;
  getexBuffer(key: string, unit: 'PX', milliseconds: number): Promise<Buffer | null>;
  zadd(key: string, score: number, member: string): Promise<unknown>;
  pipeline(commands: unknown[][]): RedisPipeline;
  readonly isCluster?: boolean;
  /** The socket of a client of a single server. */
  readonly stream?: unknown;
}

export type RedisCommand =
  | { readonly kind: 'plain'; readonly name: string; readonly args: readonly RedisArgument[] }
  | {
      readonly kind: 'script';
      readonly script: RedisScript;
      readonly keys: readonly string[];
      readonly args: readonly RedisArgument[];
    };

export type RedisReply =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly error: Error };

export interface RedisSender {
  /** One round trip for all; they go to one slot and arrive in order, but others may come between them. */
  pipeline(commands: readonly RedisCommand[]): Promise<readonly RedisReply[]>;
  within: Watchdog['watch'];
  withinThen: Watchdog['watchThen'];
  isIdle: Watchdog['isIdle'];
  /**
   * Commands that were just sent, in this order, on one connection: one round trip as well, at two thirds of the cost of
   * ioredis' pipeline object.
   */
  together(answers: readonly Promise<unknown>[]): Promise<readonly RedisReply[]>;
}

export function plain(name: string, ...args: RedisArgument[]): RedisCommand {
  return { kind: 'plain', name, args };
}

export function scripted(script: RedisScript, keys: readonly string[], ...args: RedisArgument[]): RedisCommand {
  return { kind: 'script', script, keys, args };
}

export interface RedisSenderOptions extends WatchdogOptions {
  readonly client: RedisClient;
}

export function createSender({ client, ...watchdog }: RedisSenderOptions): RedisSender {
  const { watch: within, watchThen: withinThen, isIdle } = createWatchdog(watchdog);

  async function exec(commands: readonly RedisCommand[], form: 'evalsha' | 'eval'): Promise<RedisReply[]> {
    const pipeline = client.pipeline(commands.map((command) => wireForm(command, form)));
    const answers = (await within(pipeline.exec())) ?? [];
    return answers.map(([error, value]) =>
      error === null ? { kind: 'value', value } : { kind: 'error', error: withoutArguments(error) },
    );
  }

  return {
    within,
    withinThen,
    isIdle,
    together: (answers) => within(Promise.all(answers.map(settled))),
    async pipeline(commands) {
      const replies = await exec(commands, 'evalsha');
      const unknown = replies.findIndex(
        (reply) => reply.kind === 'error' && reply.error.message.startsWith('NOSCRIPT'),
      );
      if (unknown === -1) return replies;
      // The server has forgotten the script; from there on nothing has happened that could not happen again.
      return [...replies.slice(0, unknown), ...(await exec(commands.slice(unknown), 'eval'))];
    },
  };
}

function settled(answer: Promise<unknown>): Promise<RedisReply> {
  return answer.then(
    (value) => ({ kind: 'value', value }),
    (error: unknown) => ({ kind: 'error', error: withoutArguments(error) }),
  );
}

function wireForm(command: RedisCommand, form: 'evalsha' | 'eval'): unknown[] {
  switch (command.kind) {
    case 'plain':
      return [command.name, ...command.args];
    case 'script': {
      const { script, keys, args } = command;
      return [form, form === 'evalsha' ? script.sha1 : script.source, keys.length, ...keys, ...args];
    }
    default:
      return command satisfies never;
  }
}

/** The value, or the failure as the driver interface wants it: refused for certain, or of unknown outcome. */
export function valueIn(reply: RedisReply | undefined, operation: string): unknown {
  if (reply === undefined) throw new OutcomeUnknownError(operation);
  if (reply.kind === 'value') return reply.value;
  throw writeFailure(reply.error, operation);
}

export function writeFailure(error: unknown, operation: string): RunStoreError {
  if (error instanceof RunStoreError) return error;
  const clean = withoutArguments(error);
  if (isForeignValue(clean)) return foreignValue();
  // An error that Redis itself has answered: the command was not carried out.
  if (clean.name === 'ReplyError') {
    return new RunStoreError('BACKEND_REFUSED', `Redis refused ${operation}: ${clean.message}. Nothing was changed.`, {
      cause: clean,
    });
  }
  return new OutcomeUnknownError(operation, { cause: clean });
}

/** Under the key lies a list, a set or the like: nothing of ours. */
export function isForeignValue(error: Error): boolean {
  return error.name === 'ReplyError' && error.message.startsWith('WRONGTYPE');
}

export function foreignValue(): RunStoreError {
  return corrupt('Redis holds something else than a string under its key');
}

/** ioredis hangs the command with its arguments, payload included, on its errors; those must not reach a log. */
export function withoutArguments(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('Redis failed without an error');
  if (!('command' in error) && !('previousErrors' in error)) return error;
  const clean = new Error(error.message);
  clean.name = error.name;
  return clean;
}

export function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
