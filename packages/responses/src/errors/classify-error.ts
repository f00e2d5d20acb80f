/** What kind of failure a thrown value is, told by the conventions of the platform. */
import type { ErrorCode } from './error-types.js';
import { retryAfterSeconds } from './retry-after.js';

/** A failure in our own words: nothing of the thrown value's text is in it. */
export interface KnownFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly suggestion: string;
  readonly details?: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly retryAfter?: number;
}

const DEEPEST_CAUSE = 5;

/**
 * The failure behind `error`: an abort, a timeout, an HTTP status (`status`, `statusCode`, `response.status`, a
 * `Response`), an `errno` code; of the error itself or of its causes. `undefined` if it is none of them.
 */
export function classifyError(error: unknown, nowMs: number): KnownFailure | undefined {
  let current = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && isObject(current); depth++) {
    const known = ofAbort(current) ?? ofStatus(current, nowMs) ?? ofErrno(read(current, 'code'));
    if (known) return known;
    const errors = read(current, 'errors');
    current = read(current, 'cause') ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

function ofAbort(error: object): KnownFailure | undefined {
  const name = read(error, 'name');
  const code = read(error, 'code');
  if (name === 'TimeoutError') return TIMEOUT;
  if (name === 'AbortError' || code === 'ABORT_ERR' || code === 'ERR_CANCELED') {
    return {
      code: 'CANCELLED',
      message: 'The call was cancelled before it was done.',
      suggestion: 'Call again if the result is still wanted.',
    };
  }
  return undefined;
}

const TIMEOUT: KnownFailure = {
  code: 'TIMEOUT',
  message: 'It took too long and was given up.',
  suggestion: 'Try once more; if it fails again, ask for less at a time.',
};

function ofStatus(error: object, nowMs: number): KnownFailure | undefined {
  const response = read(error, 'response');
  const status = [error, response].flatMap((source) =>
    isObject(source) ? [read(source, 'status'), read(source, 'statusCode')] : [],
  );
  const code = status.find((value): value is number => typeof value === 'number' && value >= 400 && value <= 599);
  if (code === undefined) return undefined;
  const headers = read(error, 'headers') ?? (isObject(response) ? read(response, 'headers') : undefined);
  const retryAfter = readRetryAfter(headers, nowMs);
  return {
    ...(STATUSES[code] ?? (code < 500 ? STATUSES[400]! : STATUSES[500]!)),
    details: { http_status: String(code) },
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

function readRetryAfter(headers: unknown, nowMs: number): number | undefined {
  try {
    return retryAfterSeconds(headers, nowMs);
  } catch {
    // Headers that cannot be read say nothing.
    return undefined;
  }
}

const STATUSES: Readonly<Record<number, KnownFailure>> = {
  400: {
    code: 'VALIDATION_ERROR',
    message: 'The service refused the request as invalid.',
    suggestion: 'Check the arguments and call again.',
  },
  401: {
    code: 'UNAUTHORIZED',
    message: 'The service did not accept the credentials.',
    suggestion: 'Ask the user to sign in again.',
  },
  403: {
    code: 'FORBIDDEN',
    message: 'The service does not allow this.',
    suggestion: 'Do not retry; tell the user which permission is missing.',
  },
  404: {
    code: 'NOT_FOUND',
    message: 'The service has nothing there.',
    suggestion: 'Check the id, or list what exists first.',
  },
  408: TIMEOUT,
  409: {
    code: 'CONFLICT',
    message: 'It conflicts with the present state.',
    suggestion: 'Read the present state, then decide again.',
  },
  410: { code: 'NOT_FOUND', message: 'It existed once, and is gone.', suggestion: 'List what exists now.' },
  412: {
    code: 'CONFLICT',
    message: 'It has changed in the meantime.',
    suggestion: 'Read the present state, then decide again.',
  },
  413: { code: 'VALIDATION_ERROR', message: 'The request was too large.', suggestion: 'Send less at a time.' },
  422: {
    code: 'VALIDATION_ERROR',
    message: 'The service could not process the values.',
    suggestion: 'Check the arguments and call again.',
  },
  429: { code: 'RATE_LIMITED', message: 'There were too many requests.', suggestion: 'Wait before the next call.' },
  500: {
    code: 'INTERNAL_ERROR',
    message: 'The service failed.',
    suggestion: 'Try once more; if it fails again, tell the user.',
  },
  502: { code: 'UNREACHABLE', message: 'The service could not be reached.', suggestion: 'Try again a little later.' },
  503: { code: 'SERVER_BUSY', message: 'The service is not available now.', suggestion: 'Try again a little later.' },
  504: TIMEOUT,
};

function ofErrno(code: unknown): KnownFailure | undefined {
  if (typeof code !== 'string' || !/^[A-Z][A-Z_]{2,40}$/.test(code)) return undefined;
  const kind = ERRNOS.find(({ codes }) => codes.includes(code));
  return kind && { ...kind.failure, details: { errno: code } };
}

const ERRNOS: readonly { readonly codes: readonly string[]; readonly failure: KnownFailure }[] = [
  {
    codes: ['ENOENT', 'ENOTDIR'],
    failure: { code: 'NOT_FOUND', message: 'There is no such file or folder.', suggestion: 'List what exists first.' },
  },
  {
    codes: ['EACCES', 'EPERM', 'EROFS'],
    failure: {
      code: 'FORBIDDEN',
      message: 'The system does not permit this.',
      suggestion: 'Do not retry; tell the user.',
    },
  },
  {
    codes: ['EEXIST', 'ENOTEMPTY', 'EISDIR'],
    failure: {
      code: 'CONFLICT',
      message: 'Something else is there already.',
      suggestion: 'Use another name, or remove what is there.',
    },
  },
  {
    codes: [
      'ETIMEDOUT',
      'ESOCKETTIMEDOUT',
      'UND_ERR_CONNECT_TIMEOUT',
      'UND_ERR_HEADERS_TIMEOUT',
      'UND_ERR_BODY_TIMEOUT',
    ],
    failure: TIMEOUT,
  },
  {
    codes: [
      'ECONNREFUSED',
      'ECONNRESET',
      'ECONNABORTED',
      'EPIPE',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'ENOTFOUND',
      'EAI_AGAIN',
      'UND_ERR_SOCKET',
    ],
    failure: {
      code: 'UNREACHABLE',
      message: 'The service could not be reached.',
      suggestion: 'Try again a little later.',
    },
  },
  {
    codes: ['EMFILE', 'ENFILE', 'ENOSPC', 'EBUSY', 'EAGAIN', 'ENOMEM'],
    failure: {
      code: 'SERVER_BUSY',
      message: 'The server has no room for this now.',
      suggestion: 'Try again a little later.',
    },
  },
];

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A property of something that was thrown, which may be a proxy or have getters that throw: then it has none. */
export function read(target: object, key: PropertyKey): unknown {
  try {
    return Reflect.get(target, key);
  } catch {
    return undefined;
  }
}
