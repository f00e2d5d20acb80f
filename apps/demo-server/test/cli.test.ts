import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { connectAgent } from '../src/tour/agent.js';

const cli = join(import.meta.dirname, '../dist/cli.js');

describe('the tour', () => {
  it('plays to its end without a terminal and exits 0', async () => {
    const { code, stdout } = await run(['--tour']);
    expect(code).toBe(0);
    for (const chapter of [
      'The gate',
      'Cheap answers',
      'A payment that waits',
      'Resumed exactly once',
      'Many servers behind one tool',
    ]) {
      expect(stdout).toContain(chapter);
    }
    expect(stdout).toContain('409');
    expect(stdout).toMatch(/era: (legacy|modern)|legacy|modern/);
  });

  it.skipIf(!inject('redisUrl'))('plays the same with everything shared in Redis', async () => {
    const { code, stdout } = await run(['--tour'], { REDIS_URL: inject('redisUrl')! });
    expect(stdout).toContain('every answer above was checked');
    expect(code).toBe(0);
  });
});

describe('the command line', () => {
  it('serves stdio with the protocol and nothing else on stdout', async () => {
    const transport = new StdioClientTransport({ command: process.execPath, args: [cli, '--stdio'], stderr: 'ignore' });
    const client = new Client({ name: 'test', version: '0' });
    const strays: Error[] = [];
    client.onerror = (error) => strays.push(error);
    await client.connect(transport);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('cart_add_item');
    const status = await client.callTool({ name: 'mcp', arguments: {} });
    expect(JSON.stringify(status.content)).toContain('filesystem');
    await client.close();
    expect(strays).toEqual([]);
  });

  it('survives garbage on stdin, logs it as one plain line, and answers the request after it', async () => {
    const child = spawn(process.execPath, [cli, '--stdio'], { stdio: 'pipe' });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk) => {
        output[name] += chunk;
      });
    child.stdin.end('{\u001b[2J"\rforged line\n\u0000\n[]\n{"jsonrpc":"2.0","id":7,"method":"ping"}\n');
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(
      output.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([{ jsonrpc: '2.0', id: 7, result: {} }]);
    expect(output.stderr).toContain('JSON');
    expect(output.stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('says what is wrong with an option and how to use it, and exits 1', async () => {
    const { code, stdout, stderr } = await run(['--port', 'x']);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/--port must be a number.*Usage/s);
  });

  it('says that the port is taken instead of a stack, and leaves no temporary folder', async () => {
    const first = spawn(process.execPath, [cli, '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [chunk] = (await once(first.stdout, 'data')) as [Buffer];
    const port = /127\.0\.0\.1:(\d+)/.exec(chunk.toString())?.[1] ?? '';
    const temporary = await aTemporaryFolder();
    const { code, stderr } = await run(['--port', port], { TMPDIR: temporary });
    expect(await readdir(temporary)).toEqual([]);
    first.kill('SIGTERM');
    await once(first, 'exit');
    expect(code).toBe(1);
    expect(stderr).toMatch(/EADDRINUSE|in use/);
    expect(stderr).not.toContain('    at ');
  });

  it('says which data cannot be used, and why', async () => {
    const folder = await aTemporaryFolder();
    await writeFile(join(folder, 'runs.db'), 'surely no database'.repeat(500));
    const corrupt = await run(['--data', folder]);
    expect(corrupt).toMatchObject({ code: 1, stdout: '' });
    expect(corrupt.stderr).toContain(`The file ${join(folder, 'runs.db')} (in --data) cannot be opened`);
    const file = await run(['--data', join(folder, 'runs.db')]);
    expect(file.stderr).toContain('(from --data) cannot be made');
    for (const { stderr } of [corrupt, file]) expect(stderr).not.toContain('    at ');
  });

  it('goes on serving when nobody reads its log any more', async () => {
    const child = spawn(process.execPath, [cli, '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr.destroy();
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    const agent = await connectAgent(/http:\S+:\d+/.exec(chunk.toString())?.[0] ?? '');
    await agent.call('mcp', { connect: 'memory' }); // which is logged
    expect((await agent.call('mcp', { connect: 'filesystem' })).isError).toBe(false);
    await agent.close();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'ends a tour half way at %s without a word of failure',
    async (signal) => {
      const temporary = await aTemporaryFolder();
      const env = { ...process.env, REDIS_URL: '', TMPDIR: temporary };
      const child = spawn(process.execPath, [cli, '--tour'], { stdio: ['ignore', 'pipe', 'pipe'], env });
      let stderr = '';
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      let stdout = '';
      child.stdout.on('data', (chunk) => {
        stdout += chunk;
        if (stdout.includes('"search"')) child.kill(signal);
      });
      const [code] = await once(child, 'close');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(await readdir(temporary)).toEqual([]);
    },
  );

  it('leaves no upstream process behind when it is told to stop', async () => {
    const child = spawn(process.execPath, [cli, '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    const agent = await connectAgent(/http:\S+:\d+/.exec(chunk.toString())?.[0] ?? '');
    await agent.call('mcp', { connect: 'memory' });
    await agent.call('mcp', { connect: 'filesystem' });
    const upstreams = childrenOf(child.pid!);
    expect(upstreams).toHaveLength(2);

    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(upstreams.filter(isAlive)).toEqual([]);
  });
});

async function aTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'interlock-cli-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Process ids of the direct children. */
function childrenOf(pid: number): number[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = table
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/).map(Number));
  return rows.filter(([, parent]) => parent === pid).map(([child]) => child!);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // ESRCH: there is no such process.
  }
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [cli, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, REDIS_URL: '', ...env },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}
