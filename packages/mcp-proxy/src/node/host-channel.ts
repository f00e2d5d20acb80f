/** What a call carries about the host it came from: who may be asked for input, and where logs go. */

import type { RequiredPage } from './required-pages.js';

/** What an upstream may ask its client for, while a call runs. */
export type HostRequestMethod = 'elicitation/create' | 'sampling/createMessage' | 'roots/list';

/** Client capabilities of the host, as the protocol writes them; an absent one means that the host cannot. */
export interface HostCapabilities {
  readonly elicitation?: { readonly form?: object; readonly url?: object };
  readonly sampling?: object;
  readonly roots?: object;
}

/**
 * The way back to the host of one call. Pass it as `context` to `McpProxyTool.run` (or to a connection's `callTool`), and what an
 * upstream asks for during the call reaches that host and no other. The gateway builds one per call; a program of its own can too.
 */
export interface HostChannel {
  /** Marks the object, since `context` may be anything. */
  readonly kind: 'interlock:host-channel';
  /** The same for every call of one host. An upstream that asks while calls of different hosts run is refused. */
  readonly hostId: string;
  readonly capabilities: HostCapabilities;
  /** Asks the host. Rejects when the host cannot, refuses, or is gone. */
  request(method: HostRequestMethod, params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
  /** The least severe level that the host wants to see; undefined = it wants none. */
  readonly logLevel?: string;
  log?(entry: LogEntry): void;
  /** What the person was sent to a web page for is done (`notifications/elicitation/complete`). */
  elicitationComplete?(elicitationId: string): void;
  /**
   * The call failed until the person has visited these pages (error -32042). Where this is absent, the host is asked to have them
   * visited, and the call is made again.
   */
  pagesRequired?(pages: readonly RequiredPage[]): void;
}

/** A log message of an upstream (`notifications/message`). */
export interface LogEntry {
  readonly level: string;
  readonly data: unknown;
  readonly logger?: string | undefined;
}

/** The channel in a call's `context`, when there is one. */
export function hostChannelOf(context: unknown): HostChannel | undefined {
  const candidate =
    typeof context === 'object' && context !== null && 'kind' in context && context.kind === 'interlock:host-channel';
  return candidate ? (context as HostChannel) : undefined;
}

/** Whether the host can do what is asked; elicitation by form is implied by an empty capability, by URL it is not. */
export function hostCan(
  capabilities: HostCapabilities,
  method: HostRequestMethod,
  params: Readonly<Record<string, unknown>>,
): boolean {
  switch (method) {
    case 'elicitation/create': {
      const { elicitation } = capabilities;
      if (!elicitation) return false;
      if (params.mode === 'url') return elicitation.url !== undefined;
      return elicitation.form !== undefined || elicitation.url === undefined;
    }
    case 'sampling/createMessage':
      return capabilities.sampling !== undefined;
    case 'roots/list':
      return capabilities.roots !== undefined;
    default: {
      const never: never = method;
      throw new Error(`Unknown host request ${String(never)}`);
    }
  }
}
