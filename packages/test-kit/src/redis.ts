/**
 * A private, real redis-server for a test: on a free port, in a folder of its own, gone afterwards.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface StartRedisOptions {
  /** Further arguments of redis-server, for example `['--appendonly', 'yes']`. */
  readonly args?: readonly string[];
  /** Data folder to reuse, for tests that restart a killed server. Default: a temporary one, removed by `stop()`. */
  readonly dir?: string;
  /** Port to reuse. Default: a free one. */
  readonly port?: number;
}

export interface RedisServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  readonly dir: string;
  /** Ends the process at once, as a crash would, and resolves when it is gone; the data folder stays. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends the process and removes the data folder if this call made it. */
  stop(): Promise<void>;
}

/** How redis-server can be had on this machine. */
export type RedisAvailability =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'binary' }
  | { readonly kind: 'missing'; readonly reason: string };

export const HOW_TO_GET_REDIS: string =
  'set REDIS_URL, or install redis-server (Debian and Ubuntu: apt-get install redis-server; macOS: brew install redis)';

/** Looks for `REDIS_URL`, then for a binary, then installs Debian's package where that is allowed (root and apt). */
export function findRedis(env: NodeJS.ProcessEnv = process.env): RedisAvailability {
  if (env.REDIS_URL) return { kind: 'url', url: env.REDIS_URL };
  if (hasCommand('redis-server')) return { kind: 'binary' };
  if (process.getuid?.() !== 0) return { kind: 'missing', reason: 'no redis-server, and not root to install it' };
  if (!hasCommand('apt-get')) return { kind: 'missing', reason: 'no redis-server, and no apt-get to install it' };
  try {
    const quiet = { stdio: 'ignore', env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    execFileSync('apt-get', ['update'], quiet);
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], quiet);
  } catch (error) {
    return { kind: 'missing', reason: `apt-get could not install redis-server (${(error as Error).message})` };
  }
  return { kind: 'binary' };
}

/** Starts redis-server and resolves once it accepts connections. Rejects with its output when it does not start. */
export async function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  const host = '127.0.0.1';
  const port = options.port ?? (await freePort());
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'interlock-redis-')));
  const args = ['--port', `${port}`, '--bind', host, '--dir', dir, '--save', '', '--daemonize', 'no'];
  const child = spawn('redis-server', [...args, ...(options.args ?? [])], { stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = once(child, 'exit');
  // A test run that is killed must not leave a server behind.
  const killNow = () => child.kill('SIGKILL');
  process.once('exit', killNow);
  await ready(child, host, port);

  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    process.removeListener('exit', killNow);
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await gone;
  };
  return {
    url: `redis://${host}:${port}`,
    host,
    port,
    pid: child.pid!,
    dir,
    kill,
    async stop() {
      await kill('SIGTERM');
      if (!options.dir) await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A TCP port of the loopback interface that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

function hasCommand(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function ready(child: ChildProcess, host: string, port: number): Promise<void> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Ready to accept connections')) resolve();
    };
    child.stdout?.on('data', onData);
    child.stderr?.on('data', onData);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with code ${code}:\n${output}`)));
  });
  const socket = connect(port, host);
  await once(socket, 'connect');
  socket.destroy();
}
