/** Where crash tests keep runs: somewhere that outlives the process that is killed. */
import { Redis } from 'ioredis';
import type { RunBackend } from '../../src/index.js';
import { redisRunBackend } from '../../src/redis.js';
import { openSqlite } from '../../src/sqlite.js';

export type Place =
  | { readonly kind: 'redis'; readonly url: string; readonly db: number }
  | { readonly kind: 'sqlite'; readonly path: string };

/** `skewMs`: by how much the opener's clock is ahead, where the driver has a clock of its own. */
export async function openBackend(place: Place, skewMs: () => number = () => 0): Promise<RunBackend> {
  const now = () => Date.now() + skewMs();
  switch (place.kind) {
    case 'redis':
      return redisRunBackend({ client: new Redis(place.url, { db: place.db }), now });
    case 'sqlite':
      return (await openSqlite({ path: place.path, now })).backend;
  }
}
