/** A counter of tokens that was passed in. */
import { ResponseError } from '../response-error.js';
import type { CountTokens } from './estimate-tokens.js';

/**
 * `countTokens`, whose failures and nonsense become a typed error that names the helper it was passed to: a counter that
 * gives NaN would otherwise make nothing fit.
 */
export function checkedCounter(countTokens: CountTokens, helper: string): CountTokens {
  return (text) => {
    let tokens: unknown;
    try {
      tokens = countTokens(text);
    } catch (cause) {
      throw new ResponseError('INVALID_OPTION', `${helper}: countTokens threw; see the cause.`, { cause });
    }
    if (typeof tokens === 'number' && tokens >= 0) return tokens;
    throw new ResponseError('INVALID_OPTION', `${helper}: countTokens gave ${String(tokens)}; it must give a number.`);
  };
}
