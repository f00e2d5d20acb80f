/** Every backend that runs in this process, on a clock that the test holds. */
import { PGlite } from '@electric-sql/pglite';
import { memoryRunBackend, type RunBackend } from '../../src/index.js';
import { postgresRunBackend } from '../../src/postgres.js';
import { openSqlite } from '../../src/sqlite.js';
import type { TestClock } from './runs.js';

export interface TestBackend {
  readonly backend: RunBackend;
  close(): Promise<void>;
}

export const backends: Record<string, (clock: TestClock) => Promise<TestBackend>> = {
  memory: async ({ now }) => ({ backend: memoryRunBackend({ now }), close: async () => {} }),
  sqlite: async ({ now }) => {
    const { backend, close } = await openSqlite({ path: ':memory:', now });
    return { backend, close: async () => close() };
  },
  postgres: async ({ now }) => {
    const client = await PGlite.create();
    return { backend: postgresRunBackend({ client, now }), close: () => client.close() };
  },
};
