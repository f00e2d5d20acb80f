/**
 * Every process group that this process has started, so that none outlives it: killed at exit, after an uncaught exception and
 * on the signals that end a process. (After a SIGKILL of ours the kernel closes the pipes: each child sees the end of its input.)
 */

/** The signals whose default action ends the process without an `exit` event. */
const FATAL_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];
/** How long groups may tidy up after a fatal signal before they are killed, in milliseconds. */
const SIGNAL_GRACE_MS = 500;
const POLL_MS = 10;

const groups = new Set<number>();
const handlers = new Map<NodeJS.Signals, () => void>();

/** Remembers a group, named by the id of its leader. */
export function registerGroup(pid: number): void {
  groups.add(pid);
  if (groups.size > 1) return;
  process.on('exit', killAllGroups);
  for (const signal of FATAL_SIGNALS) {
    const handler = (): void => void onFatalSignal(signal);
    handlers.set(signal, handler);
    // First, so that others who listen only once are still to be seen when it runs.
    process.prependListener(signal, handler);
  }
}

/** Forgets a group that is gone; without groups this module listens to nothing. */
export function unregisterGroup(pid: number): void {
  if (!groups.delete(pid) || groups.size > 0) return;
  process.off('exit', killAllGroups);
  for (const [signal, handler] of handlers) process.off(signal, handler);
  handlers.clear();
}

/** The groups that are still there, by the id of their leader. */
export function livingGroups(): readonly number[] {
  return [...groups];
}

/** Signals a whole group; false when nothing of it is left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // Windows has no groups: there the leader's own children end with its job or by their closed input.
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
    return true;
  } catch (error) {
    // EPERM means that something lives under another user; it is still there, and not ours to end.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Waits until nothing of a group is left, at most `timeoutMs`. */
export async function groupGone(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (signalGroup(pid, 0)) {
    if (Date.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

function killAllGroups(): void {
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
}

async function onFatalSignal(signal: NodeJS.Signals): Promise<void> {
  // Whoever else listens decides how this process ends, and `exit` reaps then; alone, we must end it as if we did not listen.
  if (process.listeners(signal).some((listener) => listener !== handlers.get(signal))) return;
  const pids = livingGroups();
  for (const pid of pids) signalGroup(pid, 'SIGTERM');
  await Promise.all(pids.map((pid) => groupGone(pid, SIGNAL_GRACE_MS)));
  killAllGroups();
  const handler = handlers.get(signal);
  if (handler) process.off(signal, handler);
  process.kill(process.pid, signal);
}
