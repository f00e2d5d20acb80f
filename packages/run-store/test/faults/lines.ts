/** Lines to Redis that break on command, and the ioredis clients and options that react to it in different ways. */
import { startTcpProxy, type TcpProxy } from '@mcp-interlock/test-kit/tcp-proxy';
import { Redis as Redis6, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';

export type Client = Redis5 | Redis6;

export interface ClientKind {
  readonly name: string;
  connect(port: number, options: ClientOptions): Client;
}

/** Options that both generations know. */
export type ClientOptions = Pick<
  RedisOptions,
  | 'autoResendUnfulfilledCommands'
  | 'commandTimeout'
  | 'db'
  | 'enableAutoPipelining'
  | 'enableOfflineQueue'
  | 'maxRetriesPerRequest'
  | 'protocol'
  | 'retryStrategy'
  | 'socketTimeout'
>;

export const CLIENTS: readonly ClientKind[] = [
  { name: 'ioredis 5', connect: (port, options) => quiet(new Redis5(port, '127.0.0.1', withoutProtocol(options))) },
  { name: 'ioredis 6', connect: (port, options) => quiet(new Redis6(port, '127.0.0.1', options)) },
];

/** Every option that changes whether and when a command is sent again. */
export const RESENDING: readonly (readonly [string, ClientOptions])[] = [
  ['its defaults', {}],
  ['autoResendUnfulfilledCommands: false', { autoResendUnfulfilledCommands: false }],
  ['maxRetriesPerRequest: 0', { maxRetriesPerRequest: 0 }],
  ['maxRetriesPerRequest: 1', { maxRetriesPerRequest: 1 }],
  ['maxRetriesPerRequest: null', { maxRetriesPerRequest: null }],
  ['a retryStrategy that gives up', { retryStrategy: () => null }],
  ['a retryStrategy that comes back at once', { retryStrategy: () => 1 }],
  ['enableOfflineQueue: false', { enableOfflineQueue: false }],
  ['enableAutoPipelining: true', { enableAutoPipelining: true }],
  ['commandTimeout', { commandTimeout: 300 }],
  ['socketTimeout', { socketTimeout: 300 }],
  ['protocol: 2', { protocol: 2 }],
];

/** What happens to the bytes of the next command, and what the test does next. */
export interface LineFault {
  readonly name: string;
  strike(proxy: TcpProxy): Promise<void>;
  /** The client hears nothing ever again: only a timeout of the store ends the wait. */
  readonly silent?: true;
}

export const FAULTS: readonly LineFault[] = [
  { name: 'the request is lost', strike: (proxy) => proxy.arm({ at: 'request', effect: 'cut' }) },
  { name: 'the reply is lost', strike: (proxy) => proxy.arm({ at: 'reply', effect: 'cut' }) },
  { name: 'the reply is lost twice', strike: (proxy) => proxy.arm({ at: 'reply', effect: 'cut' }, { times: 2 }) },
  {
    name: 'the reply is torn after 3 bytes',
    strike: (proxy) => proxy.arm({ at: 'reply', effect: 'cut', afterReplyBytes: 3 }),
  },
  {
    name: 'the reply is torn after 40 bytes',
    strike: (proxy) => proxy.arm({ at: 'reply', effect: 'cut', afterReplyBytes: 40 }),
  },
  {
    name: 'the request is delayed',
    strike: (proxy) => proxy.arm({ at: 'request', effect: 'hold' }).then(() => proxy.release()),
  },
  {
    name: 'the reply is delayed',
    strike: (proxy) => proxy.arm({ at: 'reply', effect: 'hold' }).then(() => proxy.release()),
  },
  {
    name: 'the reply is delayed, then the line is cut',
    strike: (proxy) => proxy.arm({ at: 'reply', effect: 'hold' }).then(() => proxy.cutAll()),
  },
  {
    name: 'the line goes silent before the request',
    strike: (proxy) => proxy.arm({ at: 'request', effect: 'silence' }),
    silent: true,
  },
  {
    name: 'the line goes silent before the reply',
    strike: (proxy) => proxy.arm({ at: 'reply', effect: 'silence' }),
    silent: true,
  },
];

export function proxyTo(url: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  return startTcpProxy({ target: { host: hostname, port: Number(port || 6379) } });
}

/** Connection errors are what these tests ask for; without a listener ioredis prints them. */
function quiet<T extends Client>(client: T): T {
  client.on('error', () => {});
  return client;
}

function withoutProtocol({ protocol: _, ...options }: ClientOptions): Omit<ClientOptions, 'protocol'> {
  return options;
}
