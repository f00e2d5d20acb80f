/**
 * `tsx bench/index.ts [redis|sqlite|crash]… [--rounds=15] [--sizes="1 KB,10 KB"]`: everything by default.
 */
import { benchRedis } from './redis.js';
import { benchRedisCrash } from './redis-crash.js';
import { benchSqlite } from './sqlite.js';

const args = process.argv.slice(2);
const parts = args.filter((arg) => !arg.startsWith('--'));
const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1];
const rounds = Number(option('rounds') ?? 15);
const wants = (part: string) => parts.length === 0 || parts.includes(part);

if (wants('redis')) await benchRedis({ rounds, sizes: option('sizes')?.split(',') });
if (wants('sqlite')) await benchSqlite({ rounds });
if (wants('crash')) await benchRedisCrash();
