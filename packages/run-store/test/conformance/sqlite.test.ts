import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { type AgentRunState, createRunStore } from '../../src/index.js';
import { nodeRuntime, openSqlite } from '../../src/sqlite.js';
import { describeRunBackend, describeRunStore, forkStore } from '../../src/testing/index.js';

const runner = { describe, it };
/** Fixed, so that a run of the suite says something of the code and nothing of the dice; any other holds as well. */
const SEED = 20_261_130;

describeRunBackend(
  {
    name: 'the SQLite driver on libsql',
    async open() {
      const place = aFile();
      return {
        backend: (await place.open()).backend,
        connect: async () => (await place.open()).backend,
        advance: place.advance,
        close: place.close,
      };
    },
  },
  { runner, model: { seed: SEED } },
);

describeRunStore(
  {
    name: 'a store on SQLite',
    capabilities: { atomicConsume: 'shared', ttl: true, retrySafe: false, payload: 'structured' },
    async open({ ttlSeconds }) {
      const place = aFile();
      const children: { kill(): Promise<void> }[] = [];
      const aStore = async () =>
        createRunStore<AgentRunState>({ backend: (await place.open()).backend, ttlSeconds, runtime: nodeRuntime });
      return {
        store: await aStore(),
        connect: aStore,
        async connectFromProcess() {
          const module = new URL('./sqlite-process.ts', import.meta.url);
          const child = await forkStore({ module, args: [place.path], execArgv: ['--import', 'tsx'] });
          children.push(child);
          return child;
        },
        advance: place.advance,
        async close() {
          await Promise.all(children.map((child) => child.kill()));
          await place.close();
        },
      };
    },
  },
  { runner },
);

/** A database file of its own; every connection sees the same injected time. */
function aFile() {
  const folder = mkdtempSync(join(tmpdir(), 'interlock-sqlite-'));
  const path = join(folder, 'runs.db');
  const closing: (() => void)[] = [];
  let skew = 0;
  return {
    path,
    async open() {
      const opened = await openSqlite({ path, now: () => Date.now() + skew });
      closing.push(() => opened.close());
      return opened;
    },
    async advance(ms: number) {
      skew += ms;
    },
    async close() {
      for (const close of closing) close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
