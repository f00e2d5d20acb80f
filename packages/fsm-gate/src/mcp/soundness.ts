/** Compares what is bound with what is registered, once, before the first request is answered. */
import type { GateSessions } from '../sessions/sessions-types.js';
import { verifyGate } from '../verify/verify.js';
import { GateAttachError } from './errors.js';
import type { InterceptedServer, WireRequest } from './interception.js';
import { listOf, mayComeFrom, promptName, resourceName } from './names.js';
import { isRecord } from './server.js';

/** The lists of a server and the names that their items are bound by. */
const LISTS: readonly {
  readonly method: string;
  readonly field: string;
  readonly list: 'tools' | 'prompts' | 'resources';
  readonly bound: (item: Record<string, unknown>) => unknown;
}[] = [
  { method: 'tools/list', field: 'tools', list: 'tools', bound: (item) => item.name },
  { method: 'prompts/list', field: 'prompts', list: 'prompts', bound: (item) => promptName(String(item.name)) },
  { method: 'resources/list', field: 'resources', list: 'resources', bound: (item) => resourceName(String(item.uri)) },
  {
    method: 'resources/templates/list',
    field: 'resourceTemplates',
    list: 'resources',
    bound: (item) => resourceName(String(item.uriTemplate)),
  },
];

const MAX_PAGES = 1_000;

/** What has passed: servers that are made anew for each request are not checked anew. A failure may be mended by a late registration. */
const sound = new WeakSet<GateSessions>();

/** Whether the check has been done and passed. */
export function isKnownSound(sessions: GateSessions): boolean {
  return sound.has(sessions);
}

/**
 * @throws `GateAttachError` `GATE_UNSOUND` where `verifyGate` finds an error; what a list handler throws is thrown on. Either way
 * the check is done again with the next request.
 */
export async function assertSoundServer(
  sessions: GateSessions,
  server: InterceptedServer,
  context: unknown,
): Promise<void> {
  assertSound(sessions, await registeredNames(sessions, server, context));
  sound.add(sessions);
}

function assertSound(sessions: GateSessions, names: readonly string[] | undefined): void {
  const errors = verifyGate(sessions, names === undefined ? {} : { tools: names }).filter(
    (finding) => finding.severity === 'error',
  );
  if (errors.length === 0) return;
  const report = errors.map(({ message, fix }) => `${message} ${fix}`).join('\n- ');
  throw new GateAttachError(
    'GATE_UNSOUND',
    `The gate does not fit this server, so nothing is served:\n- ${report}\nWhere a server registers other tools for other ` +
      'callers, verify at boot (createGateSessions({ tools })) and attach with { check: "off" }.',
  );
}

/** Every registered name, by the server's own list handlers; `undefined` for a server that lists no tools at all. */
async function registeredNames(
  sessions: GateSessions,
  server: InterceptedServer,
  context: unknown,
): Promise<readonly string[] | undefined> {
  if (server.original('tools/list') === undefined) return undefined;
  const names: string[] = [];
  const bound = [...sessions.model.bindings.keys()];
  for (const { method, field, list, bound: nameOf } of LISTS) {
    if (list !== 'tools' && !bound.some((name) => listOf(name) === list)) continue;
    for (const item of await listAll(server, method, field, context)) {
      const name = nameOf(item);
      if (typeof name === 'string') names.push(name);
    }
  }
  return [...names, ...boundThroughTemplates(bound, names)];
}

/** A single URI may be bound though only its template is registered. */
function boundThroughTemplates(bound: readonly string[], names: readonly string[]): readonly string[] {
  const templates = names.filter((name) => listOf(name) === 'resources' && name.includes('{'));
  return bound.filter(
    (name) => listOf(name) === 'resources' && templates.some((template) => mayComeFrom(template, name)),
  );
}

async function listAll(
  server: InterceptedServer,
  method: string,
  field: string,
  context: unknown,
): Promise<readonly Record<string, unknown>[]> {
  const handler = server.original(method);
  if (handler === undefined) return [];
  const items: Record<string, unknown>[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const request: WireRequest = { method, params: cursor === undefined ? {} : { cursor } };
    const result: unknown = await handler(request, context);
    if (!isRecord(result) || !Array.isArray(result[field])) return items;
    items.push(...result[field].filter(isRecord));
    cursor = result.nextCursor;
    if (cursor === undefined) return items;
  }
  return items;
}
