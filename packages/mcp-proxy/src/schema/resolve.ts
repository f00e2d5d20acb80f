/** Reads a JSON Schema that may be anything: booleans, local references, combinations, cycles. Nothing here throws. */
import { isRecord } from '../request.js';

export type SchemaObject = Readonly<Record<string, unknown>>;

/** What the schemas of one text share: where references point, and how much may still be written. */
export interface SchemaContext {
  readonly root: unknown;
  /** Steps left; a hostile schema (thousands of nested unions) ends in an ellipsis instead of in memory. */
  budget: number;
}

export type Resolved =
  | { readonly kind: 'object'; readonly schema: SchemaObject }
  | { readonly kind: 'any' }
  | { readonly kind: 'never' }
  /** A reference that leads back to itself, or to nothing: only its name can be said. */
  | { readonly kind: 'named'; readonly name: string };

/** Follows references (`#`, `#/$defs/x`, `#/definitions/x`, any JSON pointer, `$anchor`) within the schema itself. */
export function resolveSchema(schema: unknown, context: SchemaContext, path: readonly unknown[]): Resolved {
  let current = schema;
  const followed = new Set<unknown>();
  while (isRecord(current) && typeof current.$ref === 'string') {
    const target = resolveReference(context.root, current.$ref);
    const name = current.$ref.split('/').at(-1) || 'root';
    if (target === undefined || followed.has(target) || path.includes(target)) return { kind: 'named', name };
    followed.add(target);
    const { $ref: _ref, ...beside } = current;
    // Since 2019-09 keywords beside a reference count; a description there is the more specific one.
    current = isRecord(target) && Object.keys(beside).length > 0 ? { ...target, ...beside } : target;
  }
  if (isRecord(current)) return { kind: 'object', schema: current };
  return current === false ? { kind: 'never' } : { kind: 'any' };
}

/** The object behind a reference, for telling cycles: the target itself, not a copy. */
export function referenceTarget(schema: unknown, context: SchemaContext): unknown {
  return isRecord(schema) && typeof schema.$ref === 'string' ? resolveReference(context.root, schema.$ref) : schema;
}

/** What a local reference points at; undefined when it leads nowhere, or out of the schema. */
export function resolveReference(root: unknown, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#')) return undefined;
  if (!ref.startsWith('#/')) return findAnchor(root, ref.slice(1));
  let current: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(current)) current = current[Number(key)];
    else if (isRecord(current) && Object.hasOwn(current, key)) current = current[key];
    else return undefined;
  }
  return current;
}

function findAnchor(root: unknown, anchor: string): unknown {
  const definitions = isRecord(root) && isRecord(root.$defs) ? Object.values(root.$defs) : [];
  return definitions.find((definition) => isRecord(definition) && definition.$anchor === anchor);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** An object schema with everything its `allOf` adds, so that its parameters can be listed at once. */
export function withAllOf(schema: SchemaObject, context: SchemaContext, path: readonly unknown[]): SchemaObject {
  if (!Array.isArray(schema.allOf) || path.length > 20) return schema;
  let properties = isRecord(schema.properties) ? { ...schema.properties } : {};
  const required = new Set(requiredNames(schema));
  let merged: Record<string, unknown> = { ...schema };
  for (const part of schema.allOf.slice(0, 50)) {
    const resolved = resolveSchema(part, context, path);
    if (resolved.kind !== 'object') continue;
    const inner = withAllOf(resolved.schema, context, [...path, referenceTarget(part, context)]);
    if (isRecord(inner.properties)) properties = { ...inner.properties, ...properties };
    for (const name of requiredNames(inner)) required.add(name);
    merged = { ...inner, ...merged };
  }
  const { allOf: _allOf, ...rest } = merged;
  return { ...rest, ...(Object.keys(properties).length > 0 && { properties, required: [...required] }) };
}

/** The names in `required` that are names; draft-03's `required: true` inside a property is left to the caller. */
export function requiredNames(schema: SchemaObject): string[] {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
}
