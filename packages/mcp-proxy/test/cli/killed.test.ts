import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { listeningOn } from '../fixtures/listening.js';
import { aFolder, aRecord, isRunning, scripted, textOf } from '../fixtures/scripted.js';

const bin = fileURLToPath(new URL('../../bin/mcp-proxy.js', import.meta.url));
const script = fileURLToPath(new URL('../fixtures/scripted-upstream.mjs', import.meta.url));
const closers: (() => Promise<unknown> | undefined | boolean)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/**
 * A gateway as a host starts it, with three servers: a plain one with a grandchild that ignores SIGTERM, one behind a wrapper that
 * passes no signal on, and one that ignores the end of its input and SIGTERM.
 */
async function aGateway(transport: 'stdio' | 'http') {
  const record = aRecord();
  const env = { RECORD: record.path };
  const folder = await aFolder();
  const config = join(folder, 'mcp.json');
  const wrapped = { command: '/bin/sh', args: ['-c', `"${process.execPath}" "${script}" good; true`], env };
  const mcpServers = { plain: scripted('good', { env }), wrapped, stubborn: scripted('stubborn', { env }) };
  await writeFile(config, JSON.stringify({ mcpServers }));
  const args = [bin, '--config', config, '--state', join(folder, 'state')];
  const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  let pid: number;
  let ended: Promise<unknown>;
  if (transport === 'stdio') {
    const connection = new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' });
    await client.connect(connection);
    pid = connection.pid ?? 0;
    ended = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
  } else {
    const child: ChildProcess = spawn(process.execPath, [...args, '--http', '0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    ended = once(child, 'exit');
    closers.push(() => child.kill('SIGKILL'));
    await client.connect(new StreamableHTTPClientTransport(new URL(await listeningOn(child))));
    pid = child.pid ?? 0;
  }
  closers.push(() => client.close().catch(() => undefined));
  const call = (server: string, tool: string): Promise<string> =>
    client.callTool({ name: 'mcp', arguments: { tool, server, args: {} } }).then(textOf);
  const grandchild = Number(await call('plain', 'spawn'));
  for (const server of ['wrapped', 'stubborn']) await call(server, 'pid');
  const started = (await record.lines()).filter((line) => line.startsWith('start'));
  const pids = [grandchild, ...started.map((line) => Number(line.split(' ')[1]))];
  expect(await Promise.all(pids.map(isRunning))).toEqual([true, true, true, true]);
  closers.push(() => {
    for (const each of pids) {
      try {
        process.kill(each, 'SIGKILL');
      } catch {
        // Gone, as it should be.
      }
    }
    return undefined;
  });
  return { pid, pids, record, ended };
}

describe.skipIf(process.platform === 'win32').each(['stdio', 'http'] as const)('a gateway over %s', (transport) => {
  it('that is killed with SIGKILL has let every server see the end of its input', async () => {
    const { pid, pids, record, ended } = await aGateway(transport);
    process.kill(pid, 'SIGKILL');
    await ended;
    await vi.waitFor(async () => expect((await record.lines()).filter((line) => line === 'eof')).toHaveLength(3), {
      timeout: 30_000,
    });
    // Those who heed it are gone; what ignores it (the grandchild and the stubborn one) nobody is left to end.
    const stubborn = pids[3] ?? 0;
    await vi.waitFor(
      async () =>
        expect(
          await Promise.all(
            pids
              .filter((each) => each !== stubborn)
              .slice(1)
              .map(isRunning),
          ),
        ).toEqual([false, false]),
      { timeout: 30_000 },
    );
  });

  it('that is ended by SIGTERM leaves nothing, stubborn or not', async () => {
    const { pid, pids, ended } = await aGateway(transport);
    process.kill(pid, 'SIGTERM');
    await ended;
    await vi.waitFor(async () => expect(await Promise.all(pids.map(isRunning))).toEqual([false, false, false, false]), {
      timeout: 30_000,
    });
  });
});
