/** The entry of one server, as hosts and editors write it. */
import { z } from 'zod';
import { nearestName } from './nearest-name.js';

const MAX_TIMER_MS = 2 ** 31 - 1;
const names = z.array(z.string()).optional();
const strings = z.record(z.string(), z.string());
// A number or boolean in `env` is what people mean by its text; hosts accept it.
const environment = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean()], { error: 'expected text' }).transform(String),
);
// A timer that is set to more fires at once.
const milliseconds = z.number().int().nonnegative().max(MAX_TIMER_MS);

/** Fields that are not here belong to other hosts. */
const serverSchema = z.looseObject({
  type: z.string().optional(),
  transport: z.string().optional(),
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)], { error: 'expected text, or a list of texts' })
    .optional(),
  args: z.array(z.string()).optional(),
  env: environment.optional(),
  cwd: z.string().min(1).optional(),
  url: z.string().min(1).optional(),
  serverUrl: z.string().min(1).optional(),
  httpUrl: z.string().min(1).optional(),
  headers: strings.optional(),
  http_headers: strings.optional(),
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
  lifecycle: z.enum(['lazy', 'eager', 'keep-alive']).optional(),
  idleTimeoutMs: milliseconds.optional(),
  connectTimeoutMs: milliseconds.min(1).optional(),
  callTimeoutMs: milliseconds.min(1).optional(),
  maxCallMs: milliseconds.min(1).optional(),
  // Lists are written in both spellings, and under the names of other hosts.
  allowedTools: names,
  allowed_tools: names,
  enabledTools: names,
  enabled_tools: names,
  blockedTools: names,
  blocked_tools: names,
  disabledTools: names,
  disabled_tools: names,
  includeTools: names,
  excludeTools: names,
  // A list of names, or `["*"]`; some hosts keep settings of single tools there instead.
  tools: z.unknown().optional(),
  idempotentTools: z.array(z.string()).optional(),
  protocol: z.enum(['auto', 'legacy', 'modern']).optional(),
  oauth: z.looseObject({ clientId: z.string(), clientSecret: z.string(), scope: z.string() }).partial().optional(),
});

type Names = readonly string[] | undefined;

/** An entry whose fields have the right types; what they mean together is not yet known. Durations in milliseconds. */
export interface RawServer {
  readonly type?: string | undefined;
  readonly transport?: string | undefined;
  readonly command?: string | readonly string[] | undefined;
  readonly args?: Names;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly serverUrl?: string | undefined;
  readonly httpUrl?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly http_headers?: Readonly<Record<string, string>> | undefined;
  readonly disabled?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  readonly lifecycle?: 'lazy' | 'eager' | 'keep-alive' | undefined;
  readonly idleTimeoutMs?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  readonly callTimeoutMs?: number | undefined;
  readonly maxCallMs?: number | undefined;
  readonly allowedTools?: Names;
  readonly allowed_tools?: Names;
  readonly enabledTools?: Names;
  readonly enabled_tools?: Names;
  readonly blockedTools?: Names;
  readonly blocked_tools?: Names;
  readonly disabledTools?: Names;
  readonly disabled_tools?: Names;
  readonly includeTools?: Names;
  readonly excludeTools?: Names;
  readonly tools?: unknown;
  readonly idempotentTools?: Names;
  readonly protocol?: 'auto' | 'legacy' | 'modern' | undefined;
  readonly oauth?: Readonly<Record<string, unknown>> | undefined;
}

export type ReadEntry =
  | { readonly kind: 'entry'; readonly entry: RawServer }
  | { readonly kind: 'wrong'; readonly what: string };

/** Holds an entry against the types of its fields, and against slips that would cost its safety. */
export function readEntry(value: unknown): ReadEntry {
  const parsed = serverSchema.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { kind: 'wrong', what: `${issue?.path.join('.') || 'the entry'}: ${issue?.message ?? 'not valid'}` };
  }
  const mistake = mistakenList(parsed.data);
  return mistake === undefined ? { kind: 'entry', entry: parsed.data } : { kind: 'wrong', what: mistake };
}

/** The lists that keep tools away; a slip in their names would leave every tool open. */
const LISTS = ['allowedTools', 'blockedTools', 'disabledTools', 'enabledTools', 'excludeTools', 'includeTools'];

/** Which tools exist; absent = all. */
export function allowedOf(raw: RawServer): readonly string[] | undefined {
  return (
    raw.allowedTools ??
    raw.allowed_tools ??
    raw.enabledTools ??
    raw.enabled_tools ??
    raw.includeTools ??
    namesIn(raw.tools)
  );
}

/** Which of them are taken away. */
export function blockedOf(raw: RawServer): readonly string[] {
  return raw.blockedTools ?? raw.blocked_tools ?? raw.disabledTools ?? raw.disabled_tools ?? raw.excludeTools ?? [];
}

function namesIn(tools: unknown): readonly string[] | undefined {
  const list = z.array(z.string()).safeParse(tools);
  return list.success && !list.data.includes('*') ? list.data : undefined;
}

/** What is wrong with a field that is nearly the name of such a list; undefined when nothing is. */
function mistakenList(raw: RawServer): string | undefined {
  for (const key of unknownKeys(raw)) {
    // Two changes away lie other words, too: `allowedRoots`.
    const meant = nearestName(key, LISTS, /too/i.test(key) ? 2 : 1);
    if (meant !== undefined) return `"${key}" is not known: did you mean "${meant}"?`;
  }
  return undefined;
}

/** What was probably meant by fields that are not known; where there is nothing to start, they are worth a word. */
export function typosOf(raw: RawServer): string {
  const meant = unknownKeys(raw).flatMap((key) => {
    const nearest = nearestName(key, Object.keys(serverSchema.shape));
    return nearest === undefined ? [] : [`"${key}" is not known: did you mean "${nearest}"?`];
  });
  return meant.length === 0 ? '' : `; ${meant.slice(0, 3).join(' ')}`;
}

function unknownKeys(raw: RawServer): string[] {
  return Object.keys(raw).filter((key) => !Object.hasOwn(serverSchema.shape, key));
}
