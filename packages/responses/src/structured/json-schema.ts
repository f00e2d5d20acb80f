/** JSON Schema without `eval`, so that it runs where code generation is forbidden (workers, strict CSP). */
import { type OutputUnit, type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema';
import { joinPath } from '../json/stringify.js';
import { ResponseError } from '../response-error.js';
import type { JsonSchemaLike, SchemaIssue } from './schema.js';

/** What of `data` does not match; empty if all does. @throws ResponseError `SCHEMA_INVALID` */
export function checkJsonSchema(data: unknown, schema: JsonSchemaLike): SchemaIssue[] {
  let errors: OutputUnit[];
  try {
    errors = validatorFor(schema).validate(data).errors;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ResponseError('SCHEMA_INVALID', `The JSON Schema cannot be used: ${reason}`, { cause });
  }
  const places = errors.filter((error) => !APPLICATORS.has(error.keyword));
  return (places.length > 0 ? places : errors).map((error) => ({
    path: pointerToPath(error.instanceLocation, data),
    message: error.keyword === 'false' ? 'Not allowed by the schema.' : error.error,
  }));
}

// They only say that something below them failed, and that is reported itself.
const APPLICATORS = new Set(
  'properties patternProperties additionalProperties unevaluatedProperties propertyNames items prefixItems additionalItems unevaluatedItems allOf anyOf $ref $dynamicRef $recursiveRef if then else dependentSchemas dependencies'.split(
    ' ',
  ),
);

const validators = new WeakMap<object, Validator>();

function validatorFor(schema: JsonSchemaLike): Validator {
  if (typeof schema === 'boolean') return new Validator(schema, '2020-12', false);
  const known = validators.get(schema);
  if (known) return known;
  // A copy: the library notes on the schema where each part of it is, and a caller's schema may be frozen.
  const copy = JSON.parse(JSON.stringify(schema)) as Schema; // Any JSON object is a schema; the library checks the rest.
  const validator = new Validator(copy, draftOf(schema.$schema), false);
  validators.set(schema, validator);
  return validator;
}

function draftOf($schema: unknown): SchemaDraft {
  const uri = typeof $schema === 'string' ? $schema : '';
  if (uri.includes('draft-04')) return '4';
  if (uri.includes('draft-06') || uri.includes('draft-07')) return '7';
  return uri.includes('2019-09') ? '2019-09' : '2020-12';
}

/** `#/users/0/name` as `$.users[0].name`; whether a number is an index, the data says. */
function pointerToPath(pointer: string, data: unknown): string {
  let place = data;
  let path = '$';
  for (const segment of pointer.split('/').slice(1)) {
    const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    path = joinPath(path, key, Array.isArray(place));
    place = typeof place === 'object' && place !== null ? Reflect.get(place, key) : undefined;
  }
  return path;
}
