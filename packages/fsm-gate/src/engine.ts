/** Finds XState where it is installed. Gating never depends on it; `init()` uses it to prove that the engine accepts a config. */

/** The two functions that a flat config is tried with. */
export interface XStateLike {
  createMachine(config: unknown): unknown;
  createActor(machine: unknown): { start(): unknown; stop(): unknown; getSnapshot(): { readonly value: unknown } };
}

let loaded: Promise<XStateLike | undefined> | undefined;

/** The module, or `undefined` where it is not installed. A failure is not remembered: installing it later is noticed. */
export function loadXState(): Promise<XStateLike | undefined> {
  loaded ??= importXState();
  return loaded;
}

/**
 * Loads `xstate` ahead of the first use.
 *
 * @returns whether it is installed. Gating is the same either way.
 */
export async function initFsmEngine(): Promise<boolean> {
  return (await loadXState()) !== undefined;
}

/** Forgets the loaded module, so that the next use imports it again. For tests. */
export function resetXStateCache(): void {
  loaded = undefined;
}

async function importXState(): Promise<XStateLike | undefined> {
  try {
    // The cast narrows a module whose own types would force every user to install the peer.
    return (await import('xstate')) as unknown as XStateLike;
  } catch {
    loaded = undefined;
    return undefined;
  }
}
