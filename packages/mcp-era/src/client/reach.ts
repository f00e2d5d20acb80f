/** How a target is reached: the transport it is connected with, and the probe that asks it elsewhere. */
import { createHttpProbe } from '../http-probe.js';
import type { TransportLike } from '../transport.js';
import type { McpEraProbe } from '../types.js';
import type { ConnectOptions } from './options.js';
import { type ConnectableClient, createHttpTransport, importModule, type SdkGeneration } from './sdk.js';
import type { EraTarget } from './target.js';

/** A fresh transport to the target, not started yet. */
export async function createTransport(
  target: EraTarget,
  http: { readonly kind: 'streamable' | 'sse'; readonly generation: SdkGeneration },
  options: ConnectOptions<ConnectableClient>,
): Promise<TransportLike> {
  const { fetch, onStderr, setTimer, importModule: load = importModule } = options;
  switch (target.type) {
    case 'transport':
      return target.createTransport();
    case 'stdio': {
      const { StdioTransport } = await import('../stdio-transport.js');
      return new StdioTransport({ ...target, onStderr, setTimer });
    }
    default:
      return createHttpTransport(http.kind, http.generation, { ...target, fetch }, load);
  }
}

/** What asks the target on a way of its own; `undefined` where the connection's own transport is to be asked over. */
export function createProbe(target: EraTarget, options: ConnectOptions<ConnectableClient>): McpEraProbe | undefined {
  const { probeTimeoutMs: timeoutMs, clientInfo, capabilities, fetch, setTimer, ask } = options;
  const asker = { clientInfo, capabilities, setTimer, timeoutMs };
  switch (target.type) {
    case 'transport':
      return target.probe;
    case 'stdio':
      if (ask !== 'sibling') return undefined;
      return async (...question) => {
        const { createStdioProbe } = await import('../stdio-probe.js');
        return createStdioProbe({ ...asker, ...target })(...question);
      };
    default:
      return createHttpProbe({ ...asker, url: target.url, headers: target.headers, fetch });
  }
}
