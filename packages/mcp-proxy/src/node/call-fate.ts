/** Tells from an error whether the request reached the upstream: only then is it dangerous to send it again. */
import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { connectionErrorCode } from '../errors.js';

/**
 * `not-sent`: it never left. `lost`: it left, or may have, and no answer came. `timeout`: no answer in time. `sign-in`: the server
 * wants credentials. `answered`: the upstream's own word.
 */
export type CallFate = 'not-sent' | 'lost' | 'timeout' | 'sign-in' | 'answered';

/** Socket errors before any byte of a request can have left. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Classifies what the SDK, `fetch` or our own transports threw for one request. */
export function callFate(error: unknown): CallFate {
  const known = connectionErrorCode(error);
  if (known) return known === 'NOT_SENT' ? 'not-sent' : 'lost';
  if (error instanceof SdkHttpError) return httpFate(error.status);
  if (error instanceof SdkError) {
    switch (error.code) {
      case SdkErrorCode.NotConnected:
        return 'not-sent';
      case SdkErrorCode.ConnectionClosed:
      case SdkErrorCode.SendFailed:
        return 'lost';
      case SdkErrorCode.RequestTimeout:
        return 'timeout';
      default:
        return 'answered';
    }
  }
  if (error instanceof Error && error.name === 'UnauthorizedError') return 'sign-in';
  if (error instanceof Error && error.message === 'Not connected') return 'not-sent';
  const socket = socketCode(error);
  if (socket !== undefined) return NEVER_CONNECTED.has(socket) ? 'not-sent' : 'lost';
  // `fetch` throws a TypeError for everything that happens on the network.
  return error instanceof TypeError && /fetch failed|terminated/.test(error.message) ? 'lost' : 'answered';
}

function httpFate(status: number): CallFate {
  // 404 on a session means that the server has forgotten it, and has not looked at the request.
  if (status === 404) return 'not-sent';
  if (status === 401) return 'sign-in';
  return status === 502 || status === 504 ? 'lost' : 'answered';
}

/** The system's code of a network error, wherever in the chain of causes it is. */
function socketCode(error: unknown): string | undefined {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; depth += 1) {
    if (
      'code' in current &&
      typeof current.code === 'string' &&
      /^(?:E[A-Z]+|EAI_AGAIN|UND_ERR_[A-Z_]+)$/.test(current.code)
    ) {
      return current.code;
    }
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return undefined;
}
