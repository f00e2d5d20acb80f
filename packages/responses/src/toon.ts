/** A plain answer in TOON, the notation that spends fewest tokens on uniform rows. */

import { decode, type EncodeOptions, encode } from '@toon-format/toon';
import { brand } from './brand.js';
import { checkObject } from './check.js';
import { rememberCodec } from './compact/codec.js';
import { stringify } from './json/stringify.js';
import type { ToolResult } from './types.js';

/**
 * Answers with `data` in TOON, columns divided by `|` unless told otherwise. Where TOON says nothing (`{}`), or cannot
 * say it (a lone surrogate, a cycle of options), the text is compact JSON. It spends fewer tokens than JSON on rows and
 * more on nested data: `compact` measures and chooses.
 *
 * @throws ResponseError as `success` does, for what JSON cannot carry either
 * @example
 * ```ts
 * toonSuccess([{ id: 1, name: 'Ann' }, { id: 2, name: 'Bo' }]);
 * // [2|]{id|name}:
 * //   1|Ann
 * //   2|Bo
 * ```
 */
export function toonSuccess(data: unknown, options?: EncodeOptions): ToolResult {
  if (options !== undefined) checkObject(options, 'toonSuccess: options');
  const settings: EncodeOptions = { delimiter: '|', ...options };
  const text = tryToon(data, settings);
  if (!text) return brand({ content: [{ type: 'text', text: stringify(data) || 'OK' }] });
  const result = brand<ToolResult>({ content: [{ type: 'text', text }] });
  rememberCodec(result, toonCodec(settings));
  return result;
}

function tryToon(data: unknown, options: EncodeOptions): string | undefined {
  if (data === undefined) return undefined;
  try {
    return encode(data, options);
  } catch {
    // What TOON refuses, JSON may still carry; if it cannot either, the caller gets JSON's error, with its path.
    return undefined;
  }
}

function toonCodec(options: EncodeOptions): { encode(value: unknown): string; decode(text: string): unknown } {
  const { replacer: _appliedAlready, ...plain } = options;
  return {
    encode: (value) => encode(value, plain) || JSON.stringify(value),
    decode: (text) => decode(text, { indentSize: plain.indentSize ?? plain.indent ?? 2 }),
  };
}
