/** The gateway over stdio, for hosts that start it as a command. */
import type { Server, Transport } from '@modelcontextprotocol/server';
import { type StdioServerHandle, serveStdio as serveSdkStdio } from '@modelcontextprotocol/server/stdio';
import type { Gateway } from './gateway.js';

export interface ServeStdioOptions {
  /** Default: stdin and stdout of this process. */
  readonly transport?: Transport;
  readonly onError?: (error: unknown) => void;
}

/** Serves until the host closes the pipe; the era is the one of the host's first message. */
export function serveStdio(gateway: Gateway, options: ServeStdioOptions = {}): StdioServerHandle {
  const servers = new Set<Server>();
  const stopListening = gateway.onToolsChanged(() => {
    for (const server of servers) server.sendToolListChanged().catch((error) => options.onError?.(error));
  });
  const handle = serveSdkStdio(
    (context) => {
      const server = gateway.createServer(context);
      servers.add(server);
      server.onclose = () => servers.delete(server);
      return server;
    },
    {
      ...(options.transport && { transport: options.transport }),
      onerror: (error) => options.onError?.(error),
    },
  );
  return {
    close: async () => {
      stopListening();
      await handle.close();
    },
  };
}
