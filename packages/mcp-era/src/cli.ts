/** What `npx @mcp-interlock/mcp-era` runs. */
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { main } from './cli/main.js';

const leaving = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Who asks twice will not wait for a server's end: leaving kills it.
    if (leaving.signal.aborted) process.exit(1);
    leaving.abort(new Error(`stopped by ${signal}`));
  });
}

process.exitCode = await main(process.argv.slice(2), {
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY === true,
  readInput: () => text(process.stdin),
  version: (createRequire(import.meta.url)('../package.json') as { version: string }).version,
  now: () => performance.now() + performance.timeOrigin,
  signal: leaving.signal,
});
