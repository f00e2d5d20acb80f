/** Places on a real Redis for the kit: a database of its own, whose keys can be aged instead of waited for. */
import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';

export type Client = Redis5 | Redis6;

export const GENERATIONS: readonly (readonly [string, (url: string, db: number) => Client])[] = [
  ['ioredis 5', (url, db) => new Redis5(url, { db })],
  ['ioredis 6', (url, db) => new Redis6(url, { db })],
];

export interface RedisPlace {
  readonly client: Client;
  /** Another connection to the same database. */
  connect(): Client;
  /** Brings every key with a life `ms` milliseconds nearer to its end. */
  age(ms: number): Promise<void>;
  /** Empties the database and ends every connection. */
  close(): Promise<void>;
}

export function aRedisPlace(open: () => Client): RedisPlace {
  const connections: Client[] = [];
  const connect = () => {
    const client = open();
    connections.push(client);
    return client;
  };
  const client = connect();
  return {
    client,
    connect,
    async age(ms) {
      const keys = await client.keys('*');
      await Promise.all(
        keys.map(async (key) => {
          // PEXPIRETIME needs Redis 7; a key without a life answers -1.
          const end = Number(await client.call('PEXPIRETIME', key));
          if (end > 0) await client.pexpireat(key, end - ms);
        }),
      );
    },
    async close() {
      await client.flushdb();
      await Promise.all(connections.map((connection) => connection.quit()));
    },
  };
}
