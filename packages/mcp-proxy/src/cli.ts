/** The `mcp-proxy` command. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { writerTo } from './cli/io.js';
import { main } from './cli/main.js';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());

process.exitCode = await main(process.argv.slice(2), {
  out: writerTo(process.stdout),
  err: writerTo(process.stderr),
  stdin: () => text(process.stdin),
  env: process.env,
  cwd: process.cwd(),
  signal: stop.signal,
  openUrl: (url) => {
    // Where there is no browser to open, the address that was printed is enough.
    if (process.platform === 'win32') return;
    const command = process.platform === 'darwin' ? 'open' : 'xdg-open';
    spawn(command, [url.href], { stdio: 'ignore', detached: true })
      .on('error', () => undefined)
      .unref();
  },
});
