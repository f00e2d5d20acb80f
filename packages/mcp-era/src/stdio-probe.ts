/** The stdio probe with a process of its own: for commands that only want to know, and servers that stand a second one. */
import { StdioTransport, type StdioTransportOptions } from './stdio-transport.js';
import { exitOf, probeTransport, type TransportProbeOptions } from './transport.js';
import type { McpEraProbe } from './types.js';

export interface StdioProbeOptions extends StdioTransportOptions, Omit<TransportProbeOptions, 'signal'> {}

/**
 * Starts the server, asks, and reaps the process and its group before it answers. Where a second process must not be,
 * use `connectClient`, which asks on the connection's own.
 *
 * ```ts
 * const answer = await createStdioProbe({ command: 'my-server' })('2026-07-28');
 * ```
 */
export function createStdioProbe(options: StdioProbeOptions): McpEraProbe {
  return async (version, { signal } = {}) => {
    const transport = new StdioTransport(options);
    try {
      await transport.start();
      return await exitOf(transport, await probeTransport(transport, version, { ...options, signal }));
    } catch (error) {
      return { kind: 'error', error };
    } finally {
      await transport.close();
    }
  };
}
