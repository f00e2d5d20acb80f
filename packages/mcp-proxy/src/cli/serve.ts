/** `mcp-proxy serve`: the gateway over stdio or HTTP until it is told to stop. */

import { messageOf } from '../node/errors.js';
import { openProxy } from '../node/open-proxy.js';
import { defaultStateFolder } from '../node/state-files.js';
import type { IMcpProxyToolOptions } from '../options.js';
import { approveByAsking, changesSomething } from '../server/approve-by-asking.js';
import { createGateway, type Gateway } from '../server/gateway.js';
import { serveHttp } from '../server/serve-http.js';
import { serveStdio } from '../server/serve-stdio.js';
import { type Command, UsageError } from './args.js';
import type { CommandIo } from './io.js';

type ServeCommand = Extract<Command, { kind: 'serve' }>;

/** Resolves when the host has gone, or after Ctrl-C or SIGTERM. Over stdio, stdout carries the protocol and nothing else. */
export async function serve(command: ServeCommand, config: readonly string[], io: CommandIo): Promise<0> {
  const log = (line: string): void => io.err(`mcp-proxy: ${line}\n`);
  const debugLog = command.verbose ? log : undefined;
  const onError = (error: unknown): void => debugLog?.(messageOf(error));
  let gateway: Gateway | undefined;
  const opened = await openProxy({
    config,
    variables: io.env,
    reload: 'watch',
    onReload: () => gateway?.toolsChanged(),
    stateFolder: command.stateFolder ?? defaultStateFolder(io.env),
    provider: {
      relay: ['elicitation/create', 'sampling/createMessage', 'roots/list'],
      ...(command.verbose && { onStderr: (name, text) => io.err(`[${name}] ${text}`) }),
    },
    proxy: proxyOptions(command, debugLog),
    onProblem: (problem) => log(problem.message),
  });
  gateway = createGateway({ proxy: opened.proxy, directTools: command.direct, onError });
  try {
    if (command.transport === 'stdio') {
      await untilHostLeaves(gateway, io, onError);
    } else {
      const token = tokenOf(command, io);
      const served = await serveHttp(gateway, {
        port: command.port,
        hostname: command.hostname,
        onError,
        ...(command.allowedHostnames.length > 0 && { allowedHostnames: command.allowedHostnames }),
        ...(token !== undefined && { token }),
      });
      log(`listening on ${served.url}`);
      await aborted(io.signal);
      await served.close();
    }
  } finally {
    gateway.close();
    await opened.close();
  }
  return 0;
}

function proxyOptions(command: ServeCommand, debugLog: ((line: string) => void) | undefined): IMcpProxyToolOptions {
  return {
    ...(debugLog && { debugLog }),
    ...(command.approve === 'all' && { approve: approveByAsking() }),
    ...(command.approve === 'changes' && { approve: approveByAsking({ needsApproval: changesSomething }) }),
    ...(command.pins === 'off' && { pins: { load: async () => undefined, save: async () => undefined } }),
  };
}

async function untilHostLeaves(gateway: Gateway, io: CommandIo, onError: (error: unknown) => void): Promise<void> {
  const handle = serveStdio(gateway, { onError });
  // The SDK closes itself at the end of stdin, and what runs then is aborted.
  await Promise.race([
    new Promise<void>((resolve) => process.stdin.once('close', resolve).once('end', resolve)),
    aborted(io.signal),
  ]);
  await handle.close();
}

function tokenOf(command: ServeCommand, io: CommandIo): string | undefined {
  if (command.tokenVariable === undefined) return undefined;
  const token = io.env[command.tokenVariable];
  if (!token) throw new UsageError(`--token-env ${command.tokenVariable}: this variable is not set.`);
  return token;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
