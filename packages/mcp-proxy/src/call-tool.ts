/** The one way in which a tool is called: allow-list, pins, approval, connection, then the call and at most one retry. */
import type { ProxyAnswer } from './answers.js';
import { abortable, withoutReason } from './connection/abort.js';
import type { ServerEntry } from './connection/server-entry.js';
import type { Settings } from './connection/settings.js';
import { connectionErrorCode, type McpConnectionErrorCode } from './errors.js';
import type { ProxyEvent } from './events.js';
import type { ApprovalDecision, ApproveCall } from './options.js';
import { isAllowed } from './security/admit.js';
import { canonicalJson, pinnedDefinition } from './security/canonical.js';
import { reasonOf } from './text/clean.js';
import type { IMcpCallOptions, IMcpServer, IMcpServerSpec, IMcpToolInfo } from './types.js';

/** As much as the answer shows. */
const MAX_REASON_CHARS = 2_000;

export interface ToolCall {
  readonly entry: ServerEntry;
  readonly toolName: string;
  readonly args: unknown;
}

export interface CallSettings {
  readonly settings: Settings;
  readonly approve: ApproveCall | undefined;
}

export type RunOptions = IMcpCallOptions & { readonly signal?: AbortSignal | undefined };

type Ready = { readonly kind: 'ready'; readonly server: IMcpServer; readonly tool: IMcpToolInfo };
type Outcome = Extract<ProxyEvent, { type: 'call' }>['outcome'];

/** Answers every failure; rejects only with the reason of the caller's signal. */
export async function callTool(
  call: ToolCall,
  { settings, approve }: CallSettings,
  options: RunOptions,
): Promise<ProxyAnswer> {
  const { entry, toolName } = call;
  const startedAt = settings.now();
  const report = (outcome: Outcome): void => {
    const durationMs = settings.now() - startedAt;
    settings.emit({ type: 'call', serverName: entry.serverName, toolName, durationMs, outcome });
  };
  try {
    const { answer, outcome } = await attempt(call, { settings, approve }, options);
    report(outcome);
    return answer;
  } catch (error) {
    report(options.signal?.aborted ? 'aborted' : 'failed');
    throw error;
  }
}

interface Attempt {
  readonly answer: ProxyAnswer;
  readonly outcome: Outcome;
}

async function attempt(call: ToolCall, { settings, approve }: CallSettings, options: RunOptions): Promise<Attempt> {
  const { entry, toolName } = call;
  let ready = await makeReady(entry, toolName, options.signal);
  if (ready.kind !== 'ready') return notReady(ready);
  let { args } = call;
  if (approve !== undefined) {
    // What is called is what was approved, whatever the host does to its object in the meantime.
    const copied = copyOf(call.args);
    if (copied.kind !== 'copy') return decided(entry, ready.tool, copied);
    args = copied.args;
    const decision = await askApproval(entry, ready.tool, args, approve, options);
    if (decision?.kind !== 'allow') return decided(entry, ready.tool, decision);
    const approved = ready.tool;
    ready = await makeReady(entry, toolName, options.signal);
    if (ready.kind !== 'ready') return notReady(ready);
    if (!sameDefinition(approved, ready.tool)) {
      const reason = 'its definition changed while the call waited for approval; describe it and call again';
      return decided(entry, ready.tool, { kind: 'deny', reason });
    }
  }
  const sent = await send(ready, args, options);
  const retried = sent.kind === 'failed' && mayRetry(sent.error, ready.tool, entry.spec);
  if (!retried) return outcomeOf(entry, ready, sent);

  const reason = reasonOf(sent.error);
  settings.emit({ type: 'call_retried', serverName: entry.serverName, toolName, reason });
  entry.drop(ready.server, reason);
  const again = await makeReady(entry, toolName, options.signal);
  if (again.kind !== 'ready') return notReady(again);
  if (!sameDefinition(ready.tool, again.tool)) {
    return decided(entry, again.tool, { kind: 'deny', reason: 'its definition changed when its server was restarted' });
  }
  return outcomeOf(entry, again, await send(again, args, options));
}

function notReady(answer: ProxyAnswer): Attempt {
  return { answer, outcome: answer.kind === 'server_failed' ? 'failed' : 'refused' };
}

/** A connected server that lists the tool, now: what is called is what is visible at this moment. */
async function makeReady(
  entry: ServerEntry,
  toolName: string,
  signal: AbortSignal | undefined,
): Promise<Ready | ProxyAnswer> {
  const ensured = await entry.ensure('known', signal);
  if (ensured.kind === 'failed') return { kind: 'server_failed', status: entry.status(), reason: ensured.reason };
  const tool = isAllowed(entry.spec, toolName) ? entry.tools.visible()?.get(toolName) : undefined;
  if (tool !== undefined) return { kind: 'ready', server: ensured.server, tool };
  const { serverName } = entry;
  const held = entry.tools.held().find((candidate) => candidate.toolName === toolName);
  if (held !== undefined) return { kind: 'held', serverName, held };
  return { kind: 'unknown_tool', tool: toolName, server: serverName, similar: [], skipped: [] };
}

type Copied = { readonly kind: 'copy'; readonly args: unknown } | { readonly kind: 'deny'; readonly reason: string };

function copyOf(args: unknown): Copied {
  try {
    return { kind: 'copy', args: structuredClone(args) };
  } catch (error) {
    return { kind: 'deny', reason: `its arguments cannot be copied (${reasonOf(error)}); pass JSON values only` };
  }
}

/** What the hook says; undefined when it says nothing, which only a hook without types can do. */
async function askApproval(
  entry: ServerEntry,
  tool: IMcpToolInfo,
  args: unknown,
  approve: ApproveCall,
  { signal, context }: RunOptions,
): Promise<ApprovalDecision | undefined> {
  const { serverName } = entry;
  const request = { serverName, toolName: tool.name, args: structuredClone(args), annotations: tool.annotations, tool };
  try {
    return await abortable(Promise.resolve(approve(request, { signal, context })), signal);
  } catch (error) {
    signal?.throwIfAborted();
    return { kind: 'deny', reason: `the approval could not be asked for: ${reasonOf(error)}` };
  }
}

function decided(
  entry: ServerEntry,
  tool: IMcpToolInfo,
  decision: Exclude<ApprovalDecision, { kind: 'allow' }> | undefined,
): Attempt {
  const listed = { serverName: entry.serverName, tool };
  if (decision?.kind === 'answer') {
    return { answer: { kind: 'result', tool: listed, result: decision.result }, outcome: 'answered' };
  }
  // Anything that is no clear yes is a no.
  const reason = decision?.kind === 'deny' ? decision.reason : 'the approval hook gave no decision';
  return { answer: { kind: 'refused', tool: listed, reason }, outcome: 'refused' };
}

type Sent =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

async function send({ server, tool }: Ready, args: unknown, options: RunOptions): Promise<Sent> {
  const { signal: callerSignal, ...callOptions } = options;
  const { signal, stop } = withoutReason(callerSignal);
  try {
    return {
      kind: 'result',
      result: await abortable(server.callTool(tool.name, args, signal, callOptions), callerSignal),
    };
  } catch (error) {
    callerSignal?.throwIfAborted();
    return { kind: 'failed', error };
  } finally {
    stop();
  }
}

function outcomeOf(entry: ServerEntry, { server, tool }: Ready, sent: Sent): Attempt {
  const listed = { serverName: entry.serverName, tool };
  if (sent.kind === 'result') {
    const { result } = sent;
    const isError = typeof result === 'object' && result !== null && Reflect.get(result, 'isError') === true;
    return { answer: { kind: 'result', tool: listed, result }, outcome: isError ? 'tool_error' : 'ok' };
  }
  // An upstream's own words; they may hold an address that is of use only as a whole.
  const reason = reasonOf(sent.error, MAX_REASON_CHARS);
  if (connectionErrorCode(sent.error) !== undefined) entry.drop(server, reason);
  return { answer: { kind: 'call_failed', tool: listed, reason, error: sent.error }, outcome: 'failed' };
}

/** A call that was not sent can be sent; one that was, only when doing it twice does no more than doing it once. */
function mayRetry(error: unknown, tool: IMcpToolInfo, spec: IMcpServerSpec): boolean {
  const code: McpConnectionErrorCode | undefined = connectionErrorCode(error);
  switch (code) {
    case undefined:
      return false;
    case 'NOT_SENT':
      return true;
    case 'CONNECTION_LOST':
      return isIdempotent(tool, spec);
    default:
      return code satisfies never;
  }
}

function isIdempotent(tool: IMcpToolInfo, spec: IMcpServerSpec): boolean {
  if (spec.idempotentTools?.includes(tool.name)) return true;
  if (spec.trustHints === 'never') return false;
  return tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true;
}

function sameDefinition(a: IMcpToolInfo, b: IMcpToolInfo): boolean {
  return a === b || canonicalJson(pinnedDefinition(a)) === canonicalJson(pinnedDefinition(b));
}
