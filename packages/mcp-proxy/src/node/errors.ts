/** What the runtime half of the proxy throws: one class per origin of the fault, each with a stable `code`. */

/** Faults of a configuration file or object. */
export type ConfigErrorCode =
  | 'CONFIG_UNREADABLE'
  | 'CONFIG_NOT_JSON'
  | 'CONFIG_INVALID'
  | 'CONFIG_VARIABLE_MISSING'
  | 'CONFIG_UNKNOWN_SERVER';

/** A configuration that cannot be used; the message names the file, the field and what to write instead. */
export class ConfigError extends Error {
  readonly code: ConfigErrorCode;

  constructor(code: ConfigErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConfigError';
    this.code = code;
  }
}

/** Faults of one upstream. */
export type UpstreamErrorCode =
  | 'UPSTREAM_CONNECT_FAILED'
  | 'UPSTREAM_CONNECT_TIMEOUT'
  | 'UPSTREAM_DISABLED'
  | 'UPSTREAM_CLOSED'
  | 'UPSTREAM_EXITED'
  | 'UPSTREAM_CALL_TIMEOUT'
  | 'UPSTREAM_FLOOD'
  | 'UPSTREAM_MESSAGE_TOO_LARGE'
  | 'UPSTREAM_CURSOR_REPEATED'
  | 'UPSTREAM_LIST_TOO_LONG'
  | 'UPSTREAM_LOGIN_REQUIRED'
  | 'UPSTREAM_ADDRESS_REFUSED'
  | 'UPSTREAM_INPUT_REFUSED';

/** Something an upstream did, or a state it is in, that keeps a request from being answered. */
export class UpstreamError extends Error {
  readonly code: UpstreamErrorCode;
  /** The server's name in the configuration. */
  readonly serverName: string;

  constructor(code: UpstreamErrorCode, serverName: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UpstreamError';
    this.code = code;
    this.serverName = serverName;
  }
}

/** Faults of the files that this package keeps (pins, tokens, tool lists). */
export type StateFileErrorCode = 'STATE_FILE_CORRUPT' | 'STATE_FILE_UNREADABLE' | 'STATE_FILE_UNWRITABLE';

/** A file of ours that cannot be trusted or kept; the message names the path and the way out. */
export class StateFileError extends Error {
  readonly code: StateFileErrorCode;
  readonly path: string;

  constructor(code: StateFileErrorCode, path: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StateFileError';
    this.code = code;
    this.path = path;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}
