/** A process of its own with a store on Redis; started by the tests with the server's URL and a database. */
import { Redis } from 'ioredis';
import { RedisAgentRunStore } from '../../src/redis.js';
import { answerParent } from '../../src/testing/index.js';

const [url, db] = process.argv.slice(2);
const client = new Redis(String(url), { db: Number(db) });
answerParent(new RedisAgentRunStore({ client, ttlSeconds: 600 }));
