/** Which session of the gate a request belongs to. */
import type { StateHandles } from './handles.js';
import type { RequestFacts } from './request-facts.js';

/**
 * Maps a request to the key of its session. `undefined`: it belongs to none; bound tools are then refused and the list is shown
 * whole. Lists have no arguments. A `StateKeyError` is told to the model, any other error only to `onError`; both refuse.
 */
export type StateKeyResolver = (request: RequestFacts) => string | undefined | Promise<string | undefined>;

/** The session cannot be told from this call; the message is for the model and says how to get it right. */
export class StateKeyError extends Error {
  override readonly name: string = 'StateKeyError';
  readonly code: 'HANDLE_MISSING' | 'HANDLE_INVALID' | 'HANDLE_EXPIRED';

  constructor(code: 'HANDLE_MISSING' | 'HANDLE_INVALID' | 'HANDLE_EXPIRED', message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The default: the `Mcp-Session-Id` of a legacy session; else the principal; else, where there is no HTTP, the connection.
 * Stateless HTTP without authorization has no key.
 */
export const stateKeyOfSession: StateKeyResolver = (request) => {
  if (request.sessionId !== undefined) return sessionKey(request);
  return request.principal === undefined ? request.connectionId : principalKey(request.principal);
};

/** One state for each principal, across their sessions, hosts and protocol eras. */
export const stateKeyOfPrincipal: StateKeyResolver = (request) =>
  request.principal === undefined ? undefined : principalKey(request.principal);

/** The key of a legacy session, which ends with it. */
export function sessionKey(request: RequestFacts): string | undefined {
  return request.sessionId === undefined ? undefined : `session:${request.sessionId}`;
}

/** The key under which a principal's state lives, for `sessions.force`, `reset` and `inspect`. */
export function principalKey(principal: string): string {
  return `principal:${principal}`;
}

/**
 * The session is named by a tool argument that holds a handle of `createStateHandles` (a `basket_id`): the way of the
 * 2026-07-28 protocol to keep state across calls. Every bound tool must have the argument in its schema.
 *
 * @example
 * ```ts
 * const handles = createStateHandles({ key: process.env.HANDLE_KEY ?? '', purpose: 'basket' });
 * attachGate(server, sessions, { stateKey: stateKeyOfArgument('basket_id', handles) });
 * ```
 */
export function stateKeyOfArgument(argument: string, handles: StateHandles): StateKeyResolver {
  return async (request) => {
    if (request.name === undefined) return undefined;
    const handle = Object.hasOwn(request.arguments, argument) ? request.arguments[argument] : undefined;
    if (typeof handle !== 'string' || handle === '') {
      throw new StateKeyError(
        'HANDLE_MISSING',
        `Nothing was run: the argument "${argument}" is missing. Pass the ${argument} that an earlier call returned.`,
      );
    }
    const check = await handles.verify(handle, { principal: request.principal });
    switch (check.kind) {
      case 'valid':
        return check.key;
      case 'expired':
        throw new StateKeyError(
          'HANDLE_EXPIRED',
          `Nothing was run: this ${argument} has expired. Begin again and use the new ${argument}.`,
        );
      case 'invalid':
        throw new StateKeyError(
          'HANDLE_INVALID',
          `Nothing was run: "${argument}" is no valid ${argument} of yours. Pass exactly what an earlier call returned.`,
        );
      default:
        return check satisfies never;
    }
  };
}

/** Asks one resolver after the other; the first key wins. */
export function firstStateKey(...resolvers: readonly StateKeyResolver[]): StateKeyResolver {
  return async (request) => {
    for (const resolve of resolvers) {
      const key = await resolve(request);
      if (key !== undefined) return key;
    }
    return undefined;
  };
}
