/** The type of a JSON Schema in one short expression: `string`, `"a" | "b"`, `object[]`, `integer 1..100`. */

import { isRecord } from '../request.js';
import { cleanLine, clip } from '../text/clean.js';
import { referenceTarget, resolveSchema, type SchemaContext, type SchemaObject } from './resolve.js';

const MAX_ENUM_VALUES = 20;
const MAX_VALUE_CHARS = 60;
const MAX_TYPE_CHARS = 240;

export function typeText(schema: unknown, context: SchemaContext, path: readonly unknown[] = []): string {
  return clip(typeOf(schema, context, path), MAX_TYPE_CHARS);
}

function typeOf(schema: unknown, context: SchemaContext, path: readonly unknown[]): string {
  if (context.budget-- <= 0 || path.length > 12) return '…';
  const resolved = resolveSchema(schema, context, path);
  if (resolved.kind !== 'object') return resolved.kind === 'named' ? cleanLine(resolved.name) : resolved.kind;
  const here = [...path, referenceTarget(schema, context)];
  const own = resolved.schema;

  if (Object.hasOwn(own, 'const')) return valueText(own.const);
  if (Array.isArray(own.enum)) return enumText(own.enum);
  const variants = variantsOf(own);
  if (variants.length > 0) return unionText(variants.map((variant) => typeOf(variant, context, here)));
  if (Array.isArray(own.type)) {
    return unionText(own.type.map((type) => typeOf({ ...own, type }, context, path)));
  }
  return plainType(own, context, here);
}

function plainType(schema: SchemaObject, context: SchemaContext, path: readonly unknown[]): string {
  const type = typeof schema.type === 'string' ? cleanLine(schema.type) : undefined;
  if (type === 'array' || (type === undefined && schema.items !== undefined)) return arrayText(schema, context, path);
  if (type === undefined) {
    if (isRecord(schema.properties)) return 'object';
    if (Array.isArray(schema.allOf)) {
      const parts = schema.allOf.slice(0, 10).map((part) => typeOf(part, context, path));
      return [...new Set(parts)].join(' & ') || 'any';
    }
    return 'any';
  }
  if (type === 'object' && !isRecord(schema.properties) && isRecord(schema.additionalProperties)) {
    return `map of ${typeOf(schema.additionalProperties, context, path)}`;
  }
  return [type, formatText(schema), rangeText(schema)].filter((part) => part !== '').join(' ');
}

function arrayText(schema: SchemaObject, context: SchemaContext, path: readonly unknown[]): string {
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items;
  if (Array.isArray(tuple)) {
    return `[${tuple
      .slice(0, 10)
      .map((item) => typeOf(item, context, path))
      .join(', ')}]`;
  }
  if (schema.items === undefined || schema.items === true) return 'array';
  const item = typeOf(schema.items, context, path);
  return / \| | & /.test(item) ? `(${item})[]` : `${item}[]`;
}

/** The alternatives of a schema, whichever keyword holds them. */
export function variantsOf(schema: SchemaObject): readonly unknown[] {
  if (Array.isArray(schema.oneOf)) return schema.oneOf.slice(0, 50);
  return Array.isArray(schema.anyOf) ? schema.anyOf.slice(0, 50) : [];
}

function unionText(parts: readonly string[]): string {
  return [...new Set(parts)].join(' | ') || 'any';
}

function enumText(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_ENUM_VALUES).map(valueText);
  const more = values.length - shown.length;
  return shown.join(' | ') + (more > 0 ? ` | … ${more} more` : '') || 'never';
}

function formatText(schema: SchemaObject): string {
  return typeof schema.format === 'string' ? `(${clip(cleanLine(schema.format), 30)})` : '';
}

function rangeText(schema: SchemaObject): string {
  const low = typeof schema.minimum === 'number' ? schema.minimum : undefined;
  const high = typeof schema.maximum === 'number' ? schema.maximum : undefined;
  if (low === undefined && high === undefined) return '';
  if (low === undefined) return `≤ ${high}`;
  return high === undefined ? `≥ ${low}` : `${low}..${high}`;
}

/** A value as JSON, cleaned and bounded; what JSON cannot hold is said in words. */
export function valueText(value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    json = undefined;
  }
  return clip(cleanLine((json ?? String(typeof value)).slice(0, MAX_VALUE_CHARS * 4)), MAX_VALUE_CHARS);
}
