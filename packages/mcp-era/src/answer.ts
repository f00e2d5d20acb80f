/** From a message on the wire to a probe's answer, with the slips of real servers put right. */
import { MCPProtocolError } from './errors.js';
import { isObject } from './is-object.js';
import type { McpEraProbeAnswer } from './types.js';

/**
 * What a JSON-RPC message (or the first fitting one of a batch) answers to the request `id`; `undefined` when it answers
 * something else. Without `id`, any response counts.
 *
 * Put right: an error with a null id or none is an answer, for the server could not read ours; `resultType` and `_meta`
 * beside `result` move into it.
 */
export function answerFromMessage(message: unknown, id?: string | number): McpEraProbeAnswer | undefined {
  for (const part of Array.isArray(message) ? message : [message]) {
    if (!isObject(part)) continue;
    const { error, result, resultType, _meta } = part;
    const ours = id === undefined || part.id === id;
    if (isObject(error) && (ours || part.id == null) && Number.isInteger(error.code)) {
      const text = typeof error.message === 'string' ? error.message : '';
      return { kind: 'error', error: new MCPProtocolError(error.code as number, text, error.data) };
    }
    if (ours && 'result' in part) {
      return { kind: 'result', result: isObject(result) ? { resultType, _meta, ...result } : result };
    }
  }
  return undefined;
}
