/** `node apps/demo-server/dist/cli.js`: reads the command line, then serves HTTP or stdio, or plays the tour. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { type Demo, openDemo } from './demo.js';
import { type RunningServer, startHttp } from './http.js';
import { logLine } from './log-line.js';
import { type DemoOptions, readOptions, USAGE, UsageError } from './options.js';
import { clientConfig } from './pages.js';
import { createTeardown } from './teardown.js';
import { playTour } from './tour/tour.js';

// stdout carries the protocol in stdio mode, and what a person asked to see in the others; everything else goes here.
const log = (line: string) => void process.stderr.write(`${logLine(line)}\n`);

// Whoever reads the transcript may stop reading (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
// When nobody reads the log any more there is nobody left to tell, and the server goes on.
process.stderr.on('error', () => {});

const teardown = createTeardown({ log });

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') return void process.stdout.write(`${USAGE}\n`);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  switch (options.mode) {
    case 'stdio':
      return serveStdio(options);
    case 'http':
      return serveHttp(options);
    case 'tour':
      return tour(options);
    default:
      return options.mode satisfies never;
  }
}

/** Ends the process, cleanly. */
function stop(): void {
  void teardown.run().then(() => process.exit());
}

async function serveStdio(options: DemoOptions): Promise<void> {
  // A desktop host ends a server by closing its stdin, or by a signal.
  process.stdin.once('end', stop).once('close', stop);
  const demo = await opened(options, log);
  const sessionKey = `stdio-${crypto.randomUUID()}`;
  const server = demo.createServer(sessionKey);
  teardown.add('The session', async () => {
    await server.close();
    await demo.endSession(sessionKey);
  });
  await server.connect(new StdioServerTransport());
}

async function serveHttp(options: DemoOptions): Promise<void> {
  const demo = await opened(options, log);
  announce(await listening(demo, options), demo.storageDescription);
}

async function tour(options: DemoOptions): Promise<void> {
  // Upstreams are chatty when they start; the transcript is for reading.
  const demo = await opened(options, () => {});
  const server = await listening(demo, options);
  await playTour(server, {
    approvalLimit: options.approvalLimit,
    print: (line) => process.stdout.write(`${line}\n`),
  });
  if (!process.stdout.isTTY) return stop();
  announce(server, demo.storageDescription);
}

async function opened(options: DemoOptions, logOfDemo: (line: string) => void): Promise<Demo> {
  const demo = await openDemo(options, logOfDemo);
  teardown.add('The demo (upstreams, storage)', () => demo.close());
  return demo;
}

async function listening(demo: Demo, options: DemoOptions): Promise<RunningServer> {
  const server = await startHttp(demo, options, log);
  teardown.add('The HTTP server', () => server.close());
  return server;
}

function announce(server: RunningServer, storage: string): void {
  process.stdout.write(
    `\nServing MCP at ${server.url}/mcp (state in ${storage}).\n` +
      `For a client's config file:\n\n${clientConfig(server.url)}\n\n` +
      `Payments that wait for you: ${server.url}/operator?token=${server.operatorToken}\nStop with Ctrl+C.\n`,
  );
}

main().catch(async (error: unknown) => {
  // Who stops a tour half way has broken it off; that is no failure to report.
  if (teardown.begun) return;
  process.exitCode = 1;
  if (error instanceof UsageError) process.stderr.write(`${logLine(error.message)}\n\n${USAGE}\n`);
  else log(`The demo server could not run: ${error instanceof Error ? error.message : String(error)}`);
  stop();
});
