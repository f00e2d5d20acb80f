/** Runs one command and says how it ended. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ProxyAnswer, ProxyRequest } from '../answers.js';
import type { ProxyEvent } from '../events.js';
import { ConfigError, messageOf } from '../node/errors.js';
import { login } from '../node/oauth-login.js';
import { forgetLogin } from '../node/oauth-store.js';
import { type OpenedProxy, openProxy } from '../node/open-proxy.js';
import { defaultStateFolder } from '../node/state-files.js';
import { renderAnswer } from '../render/render-answer.js';
import { type Command, HELP, parseCommand, UsageError } from './args.js';
import { TERMINAL_HINTS } from './hints.js';
import type { CommandIo } from './io.js';
import { serve } from './serve.js';

/** 0: done. 1: it failed, or the tool said so. 2: the command line or the configuration is wrong. */
export type ExitCode = 0 | 1 | 2;

/** Where hosts and editors keep their configuration in a project. */
const DEFAULT_CONFIGS = ['mcp.json', '.mcp.json', '.cursor/mcp.json', '.vscode/mcp.json'];

export async function main(argv: readonly string[], io: CommandIo): Promise<ExitCode> {
  try {
    return await run(parseCommand(argv), io);
  } catch (error) {
    io.err(`mcp-proxy: ${messageOf(error)}\n`);
    return error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
  }
}

async function run(command: Command, io: CommandIo): Promise<ExitCode> {
  switch (command.kind) {
    case 'help':
      io.out(HELP);
      return 0;
    case 'version':
      io.out(`${await version()}\n`);
      return 0;
    case 'serve':
      return serve(command, configFiles(command, io), io);
    case 'login':
    case 'logout':
      return signing(command, io);
    case 'approve':
      return withProxy(command, io, async ({ proxy }) => {
        const answer = await proxy.perform({ kind: 'connect', server: command.server }, { signal: io.signal });
        if (answer.kind !== 'connected') return print(answer, command, io);
        for (const { toolName, diff } of answer.status.held)
          io.err(`${toolName}:\n${diff.map((line) => `  ${line}\n`).join('')}`);
        const approved = await proxy.approvePins(
          command.server,
          command.tools.length > 0 ? { toolNames: command.tools } : {},
        );
        io.out(approved.length > 0 ? `Trusted now: ${approved.join(', ')}\n` : 'Nothing was held back.\n');
        return 0;
      });
    case 'status':
      return withProxy(command, io, async ({ proxy, configs }) => {
        const servers = [...configs().values()].filter(({ disabled }) => !disabled);
        await Promise.all(
          servers.map(({ serverName }) =>
            proxy.perform({ kind: 'connect', server: serverName }, { signal: io.signal }),
          ),
        );
        return print(await proxy.perform({ kind: 'status' }), command, io);
      });
    case 'search':
    case 'describe':
    case 'call':
      return withProxy(command, io, async ({ proxy }) => {
        const request = await requestOf(command, io);
        return print(await proxy.perform(request, { signal: io.signal }), command, io);
      });
    default:
      return command satisfies never;
  }
}

async function signing(command: Extract<Command, { kind: 'login' | 'logout' }>, io: CommandIo): Promise<ExitCode> {
  const folder = command.stateFolder ?? defaultStateFolder(io.env);
  return withProxy(command, io, async ({ configs }) => {
    const config = configs().get(command.server);
    if (!config) {
      const known = [...configs().keys()].join(', ') || 'none';
      throw new ConfigError('CONFIG_UNKNOWN_SERVER', `No server "${command.server}" is configured. Known: ${known}.`);
    }
    if (command.kind === 'logout') {
      await forgetLogin(config, folder);
      io.out(`Forgot the login to "${command.server}".\n`);
      return 0;
    }
    const openUrl = async (url: URL): Promise<void> => {
      io.err(`Open this page to sign in to "${command.server}":\n\n  ${url.href}\n\n`);
      await io.openUrl(url);
    };
    await login(config, { folder, openUrl, port: command.port, signal: io.signal });
    io.out(`Signed in to "${command.server}".\n`);
    return 0;
  });
}

async function requestOf(
  command: Extract<Command, { kind: 'search' | 'describe' | 'call' }>,
  io: CommandIo,
): Promise<ProxyRequest> {
  const server = command.server === undefined ? {} : { server: command.server };
  switch (command.kind) {
    case 'search':
      return { kind: 'search', query: command.query, ...server };
    case 'describe':
      return { kind: 'describe', tool: command.tool, ...server };
    case 'call': {
      const text = command.args === '-' ? await io.stdin() : command.args;
      return { kind: 'call', tool: command.tool, args: argumentsOf(text), ...server };
    }
    default:
      return command satisfies never;
  }
}

function argumentsOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch (cause) {
    throw new UsageError(`The arguments are no JSON: ${messageOf(cause)}`, { cause });
  }
  throw new UsageError('The arguments must be a JSON object, such as \'{"path":"/tmp"}\'.');
}

async function withProxy(
  command: Command,
  io: CommandIo,
  work: (opened: OpenedProxy) => Promise<ExitCode>,
): Promise<ExitCode> {
  const opened = await openProxy({
    config: configFiles(command, io),
    variables: io.env,
    stateFolder: command.stateFolder ?? defaultStateFolder(io.env),
    // Eager servers are for serving; a command starts only what it needs.
    provider: { ...(command.verbose && { onStderr: (name, text) => io.err(`[${name}] ${text}`) }) },
    proxy: {
      onEvent: (event) => progress(event, io),
      ...(command.verbose && { debugLog: (line: string) => io.err(`${line}\n`) }),
    },
    onProblem: (problem) => io.err(`mcp-proxy: ${problem.message}\n`),
    start: 'lazy',
  });
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

function progress(event: ProxyEvent, io: CommandIo): void {
  if (event.type === 'connecting') io.err(`… ${event.serverName}: starting\n`);
  if (event.type === 'connected')
    io.err(
      `✓ ${event.serverName}: ${event.tools} ${event.tools === 1 ? 'tool' : 'tools'} (${Math.round(event.durationMs)} ms)\n`,
    );
  if (event.type === 'connect_failed') io.err(`✗ ${event.serverName}: ${event.reason}\n`);
}

function print(answer: ProxyAnswer, command: Command, io: CommandIo): ExitCode {
  io.out(`${command.json ? JSON.stringify(answer) : renderAnswer(answer, { hints: TERMINAL_HINTS })}\n`);
  switch (answer.kind) {
    case 'result':
      return isError(answer.result) ? 1 : 0;
    case 'status':
    case 'connected':
    case 'list':
    case 'hits':
    case 'described':
    case 'page':
      return 0;
    default:
      return 1;
  }
}

function isError(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'isError' in result && result.isError === true;
}

function configFiles(command: Command, io: CommandIo): readonly string[] {
  if (command.configs.length > 0) return command.configs.map((path) => resolve(io.cwd, path));
  const found = DEFAULT_CONFIGS.map((path) => join(io.cwd, path)).find((path) => existsSync(path));
  if (found === undefined) {
    throw new UsageError(
      `No configuration: give --config <file> (looked for ${DEFAULT_CONFIGS.join(', ')} in ${io.cwd}).`,
    );
  }
  return [found];
}

async function version(): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known && typeof manifest.version === 'string' ? manifest.version : 'unknown';
}
