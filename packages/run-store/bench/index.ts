/**
 * `tsx bench/index.ts [redis|sqlite|crash]… [--rounds=15] [--sizes="1 KB,10 KB"] [--operations=store,load,consume]
 * [--cases=all|driver] [--pipelining=off|auto]`: everything by default, on clients without autopipelining.
 */
import { benchRedis } from './redis.js';
import { benchRedisCrash } from './redis-crash.js';
import { benchSqlite } from './sqlite.js';

const args = process.argv.slice(2);
const parts = args.filter((arg) => !arg.startsWith('--'));
const option = (name: string) => args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1];
const rounds = Number(option('rounds') ?? 15);
const wants = (part: string) => parts.length === 0 || parts.includes(part);

if (wants('redis')) {
  await benchRedis({
    rounds,
    sizes: option('sizes')?.split(','),
    operations: option('operations')?.split(','),
    cases: option('cases') === 'driver' ? 'driver' : 'all',
    pipelining: option('pipelining') === 'auto' ? 'auto' : 'off',
  });
}
if (wants('sqlite')) await benchSqlite({ rounds });
if (wants('crash')) await benchRedisCrash();
