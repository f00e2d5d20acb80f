/** A failed validation as an error that lists every bad field. */

import { joinPath } from '../json/stringify.js';
import type { Meta, ToolResult } from '../types.js';
import { describeValue, isSecretKey } from './describe-value.js';
import { toolError } from './error.js';
import { clip } from './error-envelope.js';
import { nearestOf } from './nearest.js';

/** What zod (3 and 4) and every Standard Schema report: an error with `issues`. */
export interface ValidationErrorLike {
  readonly issues: readonly ValidationIssueLike[];
}

export interface ValidationIssueLike {
  readonly message: string;
  readonly path?: readonly unknown[] | undefined;
}

export interface FromZodErrorOptions {
  /** The value that was validated: then the error tells what came, not only of which kind it was. */
  readonly input?: unknown;
  /** Put among the details, for the log and the model to name the same failure. */
  readonly correlationId?: string;
}

const LISTED = 20;

/**
 * The error for arguments that do not match their schema: for each bad field what was expected and what came, and for a
 * value out of a set the nearest valid one. Values of fields with names like `password` are never repeated.
 *
 * @example
 * ```ts
 * const parsed = schema.safeParse(args);
 * if (!parsed.success) return fromZodError(parsed.error, { input: args });
 * ```
 */
export function fromZodError(
  error: ValidationErrorLike,
  options: FromZodErrorOptions = {},
): ToolResult & { _meta: Meta } {
  // What words an error must not fail itself: options of no use are none.
  const given = options ?? {};
  const fields = readFields(error, given);
  const shown = fields.slice(0, LISTED);
  const names = shown.map((field) => field.name).join(', ');
  const more = fields.length > shown.length ? ` and ${fields.length - shown.length} more` : '';
  return toolError('VALIDATION_ERROR', {
    message: `${fields.length} ${fields.length === 1 ? 'field is' : 'fields are'} not valid: ${names}${more}.`,
    suggestion: 'Correct the fields listed in the details and call again.',
    details: {
      ...Object.fromEntries(shown.map((field) => [field.name, field.problem])),
      ...(given.correlationId === undefined ? {} : { correlation_id: given.correlationId }),
    },
  });
}

function readFields(error: ValidationErrorLike, options: FromZodErrorOptions): Field[] {
  try {
    return error.issues.flatMap((issue) => fieldsOf(issue as Issue, [], options));
  } catch {
    // An error or input that cannot be read is not valid either; which field it is cannot be told.
    return [{ name: 'input', problem: 'it cannot be read' }];
  }
}

/** Its further details depend on library and version, so each is checked where it is read. */
type Issue = ValidationIssueLike & Readonly<Record<string, unknown>>;

interface Field {
  readonly name: string;
  readonly problem: string;
}

function fieldsOf(issue: Issue, parents: readonly PropertyKey[], options: FromZodErrorOptions): Field[] {
  const path = [...parents, ...pathOf(issue)];
  const branch = nearestBranch(issue);
  // A union reports every branch; the one with the fewest complaints is the one that was meant.
  if (branch) return branch.flatMap((inner) => fieldsOf(inner, issue.unionErrors ? parents : path, options));
  if (issue.code === 'unrecognized_keys' && Array.isArray(issue.keys)) {
    return issue.keys.map((key) => ({
      name: nameOf([...path, String(key)]),
      problem: 'expected no field of this name',
    }));
  }
  return [{ name: nameOf(path), problem: problemOf(issue, path, options) }];
}

/** zod 4 keeps a union's branches in `errors`, zod 3 in `unionErrors`. */
function nearestBranch(issue: Issue): readonly Issue[] | undefined {
  if (issue.code !== 'invalid_union') return undefined;
  const branches: readonly unknown[] = Array.isArray(issue.errors)
    ? issue.errors
    : Array.isArray(issue.unionErrors)
      ? issue.unionErrors.map((error: Partial<ValidationErrorLike> | undefined) => error?.issues)
      : [];
  const filled = branches.filter((branch): branch is readonly Issue[] => Array.isArray(branch) && branch.length > 0);
  return filled.toSorted((a, b) => a.length - b.length)[0];
}

function problemOf(issue: Issue, path: readonly PropertyKey[], options: FromZodErrorOptions): string {
  const expected = expectedOf(issue);
  const key = String(path.at(-1) ?? '');
  // An error may carry the value itself; what it was validated from is shown only if the caller passed it.
  const isGiven = 'input' in options;
  const value = isGiven ? valueAt(options.input, path) : undefined;
  const came = isGiven ? describeValue(value, key) : receivedOf(issue);
  const meant = typeof value === 'string' ? nearestOf(value, textsIn(optionsOf(issue))) : undefined;
  const said = [expected === undefined ? messageOf(issue, key, value) : `expected ${expected}`];
  if (came !== undefined) said.push(`, came ${came}`);
  if (meant !== undefined) said.push(`; did you mean "${meant}"?`);
  return clip(said.join(''), 500);
}

/** The message of a library that puts what it got into its messages (valibot does) may hold a secret. */
function messageOf(issue: Issue, key: string, value: unknown): string {
  if (!isSecretKey(key)) return issue.message;
  const carried = [value, issue.received, issue.input];
  const isTold = typeof issue.code !== 'string' || carried.some((it) => isPartOf(it, issue.message));
  return isTold ? 'is not valid' : issue.message;
}

function isPartOf(value: unknown, message: string): boolean {
  return (typeof value === 'string' || typeof value === 'number') && message.includes(String(value));
}

function textsIn(options: readonly unknown[] | undefined): string[] {
  return (options ?? []).filter((option) => typeof option === 'string');
}

function expectedOf(issue: Issue): string | undefined {
  const options = optionsOf(issue);
  if (options)
    return options.length === 1
      ? JSON.stringify(options[0])
      : `one of ${options.map((o) => JSON.stringify(o)).join(', ')}`;
  switch (issue.code) {
    case 'invalid_type':
      return typeof issue.expected === 'string' ? issue.expected : undefined;
    case 'invalid_literal':
      return JSON.stringify(issue.expected);
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${amount(issue.minimum, issue)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${amount(issue.maximum, issue)}`;
    case 'not_multiple_of':
      return `a multiple of ${String(issue.divisor ?? issue.multipleOf)}`;
    case 'invalid_format':
    case 'invalid_string': {
      const format = issue.format ?? issue.validation;
      return typeof format === 'string' && format !== 'regex' ? `a text of the format ${format}` : undefined;
    }
    default:
      return undefined;
  }
}

function optionsOf(issue: Issue): readonly unknown[] | undefined {
  const options = issue.values ?? issue.options;
  return Array.isArray(options) && options.length > 0 ? options : undefined;
}

function amount(limit: unknown, issue: Issue): string {
  const kind = issue.origin ?? issue.type;
  if (kind === 'string') return `${String(limit)} characters`;
  return kind === 'array' || kind === 'set' ? `${String(limit)} items` : String(limit);
}

/** Which kind came. Some issues carry the value itself there (zod 3 for enums and literals): that is not repeated. */
function receivedOf(issue: Issue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  const received = typeof issue.received === 'string' ? issue.received : /received (\w+)/.exec(issue.message)?.[1];
  if (received === undefined || !KINDS.test(received)) return undefined;
  return received === 'undefined' ? 'nothing' : received;
}

const KINDS =
  /^(?:undefined|null|string|number|nan|integer|boolean|bigint|symbol|function|date|array|object|map|set|promise)$/i;

function pathOf(issue: Issue): PropertyKey[] {
  // Standard Schema allows `{ key }` for a segment.
  return (Array.isArray(issue.path) ? issue.path : []).map((segment: unknown) =>
    typeof segment === 'object' && segment !== null
      ? ((segment as { key: PropertyKey }).key ?? '')
      : (segment as PropertyKey),
  );
}

function nameOf(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'input';
  return path
    .reduce<string>((text, key) => joinPath(text, String(key), typeof key === 'number'), '')
    .replace(/^\./, '');
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
