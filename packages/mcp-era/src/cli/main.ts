/** The command: reads its arguments, asks, prints, and says by its exit code what came of it. */
import { readFile } from 'node:fs/promises';
import { classifyEraAnswer } from '../classify.js';
import { createFileEraCache } from '../file-cache.js';
import type { EraFetch } from '../http-probe.js';
import { createEraResolver, type EraResolver } from '../resolver.js';
import type { MCPTransportUnion } from '../types.js';
import type { UndeterminedReason } from '../verdict.js';
import { type CliOptions, parseArgs, USAGE } from './args.js';
import { type ConfiguredServer, parseServersConfig } from './config.js';
import { type EraReport, inspect } from './inspect.js';
import { plain, printReport, printTable, printVerdict } from './print.js';
import { parseRecorded } from './recorded.js';

/** The world, as the command sees it. */
export interface CliIo {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Whether the progress line can be rewritten. */
  readonly isTerminal: boolean;
  readonly readInput: () => Promise<string>;
  readonly version: string;
  readonly now: () => number;
  readonly fetch?: EraFetch;
  readonly signal?: AbortSignal;
}

const EXIT = { known: 0, failed: 1, usage: 2, unexpected: 3 } as const;
const UNDETERMINED: Readonly<Record<UndeterminedReason['kind'], number>> = {
  'sign-in-needed': 4,
  unavailable: 5,
  redirected: 6,
  'not-mcp': 7,
  'versions-disjoint': 8,
};

/** Runs the command and gives its exit code. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  const command = parseArgs(argv);
  try {
    switch (command.do) {
      case 'help':
        io.write(USAGE);
        return EXIT.known;
      case 'version':
        io.write(`${io.version}\n`);
        return EXIT.known;
      case 'refuse':
        io.writeError(`mcp-era: ${command.because}\n\n${USAGE}`);
        return EXIT.usage;
      case 'explain':
        return await explain(command.file, command.options, io);
      case 'probe-url': {
        const { url, options } = command;
        const type = options.sse ? 'http-sse' : 'streamable-http';
        return await probeOne({ type, url, headers: { ...options.headers } }, options, io);
      }
      case 'probe-command': {
        const { command: name, args, options } = command;
        return await probeOne({ type: 'stdio', command: name, args: [...args], env: { ...options.env } }, options, io);
      }
      case 'probe-all':
        return await probeAll(command.config, command.options, io);
      default:
        return command satisfies never;
    }
  } catch (error) {
    io.writeError(`mcp-era: ${plain(error instanceof Error ? error.message : String(error))}\n`);
    return EXIT.failed;
  }
}

async function probeOne(transport: MCPTransportUnion, options: CliOptions, io: CliIo): Promise<number> {
  const report = await ask('server', transport, options, io, resolverOf(options, io));
  io.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : printReport(report));
  return exitCodeOf(report, options);
}

async function probeAll(path: string, options: CliOptions, io: CliIo): Promise<number> {
  const servers = parseServersConfig(await readFile(path, 'utf8'));
  const resolver = resolverOf(options, io);
  const waiting = new Set(servers.map(({ name }) => name));
  const progress = (): void => {
    if (!io.isTerminal) return;
    const done = servers.length - waiting.size;
    const line = waiting.size ? `${done}/${servers.length} answered, waiting for ${[...waiting].join(', ')}` : '';
    io.writeError(`\r\u001b[2K${plain(line).slice(0, 100)}`);
  };
  progress();
  const reports = await Promise.all(
    servers.map(async (server) => {
      const report = await askConfigured(server, options, io, resolver);
      waiting.delete(server.name);
      progress();
      return report;
    }),
  );
  io.write(options.json ? `${JSON.stringify(reports, null, 2)}\n` : printTable(reports));
  return Math.max(EXIT.known, ...reports.map((report) => exitCodeOf(report, options)));
}

async function askConfigured(
  server: ConfiguredServer,
  options: CliOptions,
  io: CliIo,
  resolver: EraResolver,
): Promise<EraReport> {
  if ('transport' in server) return ask(server.name, server.transport, options, io, resolver);
  const { name, problem } = server;
  const nothing = { target: '-', versions: [], capabilities: [], latencyMs: 0, fromCache: false };
  return { name, ...nothing, era: 'undetermined', error: problem };
}

function ask(
  name: string,
  transport: MCPTransportUnion,
  options: CliOptions,
  io: CliIo,
  resolver: EraResolver,
): Promise<EraReport> {
  const { now, fetch, signal } = io;
  return inspect(transport, { name, resolver, timeoutMs: options.timeoutMs, now, fetch, signal });
}

async function explain(file: string | undefined, options: CliOptions, io: CliIo): Promise<number> {
  const text = file === undefined || file === '-' ? await io.readInput() : await readFile(file, 'utf8');
  const { answer, transport } = parseRecorded(text, options.stdio);
  const verdict = classifyEraAnswer(answer, { transport, now: io.now() });
  io.write(options.json ? `${JSON.stringify(verdict, null, 2)}\n` : printVerdict(verdict));
  if (verdict.kind === 'undetermined') return UNDETERMINED[verdict.reason.kind];
  const era = verdict.kind === 'retry' ? 'modern' : verdict.kind;
  return options.expect !== undefined && options.expect !== era ? EXIT.unexpected : EXIT.known;
}

function exitCodeOf({ era, reason, handshakeError }: EraReport, { expect }: CliOptions): number {
  if (era === 'undetermined') return reason ? UNDETERMINED[reason.kind] : EXIT.failed;
  // A mistyped path refuses the question just as an old server does: that is no era to build on.
  if (handshakeError !== undefined) return EXIT.failed;
  return expect !== undefined && expect !== era ? EXIT.unexpected : EXIT.known;
}

function resolverOf({ cache: path }: CliOptions, io: CliIo): EraResolver {
  if (path === undefined) return createEraResolver();
  const said = new Set<string>();
  const complain = (error: unknown): void => {
    const line = plain(`mcp-era: ${path} is no use as a cache: ${error instanceof Error ? error.message : error}`);
    if (!said.has(line)) io.writeError(`${line}\n`);
    said.add(line);
  };
  return createEraResolver({
    cache: createFileEraCache({ path, onError: complain }),
    onEvent: ({ type, error }) => {
      if (type === 'cache-error') complain(error);
    },
  });
}
