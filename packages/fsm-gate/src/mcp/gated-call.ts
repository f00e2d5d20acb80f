/** One call through the gate: reserve, run the handler, then commit, roll back, release or hold. */
import type { Awaitable } from '../awaitable.js';
import type { GateCall, GateSessions } from '../sessions/sessions-types.js';
import { GateAttachError, GateRpcError } from './errors.js';
import type { HeldTasks } from './held-tasks.js';
import type { StoredHandler, WireRequest } from './interception.js';
import { type CallOutcome, outcomeOfCall } from './outcome.js';
import {
  type CallRefusal,
  type RefusalRenderer,
  type RefusalResult,
  renderRefusal,
  textOfRefusal,
} from './refusals.js';
import { targetOf } from './request-facts.js';
import { isRecord } from './server.js';
import { StateKeyError } from './state-key.js';

/** What calls are judged with. */
export interface GatedCallOptions {
  readonly sessions: GateSessions;
  readonly stateKey: (pending: PendingCall) => Awaitable<string | undefined>;
  readonly tasks: HeldTasks;
  readonly refusal: RefusalRenderer;
  readonly onError: (error: unknown) => void;
  /** Marks a request's context with what it is judged for. */
  readonly judging: symbol;
}

/** The call and how to run it. */
export interface PendingCall {
  readonly request: WireRequest;
  readonly context: unknown;
  readonly handler: StoredHandler;
  /**
   * The names by which it is bound: one for tools and prompts, perhaps several for a resource. All must be open; the first one
   * moves the session.
   */
  readonly boundAs: readonly string[];
  /** From the model: untrusted. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Whether the handler may be a wrapper around another guarded one, or be called by one. */
  readonly mayNest: boolean;
  /**
   * `AdmitOptions.waitSignal`: a call that was cancelled before it began runs as it does without the gate; only what waits is worth
   * giving up.
   */
  readonly waitSignal: AbortSignal | undefined;
}

/** Whether the call is judged further up already, for the same thing. */
export function isBeingJudged({ context, boundAs, mayNest }: PendingCall, { judging }: GatedCallOptions): boolean {
  return mayNest && isRecord(context) && (context as Marked)[judging] === boundAs[0];
}

type Marked = Record<PropertyKey, unknown>;

/**
 * Answers the call. Refusals of tools are results with `isError`; prompts, resources and tasks have only JSON-RPC errors.
 */
export function runGated(pending: PendingCall, options: GatedCallOptions): Promise<unknown> {
  if (!pending.mayNest || !isRecord(pending.context)) return answer(pending, options);
  // Only where it is asked for: it changes the shape of an object that the SDK works with, which costs more than the gate.
  const marked: Marked = pending.context;
  marked[options.judging] = pending.boundAs[0];
  return answer(pending, options).finally(() => {
    marked[options.judging] = undefined;
  });
}

/** What can be had at once is not awaited: a call that succeeds waits for its handler and for nothing else. */
function answer(pending: PendingCall, options: GatedCallOptions): Promise<unknown> {
  let admission: Awaitable<McpAdmission>;
  try {
    admission = admit(pending, options);
  } catch (error) {
    admission = Promise.reject(error);
  }
  if ('kind' in admission && admission.kind === 'admitted') return execute(admission.call, pending, options);
  return answerLater(admission, pending, options);
}

async function answerLater(
  asked: Awaitable<McpAdmission>,
  pending: PendingCall,
  options: GatedCallOptions,
): Promise<unknown> {
  let admission: McpAdmission;
  try {
    admission = await asked;
  } catch (error) {
    return refuse(pending, refusalOf(error, pending, options), options);
  }
  if (admission.kind === 'refused') return refuse(pending, admission.decision, options);
  return execute(admission.call, pending, options);
}

/** Nothing that happens here is a failure to decide. One `await`: what an async function keeps for each is made with every call. */
async function execute(call: GateCall, pending: PendingCall, options: GatedCallOptions): Promise<unknown> {
  try {
    const result: unknown = await pending.handler(pending.request, pending.context);
    const outcome = outcomeOfCall(pending.request, result);
    return outcome.kind === 'success' ? commit(call, pending, result, options) : end(call, outcome, result, options);
  } catch (error) {
    return fail(call, error);
  }
}

async function fail(call: GateCall, error: unknown): Promise<never> {
  await call.rollback('threw');
  throw error;
}

/** Ends a call whose handler answered something else than a success, and gives what the client gets. */
async function end(
  call: GateCall,
  outcome: Exclude<CallOutcome, { kind: 'success' }>,
  result: unknown,
  { tasks }: GatedCallOptions,
): Promise<unknown> {
  switch (outcome.kind) {
    case 'failure':
      await call.rollback(outcome.reason);
      return result;
    case 'input_required':
      await call.rollback('input_required');
      return result;
    case 'task':
      try {
        await tasks.hold(outcome, call);
      } catch (error) {
        return fail(call, error);
      }
      return result;
    default:
      return outcome satisfies never;
  }
}

/** Before the answer leaves, so that the next call of this client finds the new state. */
function commit(call: GateCall, pending: PendingCall, result: unknown, options: GatedCallOptions): unknown {
  const settled = call.settle(result);
  if ('changed' in settled) return result;
  return settled.then(
    () => result,
    (error: unknown) => {
      options.onError(error);
      return effectNotRecorded(pending, result);
    },
  );
}

type McpAdmission =
  | { readonly kind: 'admitted'; readonly call: GateCall }
  | { readonly kind: 'refused'; readonly decision: CallRefusal };

function admit(pending: PendingCall, options: GatedCallOptions): Awaitable<McpAdmission> {
  const key = options.stateKey(pending);
  if (typeof key === 'string' || key === undefined) return admitTo(key, pending, options);
  return key.then((resolved) => admitTo(resolved, pending, options));
}

function admitTo(
  key: string | undefined,
  pending: PendingCall,
  { sessions }: GatedCallOptions,
): Awaitable<McpAdmission> {
  const { args, boundAs } = pending;
  const tool = boundAs[0] as string;
  if (key === undefined) return { kind: 'refused', decision: { kind: 'refused', reason: 'no_session', tool } };
  const admission = sessions.admit(key, tool, args, pending);
  if (boundAs.length === 1) return admission;
  return Promise.resolve(admission).then((admitted) => askOthers(admitted, key, pending, sessions));
}

/** The other bindings of a resource must be open too; they move nothing. */
async function askOthers(
  admission: McpAdmission,
  key: string,
  { boundAs, args }: PendingCall,
  sessions: GateSessions,
): Promise<McpAdmission> {
  if (admission.kind === 'refused') return admission;
  try {
    for (const other of boundAs.slice(1)) {
      const decision = await sessions.decide(key, other, args);
      if (decision.kind === 'allowed') continue;
      await admission.call.rollback('another binding refused');
      return { kind: 'refused', decision };
    }
    return admission;
  } catch (error) {
    await admission.call.rollback('another binding could not be read');
    throw error;
  }
}

/** What kept the gate from deciding, as a refusal. */
function refusalOf(error: unknown, { waitSignal, boundAs }: PendingCall, { onError }: GatedCallOptions): CallRefusal {
  const [tool = ''] = boundAs;
  if (error instanceof StateKeyError) return { kind: 'refused', reason: 'bad_key', tool, detail: error.message };
  // The client cancelled while it waited for the session: nobody is there to be told.
  if (waitSignal?.aborted === true && error === waitSignal.reason) throw error;
  // Who the request is for could not be told: `onError` knows, and the message is for the client.
  if (error instanceof GateAttachError && error.code === 'STATE_UNAVAILABLE') throw error;
  onError(error);
  return { kind: 'refused', reason: 'unavailable', tool };
}

function refuse(pending: PendingCall, refusal: CallRefusal, options: GatedCallOptions): unknown {
  // A request for a task (2025-11-25) may be answered by a task or by an error, not by a result.
  const wantsTask = isRecord(pending.request.params?.task);
  if (pending.request.method !== 'tools/call' || wantsTask) {
    throw new GateRpcError(textOfRefusal(refusal), { reason: refusal.reason });
  }
  return { ...rendered(refusal, options), isError: true };
}

function rendered(refusal: CallRefusal, { refusal: render, onError }: GatedCallOptions): RefusalResult {
  try {
    return render(refusal);
  } catch (error) {
    onError(error);
    return renderRefusal(refusal);
  }
}

/**
 * The effect happened and the state did not move: the model must know both, and the handler's own answer must not be lost. What
 * exactly failed went to `onError`; it may name hosts that are nobody's business here.
 */
function effectNotRecorded(pending: PendingCall, result: unknown): unknown {
  const text =
    `"${targetOf(pending.request)}" has run and its effect happened, but the new state of this session could not be recorded. ` +
    'Do not run it again: check the effect first.';
  if (pending.request.method !== 'tools/call') throw new GateRpcError(text, { reason: 'effect_not_recorded' });
  const content = isRecord(result) && Array.isArray(result.content) ? result.content : [];
  return { content: [{ type: 'text', text }, ...content], isError: true };
}
