/** Data for programs and models at once: `structuredContent`, and a text with the same facts. */

import { brand } from '../brand.js';
import { check, checkObject } from '../check.js';
import { jsonCopy } from '../json/copy.js';
import { readOptionalMeta } from '../json/meta.js';
import { isPlain } from '../json/plain.js';
import { joinPath, stringify } from '../json/stringify.js';
import { ResponseError, typed } from '../response-error.js';
import type { Meta } from '../types.js';
import { type SchemaLike, validate, validateAsync } from './schema.js';

export interface StructuredOptions {
  /** What the data must be: the tool's `outputSchema`, as a Standard Schema (zod…) or a JSON Schema. */
  readonly schema?: SchemaLike;
  /**
   * Data that the schema leaves out (zod objects strip unknown keys): `refuse`, the default, throws, for the client would
   * see less than was meant; `strip` sends what the schema lets through.
   */
  readonly unknownKeys?: 'refuse' | 'strip';
  /** `legacy`, the default: an object, which clients of every era accept. `modern`: any JSON (MCP 2026-07-28 and later). */
  readonly era?: 'legacy' | 'modern';
  readonly _meta?: Meta;
}

/** A result with `structuredContent` and its text. */
export interface StructuredResult {
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  _meta?: Meta;
  [key: string]: unknown;
}

/**
 * Answers with `data` twice, as `structuredContent` and as compact JSON text, since some hosts show the model only the
 * one and some only the other. Throws rather than lose or change anything: what is no JSON, what the schema refuses, and
 * what the schema would drop. With a schema that transforms, its output is what is sent.
 *
 * @throws ResponseError `NOT_JSON` | `SCHEMA_MISMATCH` | `DATA_DROPPED` | `SCHEMA_INVALID` | `TOO_DEEP` | `TOO_LARGE` |
 * `UNREADABLE`, naming the path
 * @example
 * ```ts
 * structured({ city: 'Bern', celsius: 21 }, { schema: z.object({ city: z.string(), celsius: z.number() }) });
 * ```
 */
export function structured(data: unknown, options: StructuredOptions = {}): StructuredResult {
  checkObject(options, 'structured: options');
  checkOptions(options);
  const output = options.schema === undefined ? data : validate(data, options.schema);
  return typed(() => build(data, output, options));
}

/** {@link structured} for schemas that validate asynchronously. */
export async function structuredAsync(data: unknown, options: StructuredOptions = {}): Promise<StructuredResult> {
  checkObject(options, 'structured: options');
  checkOptions(options);
  const output = options.schema === undefined ? data : await validateAsync(data, options.schema);
  return typed(() => build(data, output, options));
}

function checkOptions({ unknownKeys, era }: StructuredOptions): void {
  check(
    unknownKeys === undefined || unknownKeys === 'refuse' || unknownKeys === 'strip',
    'structured: unknownKeys',
    "'refuse' or 'strip'",
  );
  check(era === undefined || era === 'legacy' || era === 'modern', 'structured: era', "'legacy' or 'modern'");
}

function build(data: unknown, output: unknown, options: StructuredOptions): StructuredResult {
  if (output !== data && options.unknownKeys !== 'strip') refuseDropped(data, output, '$');
  // Read once: what is checked is what is sent, twice over, whatever a getter or a later change does.
  const structuredContent = jsonCopy(output);
  if (options.era !== 'modern' && !isRecord(structuredContent)) {
    throw new ResponseError(
      'INVALID_CONTENT',
      "structuredContent must be an object for clients before MCP 2026-07-28. Wrap it ({ items: [...] }), or say era: 'modern'.",
      { path: '$' },
    );
  }
  return brand({
    content: [{ type: 'text' as const, text: stringify(structuredContent) ?? 'null' }],
    structuredContent: structuredContent as Record<string, unknown>, // Any JSON, if the caller chose the modern era.
    ...(options._meta === undefined ? {} : { _meta: readOptionalMeta(options._meta, 'structured') }),
  });
}

/** Throws for the first thing of `data` that is missing in the schema's `output`. A value of another kind is a transform. */
function refuseDropped(data: unknown, output: unknown, path: string): void {
  if (Array.isArray(data) && Array.isArray(output)) {
    if (output.length < data.length) throw dropped(`${path}[${output.length}]`);
    data.forEach((item, index) => {
      refuseDropped(item, output[index], `${path}[${index}]`);
    });
  } else if (isRecord(data) && isRecord(output)) {
    for (const key of Object.keys(data)) {
      if (data[key] === undefined) continue;
      const at = joinPath(path, key, false);
      if (!Object.hasOwn(output, key)) throw dropped(at);
      refuseDropped(data[key], output[key], at);
    }
  }
}

function dropped(path: string): ResponseError {
  return new ResponseError(
    'DATA_DROPPED',
    `The schema would drop ${path}. Add it to the schema, remove it from the data, or say unknownKeys: 'strip'.`,
    { path },
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value);
}
