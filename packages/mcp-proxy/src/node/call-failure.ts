/** Says what became of a request that failed, so that the proxy knows whether to repeat it and a person knows what to do. */
import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { McpConnectionError } from '../errors.js';
import { callFate } from './call-fate.js';
import type { UpstreamConfig } from './config.js';
import { messageOf, UpstreamError } from './errors.js';
import { type RequiredPage, requiredPages } from './required-pages.js';

export interface FailedCall {
  readonly config: UpstreamConfig;
  /** The tool or the method. */
  readonly what: string;
  readonly error: unknown;
  /** Why the connection ended, where that is known better than from the error. */
  readonly cause: unknown;
}

/** The error to throw; what the upstream itself answered stays as it is. */
export function callFailure({ config, what, error, cause }: FailedCall): unknown {
  const { serverName } = config;
  const fate = callFate(error);
  switch (fate) {
    case 'not-sent':
      return new McpConnectionError('NOT_SENT', `${what} did not reach "${serverName}": ${messageOf(cause)}`, {
        cause,
      });
    case 'lost':
      return new McpConnectionError('CONNECTION_LOST', `"${serverName}" was lost during ${what}: ${messageOf(cause)}`, {
        cause,
      });
    case 'timeout':
      return callTimeout(config, what, 'silence', error);
    case 'sign-in':
      return new UpstreamError(
        'UPSTREAM_LOGIN_REQUIRED',
        serverName,
        `Server "${serverName}" wants you to sign in again. Run: mcp-proxy login ${serverName}`,
        { cause: error },
      );
    case 'answered': {
      if (hasCode(error, ProtocolErrorCode.MissingRequiredClientCapability)) return cannotAsk(serverName, what, error);
      const pages = requiredPages(error);
      return pages.length > 0 ? pageFirst(serverName, what, pages, error) : error;
    }
    default:
      return fate satisfies never;
  }
}

/** A call that took longer than it may. */
export function callTimeout(
  config: UpstreamConfig,
  what: string,
  bound: 'silence' | 'total',
  cause?: unknown,
): UpstreamError {
  const { serverName, callTimeoutMs, maxCallMs } = config;
  const detail =
    bound === 'silence'
      ? `gave no sign of life for ${callTimeoutMs} ms (callTimeoutMs; progress extends it)`
      : `was not done after ${maxCallMs} ms (maxCallMs)`;
  const message = `${what} of "${serverName}" ${detail}; it was cancelled.`;
  return new UpstreamError('UPSTREAM_CALL_TIMEOUT', serverName, message, { cause });
}

/** Whether a server refused a method because it has none of that name. */
export function isMethodNotFound(error: unknown): boolean {
  return hasCode(error, ProtocolErrorCode.MethodNotFound);
}

function cannotAsk(serverName: string, what: string, cause: Error): UpstreamError {
  const message = `"${what}" of "${serverName}" needs what the host of this call does not support: ${cause.message}`;
  return new UpstreamError('UPSTREAM_INPUT_REFUSED', serverName, message, { cause });
}

/** For whoever can only read: the address is in the message. */
function pageFirst(serverName: string, what: string, pages: readonly RequiredPage[], cause: unknown): UpstreamError {
  const list = pages.map(({ url, message }) => `${url}${message && ` (${message.slice(0, 200)})`}`).join(', ');
  const text = `"${what}" of "${serverName}" wants a person to visit a page first, and to be called again then: ${list}`;
  return new UpstreamError('UPSTREAM_INPUT_REFUSED', serverName, text, { cause });
}

function hasCode(error: unknown, code: ProtocolErrorCode): error is Error {
  return error instanceof Error && 'code' in error && error.code === code;
}
