/** A handler that always answers. */

import { check, checkFunction, checkObject } from '../check.js';
import { tell } from '../tell.js';
import type { Meta, ToolResult } from '../types.js';
import { isObject, read } from './classify-error.js';
import { fromError } from './from-error.js';

/** What the log hears of a failure; the model hears only the id. */
export interface GuardedFailure {
  readonly error: unknown;
  readonly correlationId: string;
  /** The tool's name, if it was given. */
  readonly tool: string | undefined;
}

export interface GuardToolOptions {
  /** The whole error, for the log. Default: `console.error`. What it throws, or rejects with, is ignored. */
  readonly onError?: (failure: GuardedFailure) => unknown;
  readonly tool?: string;
  /** Default: `crypto.randomUUID`. */
  readonly newId?: () => string;
  /** Milliseconds since the epoch, for `Retry-After` dates. Default `Date.now`. */
  readonly now?: () => number;
  /**
   * Errors that are not for the model and are thrown on. Default: those of the protocol itself (JSON-RPC codes -32020 to
   * -32099, such as a URL elicitation), which the SDK turns into messages to the client.
   */
  readonly passThrough?: (error: unknown) => boolean;
}

/**
 * Wraps `handler` so that whatever it throws becomes an error result of {@link fromError}, with a correlation id that
 * reaches `onError` together with the error.
 *
 * @example
 * ```ts
 * server.registerTool('load', config, guardTool(async ({ id }) => success(await api.load(id)), { tool: 'load', onError: log }));
 * ```
 */
export function guardTool<Args extends unknown[], Result>(
  handler: (...args: Args) => Result | Promise<Result>,
  options: GuardToolOptions = {},
): (...args: Args) => Promise<Result | (ToolResult & { _meta: Meta })> {
  check(typeof handler === 'function', 'guardTool: handler', 'a function');
  checkObject(options, 'guardTool: options');
  for (const name of ['onError', 'newId', 'now', 'passThrough'] as const)
    checkFunction(options[name], `guardTool: ${name}`);
  const { passThrough = isProtocolError, now, newId = () => crypto.randomUUID() } = options;
  return async (...args) => {
    try {
      return await handler(...args);
    } catch (error) {
      if (passThrough(error)) throw error;
      const correlationId = idFrom(newId);
      tell<GuardedFailure>(options.onError ?? logToConsole, { error, correlationId, tool: options.tool });
      return fromError(error, { correlationId, ...(now ? { now } : {}) });
    }
  };
}

/** A failure without an id is still one to answer. */
function idFrom(newId: () => string): string {
  try {
    return newId();
  } catch {
    return 'none';
  }
}

function logToConsole({ error, correlationId, tool }: GuardedFailure): void {
  // On stdio servers, stdout carries the protocol; this is stderr.
  console.error(`Tool ${tool ?? 'handler'} failed (correlation id ${correlationId})`, error);
}

function isProtocolError(error: unknown): boolean {
  const code = isObject(error) ? read(error, 'code') : undefined;
  return typeof code === 'number' && code <= -32020 && code >= -32099;
}
