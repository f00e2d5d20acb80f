/** The cheapest text that still says everything. */

import { brand } from '../brand.js';
import { check, checkObject } from '../check.js';
import { jsonCopy } from '../json/copy.js';
import { type Survey, surveyJson } from '../json/json.js';
import { readOptionalMeta } from '../json/meta.js';
import { stringify } from '../json/stringify.js';
import { changed, ResponseError, typed } from '../response-error.js';
import type { Meta, ToolResult } from '../types.js';
import { checkedCounter } from './check-counter.js';
import { rememberCodec } from './codec.js';
import { type CountTokens, estimateTokens } from './estimate-tokens.js';
import { type CompactFormat, FORMATS, type Format, formatNamed, JSON_FORMAT } from './formats.js';
import { isSameData } from './same-data.js';
import { type Sample, sampleOf } from './sample.js';

export interface CompactOptions {
  /** The tokenizer to please. Default {@link estimateTokens}. It must give the same number for the same text. */
  readonly countTokens?: CountTokens;
  /** Notations to choose from; `json` always is one. Default: all. */
  readonly formats?: readonly CompactFormat[];
  readonly _meta?: Meta;
}

/** Where a compact result says how its text was written: `{ format: CompactFormat }`. */
export const COMPACT_META_KEY = 'interlock/compact';

/**
 * Characters of JSON up to which every notation is measured, and the chosen one decoded back, whole, on a copy that was
 * read once. Beyond, both are done on a sample of about 2,000 characters, and JSON stays unless another saves at least
 * {@link CLEAR_SAVING} there.
 */
export const WHOLE_UP_TO = 65_536;

/**
 * Characters of JSON up to which the text of another notation is counted whole against JSON's, and JSON sent if that is
 * cheaper after all. No host that we know of lets more through.
 */
export const COUNTED_UP_TO = 524_288;

/** Share of JSON's tokens that a notation must save on the sample of large data. */
const CLEAR_SAVING = 0.05;

/** How much longer than the sample promised the whole text may be. */
const SURPRISE = 1.2;

/**
 * Answers with `data` in the notation that costs fewest tokens: compact JSON, TOON, or tables of nested rows, each with
 * tab, comma or pipe. The choice is deterministic, never dearer than JSON by the counter, and always one that decodes
 * back to the same data (`readCompact`; order of keys aside, and `-0` is `0`). `_meta["interlock/compact"].format` names it.
 *
 * @throws ResponseError `NOT_JSON` | `TOO_DEEP` | `TOO_LARGE` | `UNREADABLE`: what JSON would lose is refused, with its path
 * @example
 * ```ts
 * compact(await db.orders.findMany(), { countTokens: (text) => encoding.encode(text).length });
 * ```
 */
export function compact(data: unknown, options: CompactOptions = {}): ToolResult & { _meta: Meta } {
  checkObject(options, 'compact: options');
  const survey = surveyJson(data);
  const meta = readOptionalMeta(options._meta, 'compact');
  const count = checkedCounter(options.countTokens ?? estimateTokens, 'compact');
  const formats = readFormats(options.formats);
  const { format, text } = typed(() =>
    survey.size <= WHOLE_UP_TO
      ? chooseWhole(jsonCopy(data), formats, count)
      : chooseLarge(data, survey, formats, count),
  );
  const result = brand({
    content: [{ type: 'text' as const, text }],
    _meta: { ...meta, [COMPACT_META_KEY]: { format: format.name } } as Meta, // Else the key would be the only one known.
  });
  rememberCodec(result, { encode: (value) => format.encode(value) ?? JSON.stringify(value), decode: format.decode });
  return result;
}

/** The data of a result that `compact` built; also of one that went over the wire. Throws if it is none. */
export function readCompact(result: { readonly content: readonly unknown[]; readonly _meta?: unknown }): unknown {
  checkObject(result, 'readCompact: the result');
  const note = (result._meta as Record<string, unknown> | undefined)?.[COMPACT_META_KEY];
  const format = formatNamed((note as { format?: unknown } | undefined)?.format);
  const block = (result.content as readonly unknown[] | undefined)?.[0] as { text?: unknown } | undefined;
  if (!format || typeof block?.text !== 'string') {
    throw new ResponseError(
      'INVALID_CONTENT',
      `The result is not one of compact(): _meta["${COMPACT_META_KEY}"] names no format.`,
    );
  }
  return format.decode(block.text);
}

interface Choice {
  readonly format: Format;
  readonly text: string;
}

interface Candidate extends Choice {
  readonly tokens: number;
}

function chooseWhole(data: unknown, formats: readonly Format[], count: CountTokens): Choice {
  const json = jsonChoice(data);
  return ranked(data, json.text, formats, count).find((candidate) => decodesTo(candidate, data)) ?? json;
}

function chooseLarge(given: unknown, survey: Survey, formats: readonly Format[], count: CountTokens): Choice {
  const sample = sampleOf(given, survey.keys);
  // What a getter says once is the data: it may say something else next time.
  const data = sample.hasGetters ? jsonCopy(given) : given;
  const least = sample.hasGetters ? 0 : survey.size;
  const chosen = chooseBySample(data, survey.size, sample, formats, count);
  if (!chosen || survey.size > COUNTED_UP_TO) return chosen ?? jsonChoice(data, least);
  const json = jsonChoice(data, least);
  return count(chosen.text) <= count(json.text) ? chosen : json;
}

/** The notation that wins on the sample, if it is not JSON, and the whole text in it. */
function chooseBySample(
  data: unknown,
  size: number,
  sample: Sample,
  formats: readonly Format[],
  count: CountTokens,
): Choice | undefined {
  const sampleJson = JSON.stringify(sample.data);
  const most = count(sampleJson) * (1 - CLEAR_SAVING);
  for (const leader of ranked(sample.data, sampleJson, leaders(formats), count)) {
    if (leader.tokens > most || leader.format === JSON_FORMAT) break;
    const siblings = formats.filter((format) => format.notation === leader.format.notation);
    const candidate = ranked(sample.data, sampleJson, siblings, count)[0];
    if (!candidate || !decodesTo(candidate, sample.data)) continue;
    const text = candidate.format.encode(data);
    if (text === undefined) continue;
    // Some row that the sample missed can change the notation of all of them: the length tells.
    const surprise = text.length / size / (candidate.text.length / sample.size);
    if (surprise < SURPRISE) return { format: candidate.format, text };
  }
  return undefined;
}

/** The first format of each notation: what divides the columns is tried once the notation is known. */
function leaders(formats: readonly Format[]): readonly Format[] {
  return formats.filter((format, index) => formats.findIndex((other) => other.notation === format.notation) === index);
}

/** JSON and what costs no more, cheapest first; the order of `formats` decides between equals. */
function ranked(data: unknown, jsonText: string, formats: readonly Format[], count: CountTokens): Candidate[] {
  const jsonTokens = count(jsonText);
  const candidates: Candidate[] = [];
  for (const format of formats) {
    const text = format === JSON_FORMAT ? jsonText : format.encode(data);
    if (text === undefined) continue;
    const tokens = format === JSON_FORMAT ? jsonTokens : count(text);
    if (tokens <= jsonTokens) candidates.push({ format, text, tokens });
  }
  return candidates.sort((a, b) => a.tokens - b.tokens);
}

/** @param least characters that the text of the data as it was checked has at least */
function jsonChoice(data: unknown, least = 0): Choice {
  const text = stringify(data);
  if (text === undefined || text.length < least) throw changed('$');
  return { format: JSON_FORMAT, text };
}

function decodesTo({ format, text }: Choice, data: unknown): boolean {
  if (format === JSON_FORMAT) return true;
  try {
    return isSameData(format.decode(text), data);
  } catch {
    // A text that its own notation cannot read is no candidate.
    return false;
  }
}

function readFormats(names: readonly CompactFormat[] | undefined): readonly Format[] {
  if (names === undefined) return FORMATS;
  check(Array.isArray(names), 'compact: formats', 'a list');
  const unknown = names.find((name) => !formatNamed(name));
  if (unknown !== undefined) {
    const known = FORMATS.map((format) => format.name).join(', ');
    throw new ResponseError('INVALID_OPTION', `compact: '${String(unknown)}' is no format. There are ${known}.`);
  }
  return FORMATS.filter((format) => format === JSON_FORMAT || names.includes(format.name));
}
