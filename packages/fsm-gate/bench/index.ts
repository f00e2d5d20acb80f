/** All figures of this package, one table each. Ratios are of one run; the machine's speed cancels out. */
import { benchIdleSessions } from './idle-sessions.js';
import { benchMcp } from './mcp.js';
import { benchRedis } from './redis.js';
import { benchTransitions } from './transition.js';

await benchTransitions();
benchIdleSessions();
await benchRedis();
await benchMcp();
