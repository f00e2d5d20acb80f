/** The cart of each session, behind the few methods that the tools need. */
import type { Redis } from 'ioredis';

/** Pieces by SKU. */
export type Cart = Readonly<Record<string, number>>;

export interface CartStore {
  read(sessionKey: string): Promise<Cart>;
  /** Adds pieces atomically and returns the cart as it is then. */
  add(sessionKey: string, sku: string, pieces: number): Promise<Cart>;
  clear(sessionKey: string): Promise<void>;
}

const CART_TTL_SECONDS = 24 * 3600;
const MAX_CARTS = 10_000;

/** Carts of one process. The oldest cart makes room, so that clients which never say goodbye cannot fill the memory. */
export function memoryCarts(): CartStore {
  const carts = new Map<string, Map<string, number>>();
  const cartOf = (key: string) => Object.fromEntries(carts.get(key) ?? []);
  return {
    read: async (key) => cartOf(key),
    async add(key, sku, pieces) {
      const cart = carts.get(key) ?? new Map<string, number>();
      cart.set(sku, (cart.get(sku) ?? 0) + pieces);
      carts.delete(key);
      carts.set(key, cart);
      const oldest = carts.keys().next().value;
      if (carts.size > MAX_CARTS && oldest !== undefined) carts.delete(oldest);
      return cartOf(key);
    },
    clear: async (key) => void carts.delete(key),
  };
}

/** Carts that every process behind one Redis sees: a hash a cart. */
export function redisCarts(redis: Redis): CartStore {
  const redisKey = (key: string) => `interlock:demo:cart:{${key}}`;
  const read = async (key: string): Promise<Cart> =>
    Object.fromEntries(
      Object.entries(await redis.hgetall(redisKey(key))).map(([sku, pieces]) => [sku, Number(pieces)]),
    );
  return {
    read,
    async add(key, sku, pieces) {
      const steps = await redis
        .multi()
        .hincrby(redisKey(key), sku, pieces)
        .expire(redisKey(key), CART_TTL_SECONDS)
        .exec();
      // A step that failed inside a transaction does not reject it.
      for (const [error] of steps ?? []) if (error) throw error;
      return read(key);
    },
    clear: async (key) => void (await redis.del(redisKey(key))),
  };
}
