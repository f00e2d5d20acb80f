/** The errors of this package: what a peer refused with, and why an era cannot be told. */
import type { EraEvidence, EraVerdict, UndeterminedReason } from './verdict.js';

/** A JSON-RPC error received from a peer. */
export class MCPProtocolError extends Error {
  override readonly name: string = 'MCPProtocolError';
  declare readonly code: number;
  declare readonly data?: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * An HTTP answer that carries no JSON-RPC result: any status that is no success, and a success whose body is no
 * JSON-RPC message. Header names are lower case. `bodyText` may have been cut at the probe's body cap.
 */
export class MCPHttpStatusError extends Error {
  override readonly name: string = 'MCPHttpStatusError';
  declare readonly status: number;
  declare readonly bodyText: string;
  declare readonly headers: Record<string, string>;

  constructor(status: number, bodyText: string, headers: Record<string, string> = {}) {
    super(`HTTP ${status}`);
    this.status = status;
    this.bodyText = bodyText;
    this.headers = headers;
  }
}

/**
 * The peer's era cannot be told from what came back. Never cached.
 *
 * `code` is `ERA_` and the reason's kind: `ERA_SIGN_IN_NEEDED`, `ERA_UNAVAILABLE`, `ERA_REDIRECTED`, `ERA_NOT_MCP`,
 * `ERA_VERSIONS_DISJOINT`. `reason` has the particulars (the sign-in challenge, when to try again, …), `evidence` what
 * was sent and received, `cause` the error it started from.
 */
export class EraUndeterminedError extends Error {
  override readonly name: string = 'EraUndeterminedError';
  declare readonly code: string;
  declare readonly reason: UndeterminedReason;
  declare readonly evidence: EraEvidence;

  constructor(serverName: string, { reason, evidence }: UndeterminedVerdict, cause?: unknown) {
    const lists = 'offered' in reason ? `: offers ${reason.offered}; we speak ${reason.spoken}` : '';
    super(`${serverName}: ${evidence.rule} (${evidence.received})${lists}`, { cause });
    this.code = `ERA_${reason.kind.toUpperCase().replace(/-/g, '_')}`;
    this.reason = reason;
    this.evidence = evidence;
  }
}

type UndeterminedVerdict = Extract<EraVerdict, { kind: 'undetermined' }>;
