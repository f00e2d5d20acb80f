import { readFileSync } from 'node:fs';

/** Whether a process runs; one that has ended and is only waiting to be collected does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Comes back when a process that has been killed is gone; its descriptors are closed a moment before. */
export async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
}
