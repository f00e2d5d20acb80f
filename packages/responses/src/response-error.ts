/** What the builders throw when a result could not be built faithfully; nothing was sent when it is thrown. */

/**
 * - `NOT_JSON`: the data holds something that JSON cannot carry without loss.
 * - `TOO_DEEP`, `TOO_LARGE`: nested deeper, or longer, than can be serialised.
 * - `UNREADABLE`: reading the data threw (a getter, a proxy, a `toJSON`; see `cause`), or gave something else each time.
 * - `SERIALIZER_FAILED`: the `StringifyFn` threw or gave no text.
 * - `SCHEMA_MISMATCH`: the data is not what the schema says.
 * - `SCHEMA_INVALID`: the schema cannot be used.
 * - `DATA_DROPPED`: the schema would remove data.
 * - `INVALID_CONTENT`: a content block would be refused by clients.
 * - `INVALID_OPTION`: an option of a helper has no usable value.
 * - `CURSOR_INVALID`: a pagination cursor that we did not issue for this list.
 */
export type ResponseErrorCode =
  | 'NOT_JSON'
  | 'TOO_DEEP'
  | 'TOO_LARGE'
  | 'UNREADABLE'
  | 'SERIALIZER_FAILED'
  | 'SCHEMA_MISMATCH'
  | 'SCHEMA_INVALID'
  | 'DATA_DROPPED'
  | 'INVALID_CONTENT'
  | 'INVALID_OPTION'
  | 'CURSOR_INVALID';

/** Thrown before anything is sent. `code` is stable; `path` names the place in the data, where there is one. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
  readonly code: ResponseErrorCode;
  readonly path: string | undefined;

  constructor(code: ResponseErrorCode, message: string, options: { path?: string; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.path = options.path;
  }
}

/**
 * Runs `build` so that only {@link ResponseError}s come out: whatever else is thrown came from reading the data (a getter,
 * a proxy, one that answers differently each time), or from data that is too deep or too large.
 */
export function typed<T>(build: () => T): T {
  try {
    return build();
  } catch (cause) {
    throw asResponseError(cause, '$');
  }
}

export function asResponseError(cause: unknown, path: string): ResponseError {
  if (cause instanceof ResponseError) return cause;
  if (cause instanceof RangeError && /string length/i.test(cause.message)) {
    return new ResponseError('TOO_LARGE', 'The data is too large for one text. Send a page of it, or a link.', {
      cause,
    });
  }
  if (cause instanceof RangeError) {
    return new ResponseError('TOO_DEEP', 'The data is nested too deep to be serialised. Flatten it or send a part.', {
      cause,
    });
  }
  return new ResponseError('UNREADABLE', `Reading ${path} threw. Copy the data into plain objects first.`, {
    path,
    cause,
  });
}

/** For data that was not the same when it was written as when it was checked. */
export function changed(path: string): ResponseError {
  return new ResponseError(
    'UNREADABLE',
    `Reading ${path} gave something else the second time (a getter or a proxy?). Copy the data into plain objects first.`,
    { path },
  );
}
