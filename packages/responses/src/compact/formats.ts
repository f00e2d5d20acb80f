/** The notations that `compact` chooses from. */
import { decode, encode } from '@toon-format/toon';
import { decodeTables } from './table-decode.js';
import { DELIMITERS, type DelimiterName, encodeTables } from './table-encode.js';

/** A notation by name; `json` is compact JSON. */
export type CompactFormat = 'json' | `toon-${DelimiterName}` | `table-${DelimiterName}`;

/** One notation. `encode` gives `undefined` where it has nothing to offer for this data. */
export interface Format {
  readonly name: CompactFormat;
  /** Which it is, whatever divides its columns. */
  readonly notation: 'json' | 'toon' | 'table';
  encode(data: unknown): string | undefined;
  decode(text: string): unknown;
}

export const JSON_FORMAT: Format = {
  name: 'json',
  notation: 'json',
  encode: (data) => JSON.stringify(data),
  decode: JSON.parse,
};

/** In the order in which they are preferred when they cost the same. */
export const FORMATS: readonly Format[] = [
  JSON_FORMAT,
  toon('tab'),
  toon('comma'),
  toon('pipe'),
  table('tab'),
  table('comma'),
  table('pipe'),
];

export function formatNamed(name: unknown): Format | undefined {
  return FORMATS.find((format) => format.name === name);
}

function toon(name: DelimiterName): Format {
  const delimiter = DELIMITERS[name];
  return {
    name: `toon-${name}`,
    notation: 'toon',
    encode(data) {
      try {
        // TOON's text of `{}` is empty, which is no answer.
        return encode(data, { delimiter }) || undefined;
      } catch {
        // It refuses some strings (lone surrogates): then it is no candidate.
        return undefined;
      }
    },
    decode: (text) => decode(text),
  };
}

function table(name: DelimiterName): Format {
  return { name: `table-${name}`, notation: 'table', encode: (data) => encodeTables(data, name), decode: decodeTables };
}
