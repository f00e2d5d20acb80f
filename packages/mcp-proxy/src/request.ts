/** From the arguments that a model gave to the one thing that it asks for. Nothing in them is trusted, nothing throws. */
import type { ProxyRequest } from './answers.js';

/** The fields of the tool that carry text, in the order in which one wins over the next. */
const TEXT_FIELDS = ['tool', 'connect', 'describe', 'search', 'cursor', 'server'] as const;
type TextField = (typeof TEXT_FIELDS)[number];

/** A query longer than this is cut before anything looks at it: models paste whole files into searches. */
const MAX_TEXT_CHARS = 4_000;

export type ReadRequest =
  | { readonly kind: 'request'; readonly request: ProxyRequest; readonly notes: readonly string[] }
  | { readonly kind: 'invalid'; readonly reason: string; readonly notes: readonly string[] };

/**
 * The known fields that hold what they should: text that is not blank, and `args` whatever it is. Everything else is left
 * out, so arguments that are no object give `{}`.
 */
export function parseProxyArgs(args: unknown): {
  connect?: string;
  describe?: string;
  search?: string;
  tool?: string;
  server?: string;
  cursor?: string;
  status?: boolean;
  args?: unknown;
} {
  if (!isRecord(args)) return {};
  const fields: Partial<Record<TextField, string>> & { status?: boolean; args?: unknown } = {};
  for (const name of TEXT_FIELDS) {
    const value = own(args, name);
    if (typeof value === 'string' && value.trim() !== '') fields[name] = value.trim().slice(0, MAX_TEXT_CHARS);
  }
  const status = own(args, 'status');
  if (typeof status === 'boolean') fields.status = status;
  const callArgs = own(args, 'args');
  if (callArgs !== undefined) fields.args = callArgs;
  return fields;
}

/**
 * What the arguments ask for: tool > connect > describe > search > cursor > server > status. `notes` name the fields that
 * were ignored because they hold the wrong type.
 */
export function readRequest(args: unknown): ReadRequest {
  const fields = parseProxyArgs(args);
  const notes = ignoredFields(args);
  const server = fields.server === undefined ? {} : { server: fields.server };
  const request = (value: ProxyRequest): ReadRequest => ({ kind: 'request', request: value, notes });

  if (fields.tool !== undefined) {
    const callArgs = readCallArgs(fields.args);
    if (callArgs.kind === 'invalid') return { ...callArgs, notes };
    return request({ kind: 'call', tool: fields.tool, ...server, args: callArgs.args });
  }
  if (fields.connect !== undefined) return request({ kind: 'connect', server: fields.connect });
  if (fields.describe !== undefined) return request({ kind: 'describe', tool: fields.describe, ...server });
  if (fields.search !== undefined) return request({ kind: 'search', query: fields.search, ...server });
  if (fields.cursor !== undefined) return request({ kind: 'read', cursor: fields.cursor });
  if (fields.server !== undefined) return request({ kind: 'list', server: fields.server });
  return request({ kind: 'status' });
}

/** An object, or JSON text of one; nothing, null and blank text are no arguments. */
function readCallArgs(args: unknown): { kind: 'args'; args: unknown } | { kind: 'invalid'; reason: string } {
  if (args === undefined || args === null) return { kind: 'args', args: {} };
  if (typeof args !== 'string') {
    if (isRecord(args)) return { kind: 'args', args };
    return { kind: 'invalid', reason: `"args" must be an object with the tool's parameters, not ${typeName(args)}.` };
  }
  if (args.trim() === '') return { kind: 'args', args: {} };
  let parsed: unknown;
  try {
    parsed = JSON.parse(args);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'invalid', reason: `"args" is text that is no valid JSON (${why}). Pass an object.` };
  }
  if (isRecord(parsed)) return { kind: 'args', args: parsed };
  return { kind: 'invalid', reason: `"args" is JSON text of ${typeName(parsed)}; it must be an object.` };
}

function ignoredFields(args: unknown): string[] {
  const notes: string[] = [];
  if (!isRecord(args)) return notes;
  for (const name of TEXT_FIELDS) {
    const value = own(args, name);
    // null is how strict function calling leaves a field out.
    if (value !== undefined && value !== null && typeof value !== 'string') {
      notes.push(`"${name}" was ignored: it must be a string, not ${typeName(value)}.`);
    }
  }
  const status = own(args, 'status');
  if (status !== undefined && status !== null && typeof status !== 'boolean') {
    notes.push(`"status" was ignored: it must be true or false, not ${typeName(status)}.`);
  }
  return notes;
}

/** A getter or a proxy may throw; such a field was not given. Inherited fields were not given either. */
function own(record: Record<string, unknown>, name: string): unknown {
  try {
    return Object.hasOwn(record, name) ? record[name] : undefined;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The type of a value as a sentence needs it. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  const type = typeof value;
  return type === 'object' ? 'an object' : `a ${type}`;
}
