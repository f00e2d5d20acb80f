/** Checking data against a schema of either kind: Standard Schema (zod, valibot, arktype…) or JSON Schema. */
import { jsonCopy } from '../json/copy.js';
import { surveyJson } from '../json/json.js';
import { joinPath } from '../json/stringify.js';
import { ResponseError } from '../response-error.js';
import { checkJsonSchema } from './json-schema.js';

/** The part of Standard Schema (standardschema.dev, version 1) that is used here. */
export interface StandardSchemaLike<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  };
}

export type StandardResult<Output = unknown> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema document: draft 4, 7, 2019-09 or 2020-12 by its `$schema`, 2020-12 without one. */
export type JsonSchemaLike = { readonly [keyword: string]: unknown } | boolean;

export type SchemaLike<Output = unknown> = StandardSchemaLike<Output> | JsonSchemaLike;

/** What is wrong, and where. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** The data as the schema gives it back (JSON Schema changes nothing). */
export function validate(data: unknown, schema: SchemaLike): unknown {
  if (!isStandardSchema(schema)) return jsonSchemaOutcome(data, schema);
  const result = runStandard(data, schema);
  if (isPromise(result)) {
    // The promise is not waited for; without this its failure would be an unhandled rejection.
    result.then(undefined, () => undefined);
    throw new ResponseError('SCHEMA_INVALID', 'The schema validates asynchronously. Use structuredAsync().');
  }
  return outcome(result);
}

/** The same for schemas that may answer later. */
export async function validateAsync(data: unknown, schema: SchemaLike): Promise<unknown> {
  if (!isStandardSchema(schema)) return jsonSchemaOutcome(data, schema);
  try {
    return outcome(await runStandard(data, schema));
  } catch (cause) {
    throw schemaFailure(data, cause);
  }
}

function runStandard(data: unknown, schema: StandardSchemaLike): StandardResult | Promise<StandardResult> {
  try {
    return schema['~standard'].validate(data);
  } catch (cause) {
    throw schemaFailure(data, cause);
  }
}

/** A schema throws on data that it cannot walk (then that is the error), or because it is broken itself. */
function schemaFailure(data: unknown, cause: unknown): unknown {
  if (cause instanceof ResponseError) return cause;
  surveyJson(data);
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ResponseError('SCHEMA_INVALID', `The schema threw: ${reason}`, { cause });
}

function isStandardSchema(schema: SchemaLike): schema is StandardSchemaLike {
  if (schema !== null && (typeof schema === 'object' || typeof schema === 'function')) return '~standard' in schema;
  if (typeof schema === 'boolean') return false;
  throw new ResponseError('SCHEMA_INVALID', 'The schema must be a Standard Schema (such as zod) or a JSON Schema.');
}

function jsonSchemaOutcome(data: unknown, schema: JsonSchemaLike): unknown {
  // The copy is what is sent: a getter must not show the schema one thing and the client another.
  const checked = jsonCopy(data);
  const issues = checkJsonSchema(checked, schema);
  if (issues.length > 0) throw mismatch(issues);
  return checked;
}

function outcome(result: StandardResult): unknown {
  let issues: readonly SchemaIssue[];
  try {
    if (!result.issues) return result.value;
    issues = result.issues.map((issue) => ({ path: standardPath(issue.path), message: issue.message }));
  } catch (cause) {
    throw new ResponseError('SCHEMA_INVALID', 'The schema gave no result of Standard Schema, version 1.', { cause });
  }
  throw mismatch(issues);
}

function standardPath(path: StandardIssue['path']): string {
  return (path ?? []).reduce<string>((text, segment) => {
    const key = typeof segment === 'object' ? segment.key : segment;
    return joinPath(text, String(key), typeof key === 'number');
  }, '$');
}

const LISTED = 5;

function mismatch(issues: readonly SchemaIssue[]): ResponseError {
  const listed = issues.slice(0, LISTED).map(({ path, message }) => `${path}: ${message}`);
  const more = issues.length > LISTED ? ` (and ${issues.length - LISTED} more)` : '';
  return new ResponseError('SCHEMA_MISMATCH', `The data does not match the schema: ${listed.join('; ')}${more}`, {
    path: issues[0]?.path ?? '$',
    cause: issues,
  });
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
