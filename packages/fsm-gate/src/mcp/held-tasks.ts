/** Calls that were answered with a task: each keeps its session until the task is terminal, whoever learns of that first. */
import { MAX_DELAY_MS } from '../sessions/delay.js';
import type { GateCall } from '../sessions/sessions-types.js';
import { taskEnding } from './outcome.js';
import { isRecord, type ProtocolServer } from './server.js';
import type { McpTimers } from './timers.js';

interface HeldTask {
  readonly call: GateCall;
  readonly expiry: unknown;
}

export class HeldTasks {
  readonly #server: ProtocolServer;
  readonly #timers: McpTimers;
  readonly #onError: (error: unknown) => void;
  readonly #held = new Map<string, HeldTask>();
  #unobserve: (() => void) | undefined;

  constructor(
    server: ProtocolServer,
    options: { readonly timers: McpTimers; readonly onError: (error: unknown) => void },
  ) {
    this.#server = server;
    this.#timers = options.timers;
    this.#onError = options.onError;
  }

  holds(taskId: string): boolean {
    return this.#held.has(taskId);
  }

  /** Keeps the call open. A task that the store forgets after `ttlMs` without having ended is rolled back then. */
  async hold(
    task: { readonly taskId: string; readonly status: string; readonly ttlMs: number | undefined },
    call: GateCall,
  ): Promise<void> {
    const { taskId, ttlMs } = task;
    // Of the earlier task of that id nothing can be heard any more; its call would hold its session for as long as it may.
    await this.#roll(taskId, 'another task took its id');
    const expire = (): void => void this.#roll(taskId, 'task expired');
    const expiry = ttlMs === undefined ? undefined : this.#timers.setTimeout(expire, Math.min(ttlMs, MAX_DELAY_MS));
    this.#held.set(taskId, { call, expiry });
    const store = taskStoreOf(this.#server);
    if (store !== undefined) {
      this.#unobserve ??= observe(store, (id, status, result) => this.settle(id, status, result));
      await this.#settleFromStore(taskId, store);
    }
    await this.settle(taskId, task.status, undefined);
  }

  /** Tells what is known of a task; does nothing for tasks that are not held or not terminal. */
  async settle(taskId: string, status: unknown, result: unknown): Promise<void> {
    if (!this.#held.has(taskId)) return;
    switch (taskEnding(status, result)) {
      case 'success':
        return this.#commit(taskId, result);
      case 'failure':
        return this.#roll(taskId, `task ${String(status)}`);
      case undefined:
        return;
    }
  }

  /** It may have ended before anybody listened. */
  async #settleFromStore(taskId: string, store: TaskStoreLike): Promise<void> {
    try {
      const task = await store.getTask(taskId);
      const result = task?.status === 'completed' ? await store.getTaskResult(taskId) : undefined;
      await this.settle(taskId, task?.status, result);
    } catch (error) {
      // The task itself is well; its end will be heard of later.
      this.#onError(error);
    }
  }

  async #commit(taskId: string, result: unknown): Promise<void> {
    try {
      await this.#take(taskId)?.commit(result);
    } catch (error) {
      // Nobody waits for this commit: the task's answer is already on its way.
      this.#onError(error);
    }
  }

  async #roll(taskId: string, reason: string): Promise<void> {
    await this.#take(taskId)?.rollback(reason);
  }

  #take(taskId: string): GateCall | undefined {
    const held = this.#held.get(taskId);
    if (held === undefined) return undefined;
    this.#held.delete(taskId);
    if (held.expiry !== undefined) this.#timers.clearTimeout(held.expiry);
    if (this.#held.size === 0) {
      this.#unobserve?.();
      this.#unobserve = undefined;
    }
    return held.call;
  }
}

type TaskListener = (taskId: string, status: unknown, result: unknown) => Promise<void>;

/** The methods of the v1 SDK's `TaskStore` that tell how a task stands. */
interface TaskStoreLike {
  getTask(taskId: string, sessionId?: string): Promise<{ readonly status?: unknown } | null>;
  getTaskResult(taskId: string, sessionId?: string): Promise<unknown>;
  storeTaskResult(taskId: string, status: string, result: unknown, sessionId?: string): Promise<void>;
  updateTaskStatus(taskId: string, status: string, statusMessage?: string, sessionId?: string): Promise<void>;
}

const observed = new WeakMap<object, Set<TaskListener>>();

/** The task store of a v1 server. Private there and absent in v2, where answers to `tasks/get` tell the same later. */
function taskStoreOf(server: ProtocolServer): TaskStoreLike | undefined {
  const store = (server as unknown as { readonly _taskStore?: unknown })._taskStore;
  return isTaskStore(store) ? store : undefined;
}

/**
 * Listens to a store. Its two methods are wrapped in place, once for all servers that share it, because tools end their tasks on
 * the store itself, long after the request. Returns the unsubscribe function.
 */
function observe(store: TaskStoreLike, listener: TaskListener): () => void {
  const listeners = observed.get(store) ?? wrap(store);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function wrap(store: TaskStoreLike): Set<TaskListener> {
  const listeners = new Set<TaskListener>();
  const storeTaskResult = store.storeTaskResult.bind(store);
  const updateTaskStatus = store.updateTaskStatus.bind(store);
  const tell = async (taskId: string, status: unknown, result: unknown): Promise<void> => {
    for (const listener of [...listeners]) await listener(taskId, status, result);
  };
  store.storeTaskResult = async (taskId, status, result, sessionId) => {
    await storeTaskResult(taskId, status, result, sessionId);
    await tell(taskId, status, result);
  };
  store.updateTaskStatus = async (taskId, status, statusMessage, sessionId) => {
    await updateTaskStatus(taskId, status, statusMessage, sessionId);
    await tell(taskId, status, undefined);
  };
  observed.set(store, listeners);
  return listeners;
}

function isTaskStore(value: unknown): value is TaskStoreLike {
  return (
    isRecord(value) &&
    typeof value.getTask === 'function' &&
    typeof value.getTaskResult === 'function' &&
    typeof value.storeTaskResult === 'function' &&
    typeof value.updateTaskStatus === 'function'
  );
}
