/** What the result of a call means for the state. Only what the client gets to see counts, not whether it cancelled. */
import type { WireRequest } from './interception.js';
import { isRecord } from './server.js';

/** How a task stands; the last three are terminal. */
type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

export type CallOutcome =
  | { readonly kind: 'success' }
  /** The tool said that it failed; the SDKs turn throws and failed validation into this too. */
  | { readonly kind: 'failure'; readonly reason: string }
  /** The client must answer questions and call again (2026-07-28, multi-round-trip results). */
  | { readonly kind: 'input_required' }
  /** The work goes on after the answer. `ttlMs`: how long the task is kept, `undefined` for ever. */
  | { readonly kind: 'task'; readonly taskId: string; readonly status: TaskStatus; readonly ttlMs: number | undefined };

const SUCCESS: CallOutcome = { kind: 'success' };
const FAILURE: CallOutcome = { kind: 'failure', reason: 'isError' };
const NOTHING: CallOutcome = { kind: 'failure', reason: 'the handler answered nothing' };

export function outcomeOfCall(request: WireRequest, result: unknown): CallOutcome {
  if (!isRecord(result)) return NOTHING;
  if (result.resultType !== undefined || result.task !== undefined) return outcomeByType(request, result);
  return result.isError === true ? FAILURE : SUCCESS;
}

function outcomeByType(request: WireRequest, result: Record<string, unknown>): CallOutcome {
  if (result.resultType === 'input_required') return { kind: 'input_required' };
  const task = createdTask(request, result);
  if (task !== undefined) {
    const ttl = typeof task.ttl === 'number' ? task.ttl : task.ttlMs;
    return {
      kind: 'task',
      taskId: String(task.taskId),
      status: asStatus(task.status) ?? 'working',
      ttlMs: typeof ttl === 'number' && ttl > 0 ? ttl : undefined,
    };
  }
  return result.isError === true ? FAILURE : SUCCESS;
}

/** How a task ended, from any answer that tells of it; `undefined` while it runs. */
export function taskEnding(status: unknown, result: unknown): 'success' | 'failure' | undefined {
  switch (asStatus(status)) {
    case 'completed':
      return isRecord(result) && result.isError === true ? 'failure' : 'success';
    case 'failed':
    case 'cancelled':
      return 'failure';
    case 'working':
    case 'input_required':
    case undefined:
      return undefined;
  }
}

/** 2025-11-25 wraps the task, and only where the request asked for one; the tasks extension of 2026-07-28 names the type. */
function createdTask(request: WireRequest, result: Record<string, unknown>): Record<string, unknown> | undefined {
  const wrapped = isRecord(request.params?.task) && isRecord(result.task) ? result.task : undefined;
  const task = result.resultType === 'task' ? (isRecord(result.task) ? result.task : result) : wrapped;
  return typeof task?.taskId === 'string' ? task : undefined;
}

function asStatus(value: unknown): TaskStatus | undefined {
  switch (value) {
    case 'working':
    case 'input_required':
    case 'completed':
    case 'failed':
    case 'cancelled':
      return value;
    default:
      return undefined;
  }
}
