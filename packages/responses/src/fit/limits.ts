/** How large an answer may be, and how its size is measured. */
import { check } from '../check.js';
import { checkedCounter } from '../compact/check-counter.js';
import { type CountTokens, estimateTokens } from '../compact/estimate-tokens.js';
import { asResponseError } from '../response-error.js';
import type { AnyContentBlock, AnyToolResult } from '../types.js';

/** Limits of one answer; all that are given hold at once. */
export interface Limits {
  /** Tokens of all text, by `countTokens`. At least 50. */
  readonly maxTokens?: number;
  /** UTF-16 units of all text, as hosts count characters. At least 200. */
  readonly maxChars?: number;
  /** UTF-8 bytes of all text, and of base64 content. At least 200. */
  readonly maxBytes?: number;
  /** Stands in for `maxChars` in an error. At least 200. */
  readonly maxErrorChars?: number;
  /** Default {@link estimateTokens}. */
  readonly countTokens?: CountTokens;
  /** Share of every limit that stays free, from 0 (default) to 0.9: counters of hosts differ from ours. The least holds for what remains. */
  readonly reserve?: number;
  /** Key of `_meta` by which a result raises `maxChars` for itself, and with it the limit of tokens. */
  readonly raisedBy?: string;
}

/**
 * What hosts are known to let through. `claude-code` caps a tool's output at 25,000 tokens, moves what is longer than
 * 50,000 characters out of the conversation, cuts errors near 11,000, and lets a result ask for more in `_meta`.
 * `conservative` is for hosts of which nothing is known.
 */
export const hostLimits: { readonly 'claude-code': Limits; readonly conservative: Limits } = {
  'claude-code': {
    maxTokens: 25_000,
    maxChars: 50_000,
    maxErrorChars: 10_000,
    reserve: 0.1,
    raisedBy: 'anthropic/maxResultSizeChars',
  },
  conservative: { maxTokens: 8_000, maxChars: 30_000, maxErrorChars: 5_000, reserve: 0.1 },
};

/** Whether content, and the structured twin of its text, may be sent. */
export type Fits = (content: readonly AnyContentBlock[], structured: unknown) => boolean;

/** The measure for `result`. @throws ResponseError `INVALID_OPTION` for a limit that no answer could meet */
export function fitsWithin(limits: Limits, result: AnyToolResult): Fits {
  const free = 1 - reserveOf(limits);
  const raised = limits.raisedBy === undefined ? undefined : result._meta?.[limits.raisedBy];
  const isRaised = typeof raised === 'number' && limits.maxChars !== undefined && raised > limits.maxChars;
  const least = { maxTokens: 50, maxChars: 200, maxBytes: 200, maxErrorChars: 200 };
  const limit = (name: keyof typeof least): number => {
    const value = limits[name];
    if (value === undefined) return Number.POSITIVE_INFINITY;
    const kept = free < 1 ? ` less the reserve of ${limits.reserve}` : '';
    const isEnough = typeof value === 'number' && value * free >= least[name];
    check(isEnough, `fit: ${name} is ${String(value)}${kept}; it`, `a number from ${least[name]} up`);
    return value * free;
  };
  const maxTokens = isRaised ? Number.POSITIVE_INFINITY : limit('maxTokens');
  const ownChars = isRaised ? raised * free : limit('maxChars');
  const maxErrorChars = limit('maxErrorChars');
  const maxChars = result.isError ? Math.min(ownChars, maxErrorChars) : ownChars;
  const maxBytes = limit('maxBytes');
  const isLimited = [maxTokens, maxChars, maxBytes, maxErrorChars].some(Number.isFinite);
  check(isLimited, 'fit: one of maxTokens, maxChars, maxBytes', 'given');
  const countTokens = checkedCounter(limits.countTokens ?? estimateTokens, 'fit');

  const textsFit = (texts: readonly string[], binaryBytes: number): boolean => {
    const chars = texts.reduce((sum, text) => sum + text.length, 0);
    // Cheap bounds first: a byte holds a character at most, and no token is as long as 200 characters on average.
    if (chars > maxChars || chars + binaryBytes > maxBytes || chars > maxTokens * 200) return false;
    if (maxBytes < Number.POSITIVE_INFINITY && sum(texts, utf8Length) + binaryBytes > maxBytes) return false;
    return maxTokens === Number.POSITIVE_INFINITY || sum(texts, countTokens) <= maxTokens;
  };
  return (content, structured) =>
    textsFit(content.flatMap(textsOf), sum(content, binaryLength)) &&
    (structured === undefined || textsFit([jsonOf(structured)], 0));
}

function jsonOf(structured: unknown): string {
  try {
    return JSON.stringify(structured) ?? '';
  } catch (cause) {
    throw asResponseError(cause, '$.structuredContent');
  }
}

function reserveOf({ reserve = 0 }: Limits): number {
  const isShare = typeof reserve === 'number' && reserve >= 0 && reserve <= 0.9;
  check(isShare, `fit: reserve is ${String(reserve)}; it`, 'a share from 0 to 0.9');
  return reserve;
}

function textsOf(block: AnyContentBlock): string[] {
  switch (block.type) {
    case 'text':
      return [block.text];
    case 'resource_link':
      return [block.uri, block.name, block.title ?? '', block.description ?? ''];
    case 'resource':
      return 'text' in block.resource ? [block.resource.uri, block.resource.text] : [block.resource.uri];
    default:
      return [];
  }
}

/** Characters of base64, which are bytes on the wire. */
export function binaryLength(block: AnyContentBlock): number {
  if (block.type === 'image' || block.type === 'audio') return block.data.length;
  return block.type === 'resource' && 'blob' in block.resource ? block.resource.blob.length : 0;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
