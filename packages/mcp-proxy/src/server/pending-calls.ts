/**
 * Calls that wait for input of a modern host. The protocol has no requests to the host, so the call stays here while the host is
 * answered `input_required` with a handle, and goes on when the host comes back with that handle and the answers.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HostRequestMethod } from '../node/host-channel.js';
import { realTimer, type SetTimer } from '../node/timers.js';

/** What the host is asked, by key. */
type InputRequests = Readonly<Record<string, { readonly method: HostRequestMethod; readonly params: object }>>;

/** Where a call stands: finished, or in need of answers under a handle that works once. */
export type CallStep<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'asks'; readonly inputRequests: InputRequests; readonly requestState: string };

/** Why a handle was not taken. Callers answer all of them alike: which one it was is nobody's business outside. */
export type Refusal = { readonly kind: 'unknown-handle' } | { readonly kind: 'other-call' };

export interface PendingCallsOptions {
  /** How long the host may take to answer, in milliseconds. Default 10 minutes. */
  readonly ttlMs?: number;
  /** Calls that may wait at once. Default 1,000. */
  readonly maxCalls?: number;
  readonly setTimer?: SetTimer;
  readonly randomHandle?: () => string;
}

/** The side of the call that runs: asks the host and waits. */
export type AskHost = (method: HostRequestMethod, params: object, signal: AbortSignal) => Promise<unknown>;

interface Question {
  readonly method: HostRequestMethod;
  readonly params: object;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const DEFAULT_TTL_MS = 10 * 60_000;
const DEFAULT_MAX_CALLS = 1_000;

/** One per gateway. `L` is what the gateway knows of the request that is connected at the moment. */
export class PendingCalls<T, L> {
  readonly #ttlMs: number;
  readonly #maxCalls: number;
  readonly #setTimer: SetTimer;
  readonly #randomHandle: () => string;
  readonly #waiting = new Map<string, { call: SuspendableCall<T, L>; binding: string; cancelTimer: () => void }>();

  constructor(options: PendingCallsOptions = {}) {
    this.#ttlMs = options.ttlMs ?? DEFAULT_TTL_MS;
    this.#maxCalls = options.maxCalls ?? DEFAULT_MAX_CALLS;
    this.#setTimer = options.setTimer ?? realTimer;
    this.#randomHandle = options.randomHandle ?? (() => randomBytes(32).toString('base64url'));
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Starts a call. `binding` is what the retry must have in common with it: the principal and the arguments. */
  async start(
    binding: string,
    leg: L,
    signal: AbortSignal,
    run: (ask: AskHost, callSignal: AbortSignal, leg: () => L) => Promise<T>,
  ): Promise<CallStep<T>> {
    return this.#step(new SuspendableCall(run, leg), binding, signal);
  }

  /** Goes on with a call. A handle is used up by the first retry that fits, whatever its answers are. */
  async resume(
    requestState: string,
    binding: string,
    answers: Readonly<Record<string, unknown>>,
    leg: L,
    signal: AbortSignal,
  ): Promise<CallStep<T> | Refusal> {
    const entry = this.#waiting.get(requestState);
    if (!entry) return { kind: 'unknown-handle' };
    if (!sameText(entry.binding, binding)) return { kind: 'other-call' };
    this.#waiting.delete(requestState);
    entry.cancelTimer();
    entry.call.answer(answers, leg);
    return this.#step(entry.call, binding, signal);
  }

  /** Cancels everything that waits. */
  close(): void {
    for (const { call, cancelTimer } of this.#waiting.values()) {
      cancelTimer();
      call.cancel(new Error('The gateway is closing.'));
    }
    this.#waiting.clear();
  }

  async #step(call: SuspendableCall<T, L>, binding: string, signal: AbortSignal): Promise<CallStep<T>> {
    const next = await call.next(signal);
    if (next.kind === 'done') return next;
    if (this.#waiting.size >= this.#maxCalls) {
      const error = new Error(`${this.#maxCalls} calls wait for input already; answer those first.`);
      call.cancel(error);
      throw error;
    }
    const requestState = this.#randomHandle();
    const cancelTimer = this.#setTimer(() => {
      this.#waiting.delete(requestState);
      call.cancel(new Error(`No answer came within ${this.#ttlMs} ms.`));
    }, this.#ttlMs);
    this.#waiting.set(requestState, { call, binding, cancelTimer });
    return { kind: 'asks', inputRequests: next.inputRequests, requestState };
  }
}

/** What binds a handle: who calls, and what for. A digest, so that no arguments are kept. */
export function bindingOf(principal: string, canonicalArguments: string): string {
  return createHash('sha256').update(`${principal}\0${canonicalArguments}`).digest('base64url');
}

/** A running call that can stand still between two requests of its host. */
class SuspendableCall<T, L> {
  readonly #abort = new AbortController();
  readonly #result: Promise<T>;
  readonly #questions = new Map<string, Question>();
  #count = 0;
  #onQuestion: (() => void) | undefined;
  #leg: L;

  constructor(run: (ask: AskHost, signal: AbortSignal, leg: () => L) => Promise<T>, leg: L) {
    this.#leg = leg;
    const ask: AskHost = (method, params, signal) => this.#ask(method, params, signal);
    this.#result = run(ask, this.#abort.signal, () => this.#leg);
    // While nobody waits the failure must not count as unhandled; the next step sees it.
    this.#result.catch(() => undefined);
  }

  cancel(reason: Error): void {
    this.#abort.abort(reason);
    for (const question of this.#questions.values()) question.reject(reason);
    this.#questions.clear();
  }

  answer(answers: Readonly<Record<string, unknown>>, leg: L): void {
    this.#leg = leg;
    for (const [key, answer] of Object.entries(answers)) {
      this.#questions.get(key)?.resolve(answer);
      this.#questions.delete(key);
    }
  }

  /** Waits for the result or for questions. The host's own cancellation ends the call only while that host is connected. */
  async next(
    signal: AbortSignal,
  ): Promise<{ kind: 'done'; result: T } | { kind: 'asks'; inputRequests: InputRequests }> {
    const onAbort = (): void => this.cancel(new Error('The host cancelled the call.'));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const asked = this.#asked().then(() => ({ kind: 'asks' as const, inputRequests: this.#openQuestions() }));
      const done = this.#result.then((result) => ({ kind: 'done' as const, result }));
      return await Promise.race([done, asked]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #ask(method: HostRequestMethod, params: object, signal: AbortSignal): Promise<unknown> {
    this.#count += 1;
    const key = `input${this.#count}`;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#questions.delete(key);
        reject(signal.reason);
      };
      const settled =
        <V>(settle: (value: V) => void) =>
        (value: V): void => {
          signal.removeEventListener('abort', onAbort);
          settle(value);
        };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#questions.set(key, { method, params, resolve: settled(resolve), reject: settled(reject) });
      this.#onQuestion?.();
    });
  }

  /** Resolves when something is to be asked, a moment later, so that questions of one round travel together. */
  async #asked(): Promise<void> {
    if (this.#questions.size === 0) {
      await new Promise<void>((resolve) => {
        this.#onQuestion = resolve;
      });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  #openQuestions(): InputRequests {
    return Object.fromEntries([...this.#questions].map(([key, { method, params }]) => [key, { method, params }]));
  }
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
