/** A process of its own with a store on a SQLite file; started by the tests with the path. */
import { type AgentRunState, createRunStore } from '../../src/index.js';
import { nodeRuntime, openSqlite } from '../../src/sqlite.js';
import { answerParent } from '../../src/testing/index.js';

const { backend } = await openSqlite({ path: String(process.argv[2]) });
answerParent(createRunStore<AgentRunState>({ backend, ttlSeconds: 600, runtime: nodeRuntime }));
