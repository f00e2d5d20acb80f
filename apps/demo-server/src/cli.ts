/** `node apps/demo-server/dist/cli.js`: reads the command line, then serves HTTP or stdio, or plays the tour. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { openDemo } from './demo.js';
import { type RunningServer, startHttp } from './http.js';
import { type DemoOptions, readOptions, USAGE, UsageError } from './options.js';
import { clientConfig } from './pages.js';
import { playTour } from './tour/tour.js';

// stdout carries the protocol in stdio mode, and what a person asked to see in the others; everything else goes here.
const log = (line: string) => void process.stderr.write(`${line}\n`);

// Whoever reads the transcript may stop reading (`| head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') return void process.stdout.write(`${USAGE}\n`);
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

async function serveStdio(options: DemoOptions): Promise<void> {
  const demo = await openDemo(options, log);
  const sessionKey = `stdio-${crypto.randomUUID()}`;
  const server = demo.createServer(sessionKey);
  const transport = new StdioServerTransport();
  await server.connect(transport);
  const stop = once(async () => {
    await server.close();
    await demo.endSession(sessionKey);
    await demo.close();
  });
  // A desktop host ends a server by closing its stdin, or by a signal.
  process.stdin.once('end', stop);
  onSignal(stop);
}

async function serveHttp(options: DemoOptions): Promise<void> {
  const demo = await openDemo(options, log);
  const server = await startHttp(demo, options, log);
  onSignal(
    once(async () => {
      await server.close();
      await demo.close();
    }),
  );
  announce(server, demo.storageDescription);
}

async function tour(options: DemoOptions): Promise<void> {
  // Upstreams are chatty when they start; the transcript is for reading.
  const demo = await openDemo(options, () => {});
  const server = await startHttp(demo, options, log);
  const stop = once(async () => {
    await server.close();
    await demo.close();
  });
  onSignal(stop);
  try {
    await playTour(server, {
      approvalLimit: options.approvalLimit,
      print: (line) => process.stdout.write(`${line}\n`),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  if (!process.stdout.isTTY) return stop();
  announce(server, demo.storageDescription);
}

function announce(server: RunningServer, storage: string): void {
  process.stdout.write(
    `\nServing MCP at ${server.url}/mcp (state in ${storage}).\n` +
      `For a client's config file:\n\n${clientConfig(server.url)}\n\n` +
      `Payments that wait for you: ${server.url}/operator?token=${server.operatorToken}\nStop with Ctrl+C.\n`,
  );
}

function onSignal(stop: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void stop().finally(() => process.exit(0)));
}

function once(stop: () => Promise<void>): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= stop().catch((error: unknown) => log(`stopping: ${error instanceof Error ? error.message : error}`));
    return stopped;
  };
}

main().catch((error: unknown) => {
  if (error instanceof UsageError) log(`${error.message}\n\n${USAGE}`);
  else log(`The demo server could not run: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
