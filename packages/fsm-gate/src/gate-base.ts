/** What every gate of one session does, whatever its machine: it stands at a snapshot, filters by it, and tells when it moves. */
import { isPending } from './awaitable.js';
import type { GateEvent, GateModel } from './model.js';
import type { FsmSnapshot, TransitionResult } from './snapshot.js';

/** Options of a gate. */
export interface GateOptions {
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /** Gets what a callback threw; the other callbacks and the transition are not disturbed. Default `console.error`. */
  readonly onError?: (error: unknown) => void;
}

/** One session's gate over a model. */
export abstract class GateBase {
  protected readonly now: () => number;
  protected readonly options: GateOptions;
  protected at: FsmSnapshot;
  #callbacks: readonly { readonly call: () => void }[] = [];

  /** The machine and the bindings as pure functions, apart from this gate's current state. */
  abstract readonly model: GateModel;

  constructor(start: (now: number) => FsmSnapshot, options: GateOptions) {
    this.options = options;
    this.now = options.now ?? Date.now;
    this.at = start(this.now());
  }

  /** Whether any tool is bound. */
  get hasBindings(): boolean {
    return this.model.bindings.size > 0;
  }

  /** Whether the tool exists now. A tool that was never bound always does. */
  isToolAllowed(toolName: string): boolean {
    return !this.model.closedTools(this.at).has(toolName);
  }

  /** The names that exist now, in the given order. */
  getVisibleToolNames(toolNames: readonly string[]): string[] {
    const closed = this.model.closedTools(this.at);
    return toolNames.filter((name) => !closed.has(name));
  }

  /**
   * Calls back after each change of the state, in the order of registration.
   *
   * @returns the unsubscribe function.
   */
  onTransition(callback: () => void): () => void {
    const entry = { call: callback };
    this.#callbacks = [...this.#callbacks, entry];
    return () => {
      this.#callbacks = this.#callbacks.filter((other) => other !== entry);
    };
  }

  /** A fresh, JSON-safe copy of where the gate stands. */
  snapshot(): FsmSnapshot {
    return { ...this.at };
  }

  /** Forgets the callbacks. The gate goes on working. */
  dispose(): void {
    this.#callbacks = [];
  }

  protected move(event: GateEvent): TransitionResult {
    const before = this.at;
    const { snapshot, effects } = this.model.step(before, event, this.now());
    this.at = snapshot;
    const changed = snapshot.state !== before.state;
    if (effects) this.#guarded(effects);
    if (changed) this.#announce();
    return { changed, previousState: before.state, currentState: snapshot.state };
  }

  protected report(error: unknown): void {
    (this.options.onError ?? console.error)(error);
  }

  #announce(): void {
    for (const entry of this.#callbacks) {
      // This loop sees the list as it was when it began; one that was removed meanwhile is skipped.
      if (this.#callbacks.includes(entry)) this.#guarded(entry.call);
    }
  }

  #guarded(call: () => unknown): void {
    try {
      const answer = call();
      // An async callback's rejection must not become an unhandled one.
      if (isPending(answer)) answer.then(undefined, (error) => this.report(error));
    } catch (error) {
      this.report(error);
    }
  }
}
