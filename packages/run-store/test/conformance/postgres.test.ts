import { PGlite } from '@electric-sql/pglite';
import { describe, it } from 'vitest';
import { type AgentRunState, createRunStore } from '../../src/index.js';
import { postgresRunBackend } from '../../src/postgres.js';
import { describeRunBackend, describeRunStore } from '../../src/testing/index.js';

const runner = { describe, it };
/** Fixed, so that a run of the suite says something of the code and nothing of the dice; any other holds as well. */
const SEED = 20_261_130;
/** One database for all places, each with tables of its own: PGlite takes a second to start. */
const database = new PGlite();
let places = 0;

describeRunBackend(
  {
    name: 'the Postgres driver on PGlite',
    async open() {
      const place = aPlace();
      return { backend: place.open(), connect: async () => place.open(), advance: place.advance, close: place.close };
    },
  },
  { runner, model: { seed: SEED, numRuns: 20 } },
);

describeRunStore(
  {
    name: 'a store on Postgres',
    // PGlite is one connection in one process; several are what the Redis and SQLite suites have.
    capabilities: { atomicConsume: 'process', ttl: true, retrySafe: false, payload: 'structured' },
    async open({ ttlSeconds }) {
      const place = aPlace();
      const aStore = () => createRunStore<AgentRunState>({ backend: place.open(), ttlSeconds });
      return { store: aStore(), connect: async () => aStore(), advance: place.advance, close: place.close };
    },
  },
  { runner, model: { numRuns: 15 } },
);

function aPlace() {
  places += 1;
  const tablePrefix = `place_${places}_`;
  let skew = 0;
  return {
    open: () => postgresRunBackend({ client: database, tablePrefix, now: () => Date.now() + skew }),
    async advance(ms: number) {
      skew += ms;
    },
    close: async () => {},
  };
}
