/** Whether an error may mean that the server speaks the other era. Pure. */
import { classifyModernHttpFailure, isRecognizedModernError } from '../classify.js';
import { MCPHttpStatusError, MCPProtocolError } from '../errors.js';
import { isObject } from '../is-object.js';
import type { McpEra } from '../types.js';

/** Codes with which legacy servers refuse what a modern client sends: not initialized, no session, no such method. */
const LEGACY_REFUSALS: readonly unknown[] = [-32000, -32001, -32600, -32601];
const METHOD_NOT_FOUND = -32601;

export interface MismatchContext {
  /** The era in which the failed request was sent. */
  readonly era: McpEra['kind'];
  /** Whether it was the connection's opening, where a modern server may not even know `initialize`. */
  readonly opening: boolean;
}

/** A suspicion only: asking again decides. */
export function mayBeMismatch(error: unknown, { era, opening }: MismatchContext): boolean {
  const { code, status } = readFailure(error);
  const modern = provesModern(error);
  if (era === 'legacy') return modern || (opening && (code === METHOD_NOT_FOUND || isFallback(status)));
  return !modern && (isFallback(status) || LEGACY_REFUSALS.includes(code));
}

/** Whether an operation that failed so in `era` did nothing: it was refused for its era, or never sent. */
export function wasNotCarriedOut(error: unknown, era: McpEra['kind']): boolean {
  return mayBeMismatch(error, { era, opening: false }) || readFailure(error).code === 'NOT_CONNECTED';
}

/** Whether only a modern server refuses so. */
export function provesModern(error: unknown): boolean {
  const { code, status, body } = readFailure(error);
  if (isRecognizedModernError({ code })) return true;
  return isFallback(status) && classifyModernHttpFailure(status, body).kind === 'modern';
}

/** Whether a legacy opening was refused as servers of the older HTTP+SSE transport do. */
export function wantsSse(error: unknown): boolean {
  return isFallback(readFailure(error).status) && !provesModern(error);
}

/** The statuses after which a client may fall back to an older way. */
const isFallback = (status: number | undefined): status is number =>
  status !== undefined && [400, 404, 405].includes(status);

/** JSON-RPC code, HTTP status and body, from the error classes of both SDK generations. */
function readFailure(error: unknown): { code?: unknown; status?: number | undefined; body: string } {
  if (!isObject(error)) return { body: '' };
  const { code, data, message } = error;
  const status = [isObject(data) ? data.status : undefined, error.status, code].find(
    (value): value is number => Number.isInteger(value) && (value as number) >= 100 && (value as number) < 600,
  );
  const text = isObject(data) && typeof data.text === 'string' ? data.text : `${message ?? ''}`;
  // 1.x keeps the body at the end of its message only.
  return { code, status, body: text.slice(Math.max(0, text.indexOf('{'))) };
}

/** A refusal as the answer of a probe, where it is one that legacy servers give to any modern request. */
export function asProbeError(error: unknown): Error | undefined {
  if (!mayBeMismatch(error, { era: 'modern', opening: false })) return undefined;
  const { code, status, body } = readFailure(error);
  return status === undefined
    ? new MCPProtocolError(code as number, String(error))
    : new MCPHttpStatusError(status, body);
}
