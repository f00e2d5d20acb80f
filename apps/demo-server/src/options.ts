/** What the command line and the environment say, checked before anything starts. */
import { parseArgs } from 'node:util';
import { z } from 'zod';

export interface DemoOptions {
  /** `http` keeps serving; `stdio` serves one desktop host; `tour` plays an agent against the HTTP server. */
  readonly mode: 'http' | 'stdio' | 'tour';
  /** Interface to listen on. Default 127.0.0.1: the demo has no sign-in of its own. */
  readonly host: string;
  /** TCP port; 0 takes a free one. */
  readonly port: number;
  /** Everything shared lives here when given; else it is embedded. */
  readonly redisUrl: string | undefined;
  /** Folder of the SQLite file that lets a paused payment survive a restart; `undefined` keeps it in memory. */
  readonly dataFolder: string | undefined;
  /** Payments above this wait for an operator, in whole euros. */
  readonly approvalLimit: number;
  /** A session that was silent for this long ends, in milliseconds. */
  readonly sessionIdleMs: number;
}

export const USAGE: string = `Usage: node apps/demo-server/dist/cli.js [options]

  (no mode)             serve MCP over Streamable HTTP until stopped
  --stdio               serve MCP over stdio for a desktop host; stdout carries the protocol only
  --tour                start the server, play an agent against it, print what happens

  --port <n>            port of the HTTP server (default 4747; a tour takes a free one)
  --host <address>      interface to listen on (default 127.0.0.1)
  --data <folder>       keep paused payments in a SQLite file there, so that they survive a restart
  --approval-limit <n>  payments above this wait for an operator, in euros (default 500)
  --help                this text

Environment: REDIS_URL keeps everything shared in that Redis instead.`;

/** The command line cannot be served; the message says why and how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

// `Number('')` is 0, and an empty host would be every interface: nothing empty is taken for a value.
const given = z.string().regex(/\S/);
const number = z
  .string()
  .regex(/^\d+(\.\d+)?$/)
  .transform(Number);
const port = number.pipe(z.int().max(65_535));
const limit = number.pipe(z.number().max(1_000_000));
/** The tour pays 98 euros at once, and at most 99 standing desks with an approval. */
const tourLimit = limit.pipe(z.number().min(98).max(69_000));
const redisUrl = z.url({ protocol: /^rediss?$/ });

/** Reads the options. Throws `UsageError`, which names the option at fault. */
export function readOptions(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): DemoOptions | 'help' {
  const { values } = parse(argv);
  if (values.help) return 'help';
  if (values.stdio && values.tour) throw new UsageError('--stdio and --tour exclude each other.');
  const mode = values.stdio ? 'stdio' : values.tour ? 'tour' : 'http';
  if (values.data !== undefined && env.REDIS_URL) {
    throw new UsageError('--data and REDIS_URL exclude each other: with REDIS_URL, paused payments are kept in Redis.');
  }
  return {
    mode,
    host: checked(given, values.host ?? '127.0.0.1', '--host must be an address or a name'),
    port: checked(port, values.port ?? (mode === 'tour' ? '0' : '4747'), '--port must be a number from 0 to 65535'),
    redisUrl: env.REDIS_URL
      ? checked(redisUrl, env.REDIS_URL, 'REDIS_URL must look like redis://host:port or rediss://host:port')
      : undefined,
    dataFolder: values.data === undefined ? undefined : checked(given, values.data, '--data must be a folder'),
    approvalLimit: checked(
      mode === 'tour' ? tourLimit : limit,
      values['approval-limit'] ?? '500',
      `--approval-limit must be an amount in euros, ${mode === 'tour' ? 'for a tour from 98 to 69000' : 'up to 1000000'}`,
    ),
    sessionIdleMs: 30 * 60_000,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        stdio: { type: 'boolean' },
        tour: { type: 'boolean' },
        host: { type: 'string' },
        port: { type: 'string' },
        data: { type: 'string' },
        'approval-limit': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function checked<T>(schema: z.ZodType<T, string>, value: string, complaint: string): T {
  const result = schema.safeParse(value);
  // The value is not repeated: a Redis URL holds a password.
  if (!result.success) throw new UsageError(`${complaint}.`);
  return result.data;
}
