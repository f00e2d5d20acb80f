/**
 * A store in another Node process, driven from this one: what proves that exactly-once does not rest on a shared heap.
 * The child opens the store and calls {@link answerParent}; the parent gets a store whose calls travel to the child.
 */
import type { AgentRunState, AgentRunStore } from './harness.js';

export interface ForkedStore extends AgentRunStore {
  readonly pid: number;
  /** Ends the child as a crash does; calls under way reject. */
  kill(): Promise<void>;
}

export interface ForkStoreOptions {
  /** Module that opens the store and calls `answerParent`. */
  readonly module: URL;
  /** Arguments for the module, for example the URL of the server. */
  readonly args?: readonly string[];
  /** Options of the child's Node, for example `['--import', 'tsx']`. Default: those of this process. */
  readonly execArgv?: readonly string[];
}

type Method = 'store' | 'load' | 'consume';
type Request = { readonly id: number; readonly method: Method; readonly runId: string; readonly state?: AgentRunState };
type Reply =
  | { readonly id: 'ready' }
  | { readonly id: number; readonly value: AgentRunState | null | undefined }
  | { readonly id: number; readonly error: { readonly message: string; readonly code?: unknown } };

/** Starts a process and resolves once its store answers. Needs Node. */
export async function forkStore(options: ForkStoreOptions): Promise<ForkedStore> {
  const { fork } = await import('node:child_process');
  const child = fork(options.module, [...(options.args ?? [])], {
    serialization: 'advanced',
    ...(options.execArgv ? { execArgv: [...options.execArgv] } : {}),
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let calls = 0;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));

  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) =>
      reject(new Error(`The process of ${options.module} ended with ${code} before it was ready.`)),
    );
    child.on('message', (reply: Reply) => {
      if (reply.id === 'ready') return resolve();
      const call = waiting.get(reply.id);
      waiting.delete(reply.id);
      if ('error' in reply) call?.reject(Object.assign(new Error(reply.error.message), { code: reply.error.code }));
      else call?.resolve(reply.value);
    });
  });
  child.on('exit', () => {
    for (const call of waiting.values()) call.reject(new Error('The process of the store is gone.'));
    waiting.clear();
  });

  function call<T>(method: Method, runId: string, state?: AgentRunState): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const id = calls++;
      // The child answers a method with what that method resolves to.
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      const request: Request = { id, method, runId, ...(state ? { state } : {}) };
      child.send(request, (error) => error && waiting.delete(id) && reject(error));
    });
  }
  return {
    pid: child.pid!,
    store: (runId, state) => call('store', runId, state),
    load: (runId) => call('load', runId),
    consume: (runId) => call('consume', runId),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** In the child: answers the parent's calls with `store`, and ends with the parent. */
export function answerParent(store: AgentRunStore): void {
  const send = (reply: Reply) => process.send?.(reply, () => {});
  process.on('disconnect', () => process.exit(0));
  process.on('message', (request: Request) => {
    const { id, method, runId, state } = request;
    const answer = method === 'store' ? store.store(runId, state!) : store[method](runId);
    answer.then(
      (value) => send({ id, value: value ?? (method === 'store' ? undefined : null) }),
      (error: unknown) => send({ id, error: { message: String(error), code: (error as { code?: unknown })?.code } }),
    );
  });
  send({ id: 'ready' });
}
