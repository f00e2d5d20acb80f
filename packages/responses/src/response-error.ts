/** What the builders throw when a result could not be built faithfully; nothing was sent when it is thrown. */

/**
 * - `NOT_JSON`: the data holds something that JSON cannot carry without loss.
 * - `TOO_DEEP`, `TOO_LARGE`: nested deeper, or longer, than can be serialised.
 * - `UNREADABLE`: reading the data threw (a getter, a proxy, a `toJSON`); see `cause`.
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
