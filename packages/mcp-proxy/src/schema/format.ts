/** JSON Schema as a list of parameters that a model reads at a glance. */
import { isRecord } from '../request.js';
import { clippedLine } from '../text/clean.js';
import {
  referenceTarget,
  requiredNames,
  resolveSchema,
  type SchemaContext,
  type SchemaObject,
  withAllOf,
} from './resolve.js';
import { typeText, valueText, variantsOf } from './type-text.js';

const NO_PARAMETERS = '(no parameters)';
const MAX_DEPTH = 6;
const MAX_LINES = 400;
const MAX_DESCRIPTION_CHARS = 400;
const MAX_NAME_CHARS = 120;
/** Schema nodes that one text may visit. */
const BUDGET = 5_000;

/**
 * One line a parameter: name, type, whether it is required, default, description; nested objects and the alternatives of a
 * union are indented below. Local references are followed, recursive ones named. Never throws, whatever it is given, and
 * writes at most 400 lines.
 *
 * @param indent what each line starts with. Default none.
 * @example
 * formatSchema({ properties: { path: { type: 'string' } }, required: ['path'] }); // '- path: string, required'
 */
export function formatSchema(schema: unknown, indent = ''): string {
  const writer: Writer = { context: { root: schema, budget: BUDGET }, lines: [], full: false };
  try {
    writeRoot(writer, schema, indent);
  } catch (error) {
    // Only a schema with getters or proxies in it can get here; what was read so far is still of use.
    writer.lines.push(`${indent}(the rest of this schema cannot be read: ${clippedLine(String(error), 100)})`);
  }
  if (writer.full) writer.lines.push(`${indent}… (more parameters; the schema is too large to show)`);
  return writer.lines.length > 0 ? writer.lines.join('\n') : `${indent}${NO_PARAMETERS}`;
}

/** The names a call must give, in the order of the schema; empty when nothing is required or nothing can be read. */
export function requiredParameters(schema: unknown): string[] {
  const context = { root: schema, budget: BUDGET };
  try {
    const resolved = resolveSchema(schema, context, []);
    return resolved.kind === 'object' ? requiredNames(withAllOf(resolved.schema, context, [schema])) : [];
  } catch {
    return [];
  }
}

interface Writer {
  readonly context: SchemaContext;
  readonly lines: string[];
  full: boolean;
}

function write(writer: Writer, line: string): void {
  if (writer.lines.length >= MAX_LINES) writer.full = true;
  else writer.lines.push(line);
}

function writeRoot(writer: Writer, schema: unknown, indent: string): void {
  const resolved = resolveSchema(schema, writer.context, []);
  if (resolved.kind !== 'object') return;
  const root = withAllOf(resolved.schema, writer.context, [schema]);
  const holdsObject = root.type === undefined || root.type === 'object' || isRecord(root.properties);
  if (!holdsObject) {
    write(writer, `${indent}- (whole input): ${typeText(root, writer.context)}`);
    return;
  }
  writeProperties(writer, root, indent, [schema]);
  writeVariants(writer, root, indent, [schema]);
  if (isRecord(root.additionalProperties) && Object.keys(root.additionalProperties).length > 0) {
    write(writer, `${indent}- (any other name): ${typeText(root.additionalProperties, writer.context, [schema])}`);
  }
}

function writeProperties(writer: Writer, schema: SchemaObject, indent: string, path: readonly unknown[]): void {
  if (!isRecord(schema.properties)) return;
  const required = new Set(requiredNames(schema));
  for (const [name, property] of Object.entries(schema.properties)) {
    if (writer.full || writer.context.budget <= 0) {
      writer.full = true;
      return;
    }
    const mustBeGiven = required.has(name) || (isRecord(property) && property.required === true);
    writeProperty(writer, { name, property, mustBeGiven }, indent, path);
  }
}

interface Property {
  readonly name: string;
  readonly property: unknown;
  readonly mustBeGiven: boolean;
}

function writeProperty(writer: Writer, { name, property, mustBeGiven }: Property, indent: string, path: Path): void {
  const { context } = writer;
  const resolved = resolveSchema(property, context, path);
  const schema = resolved.kind === 'object' ? withAllOf(resolved.schema, context, path) : {};
  const parts = [typeText(property, context, path), mustBeGiven ? 'required' : 'optional'];
  if (Object.hasOwn(schema, 'default')) parts.push(`default ${valueText(schema.default)}`);
  if (schema.deprecated === true) parts.push('deprecated');
  const description = clippedLine(schema.description ?? schema.title, MAX_DESCRIPTION_CHARS);
  const label = clippedLine(name, MAX_NAME_CHARS) || '""';
  write(writer, `${indent}- ${label}: ${parts.join(', ')}${description === '' ? '' : ` — ${description}`}`);
  if (resolved.kind === 'object') writeInner(writer, schema, indent, [...path, referenceTarget(property, context)]);
}

type Path = readonly unknown[];

/** What is inside of an object, of the items of an array, or of the alternatives of a union. */
function writeInner(writer: Writer, schema: SchemaObject, indent: string, path: Path): void {
  if (path.length > MAX_DEPTH) return;
  const inner = `${indent}  `;
  if (isRecord(schema.properties)) writeProperties(writer, schema, inner, path);
  writeVariants(writer, schema, inner, path);
  const items = schema.items ?? schema.additionalProperties;
  if (!isRecord(items)) return;
  const resolved = resolveSchema(items, writer.context, path);
  if (resolved.kind !== 'object') return;
  const itemSchema = withAllOf(resolved.schema, writer.context, path);
  writeInner(writer, itemSchema, indent, [...path, referenceTarget(items, writer.context)]);
}

function writeVariants(writer: Writer, schema: SchemaObject, indent: string, path: Path): void {
  const variants = variantsOf(schema);
  if (variants.length === 0 || path.length > MAX_DEPTH) return;
  let number = 0;
  for (const variant of variants) {
    if (writer.context.budget-- <= 0) return;
    const resolved = resolveSchema(variant, writer.context, path);
    if (resolved.kind !== 'object') continue;
    const own = withAllOf(resolved.schema, writer.context, path);
    const holder = isRecord(own.properties) ? own : arrayItems(own, writer.context, path);
    if (holder === undefined) continue;
    number += 1;
    const title = clippedLine(own.title ?? own.description, 80);
    write(writer, `${indent}alternative ${number}${title === '' ? '' : ` (${title})`}:`);
    writeProperties(writer, holder, `${indent}  `, [...path, referenceTarget(variant, writer.context)]);
  }
}

function arrayItems(schema: SchemaObject, context: SchemaContext, path: Path): SchemaObject | undefined {
  const resolved = resolveSchema(schema.items, context, path);
  return resolved.kind === 'object' && isRecord(resolved.schema.properties) ? resolved.schema : undefined;
}
