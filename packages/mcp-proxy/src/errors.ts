/** The errors of the proxy. Every one has a stable `code`, and a message that names the thing, the reason and the way out. */

export type McpConnectionErrorCode = 'NOT_SENT' | 'CONNECTION_LOST';

/**
 * Thrown by an `IMcpServer` when the connection, not the upstream's answer, is at fault.
 *
 * `NOT_SENT`: the request never left, a second attempt on a new connection is always safe. `CONNECTION_LOST`: it left and no
 * answer came; it is repeated only for tools that are declared idempotent. Recognised by `code`, so that an error of another
 * copy of this package, or a plain `Error` with that `code`, counts too.
 */
export class McpConnectionError extends Error {
  override readonly name = 'McpConnectionError';
  readonly code: McpConnectionErrorCode;

  constructor(code: McpConnectionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type McpProxyErrorCode =
  /** The options or the specs given to the constructor do not fit together. */
  | 'INVALID_OPTIONS'
  /** A call was refused by the allow-list, the pins or the approval hook. */
  | 'CALL_REFUSED'
  /** The server could not be reached, or the call failed there. */
  | 'CALL_FAILED'
  /** No server has the given name or resource id. */
  | 'UNKNOWN_SERVER'
  /** What a pin store holds is no set of pins. */
  | 'PINS_UNREADABLE';

/** Thrown where the proxy is called from code: the constructor, and `IMcpToolHandle.call`. Tool answers are never thrown. */
export class McpProxyError extends Error {
  override readonly name = 'McpProxyError';
  readonly code: McpProxyErrorCode;

  constructor(code: McpProxyErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The connection error code of anything that was thrown; undefined when the connection was not at fault. */
export function connectionErrorCode(error: unknown): McpConnectionErrorCode | undefined {
  const code = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return code === 'NOT_SENT' || code === 'CONNECTION_LOST' ? code : undefined;
}
