/** Opens one connection and lists its tools, within a deadline; what arrives too late is closed. */
import { reasonOf } from '../text/clean.js';
import type { IMcpServer, IMcpServerProvider } from '../types.js';
import { abortable } from './abort.js';
import { type RawListing, validTtl } from './listing.js';
import type { Settings } from './settings.js';

/** How long a close may take before it is no longer waited for, in milliseconds. */
export const CLOSE_TIMEOUT_MS = 10_000;

/** A signal that is aborted by the first of: `stop` of the caller, or the deadline. */
export interface Deadline {
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Stops the clock. */
  end(): void;
}

export function startDeadline(timeoutMs: number, serverName: string, settings: Settings): Deadline {
  const controller = new AbortController();
  const end = settings.setTimer(() => {
    controller.abort(new Error(`"${serverName}" gave no answer within ${timeoutMs / 1_000} s.`));
  }, timeoutMs);
  return { signal: controller.signal, abort: (reason) => controller.abort(reason), end };
}

/** Connects; a connection that comes after the deadline, or after a close, is closed again. */
export function openServer(
  provider: IMcpServerProvider,
  serverName: string,
  settings: Settings,
  deadline: Deadline,
): Promise<IMcpServer> {
  const connecting = startAsync(() => provider.connect(serverName, deadline.signal));
  return abortable(connecting, deadline.signal, (late) => void closeServer(late, serverName, settings));
}

/** The list as the upstream gave it. Its bounds are checked where it is admitted. */
export async function listServer(server: IMcpServer, settings: Settings, deadline: Deadline): Promise<RawListing> {
  const tools: unknown = await abortable(
    startAsync(() => server.listTools(deadline.signal)),
    deadline.signal,
  );
  return {
    source: 'live',
    tools,
    problems: server.getToolProblems?.() ?? [],
    instructions: server.getInstructions?.(),
    listedAt: settings.now(),
    ttlMs: validTtl(server.getToolsTtlMs?.()),
  };
}

/** Closes and forgets: neither an error nor a close that never ends stops the caller. */
export async function closeServer(server: IMcpServer, serverName: string, settings: Settings): Promise<void> {
  await within(
    CLOSE_TIMEOUT_MS,
    startAsync(() => server.close()),
    serverName,
    settings,
  );
}

/** Waits for something that belongs to closing, but not for ever; what goes wrong is only logged. */
export async function within(
  timeoutMs: number,
  work: Promise<unknown>,
  serverName: string,
  settings: Settings,
): Promise<void> {
  const deadline = startDeadline(timeoutMs, serverName, settings);
  try {
    await abortable(work, deadline.signal);
  } catch (error) {
    settings.debugLog(`closing "${serverName}" failed: ${reasonOf(error)}`);
  } finally {
    deadline.end();
  }
}

/** A function that throws at once becomes a rejection like any other. */
async function startAsync<T>(start: () => Promise<T>): Promise<T> {
  return start();
}
