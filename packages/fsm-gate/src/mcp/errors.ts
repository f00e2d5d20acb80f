/** What can go wrong between a gate and an SDK server. */

/** Why a gate could not be attached, or could not judge a request. */
export type GateAttachErrorCode =
  /** The argument is no MCP server. */
  | 'NOT_A_SERVER'
  /** The SDK keeps its handlers in another way than this version of the gate knows; attaching would protect nothing. */
  | 'UNSUPPORTED_SDK'
  /** The server has a gate. */
  | 'ALREADY_ATTACHED'
  /** An option is wrong. */
  | 'OPTION_INVALID'
  /** The registered tools and the bindings contradict each other. */
  | 'GATE_UNSOUND'
  /** The session's state could not be read, so nothing is listed or run. */
  | 'STATE_UNAVAILABLE';

/** Thrown by `attachGate`, and answered to requests that cannot be judged. */
export class GateAttachError extends Error {
  override readonly name: string = 'GateAttachError';
  readonly code: GateAttachErrorCode;

  constructor(code: GateAttachErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * A refusal on its way to the wire, for methods whose results have no `isError`. Both SDKs send an error's integer `code` and
 * its `data` as they are.
 */
export class GateRpcError extends Error {
  override readonly name: string = 'GateRpcError';
  /** JSON-RPC "invalid params": the request is well formed, its target is not there now. */
  readonly code: number = -32602;
  readonly data: unknown;

  constructor(message: string, data: unknown, options?: ErrorOptions) {
    super(message, options);
    this.data = data;
  }
}
