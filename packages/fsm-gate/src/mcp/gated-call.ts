/** One call through the gate: reserve, run the handler, then commit, roll back, release or hold. */
import type { GateCall, GateSessions } from '../sessions-types.js';
import { GateRpcError } from './errors.js';
import type { HeldTasks } from './held-tasks.js';
import type { StoredHandler, WireRequest } from './interception.js';
import { outcomeOfCall } from './outcome.js';
import {
  type CallRefusal,
  type RefusalRenderer,
  type RefusalResult,
  renderRefusal,
  textOfRefusal,
} from './refusals.js';
import type { RequestFacts } from './request-facts.js';
import { isRecord } from './server.js';
import { StateKeyError, type StateKeyResolver } from './state-key.js';

/** What calls are judged with. */
export interface GatedCallOptions {
  readonly sessions: GateSessions;
  readonly stateKey: StateKeyResolver;
  readonly tasks: HeldTasks;
  readonly refusal: RefusalRenderer;
  readonly onError: (error: unknown) => void;
}

/** The call and how to run it. */
export interface PendingCall {
  readonly request: WireRequest;
  readonly context: unknown;
  readonly handler: StoredHandler;
  readonly facts: RequestFacts;
  /**
   * The names by which it is bound: one for tools and prompts, perhaps several for a resource. All must be open; the first one
   * moves the session.
   */
  readonly boundAs: readonly string[];
}

/** Answers the call. Refusals of tools are results with `isError`; prompts, resources and tasks have only JSON-RPC errors. */
export async function runGated(pending: PendingCall, options: GatedCallOptions): Promise<unknown> {
  const admission = await admit(pending, options);
  if (admission.kind === 'refused') return refuse(pending, admission.refusal, options);
  const { call } = admission;
  let result: unknown;
  try {
    result = await pending.handler(pending.request, pending.context);
  } catch (error) {
    await call.rollback('threw');
    throw error;
  }
  const outcome = outcomeOfCall(pending.request, result);
  switch (outcome.kind) {
    case 'success':
      // Before the answer leaves, so that the next call of this client finds the new state.
      return commit(call, pending, result, options);
    case 'failure':
      await call.rollback(outcome.reason);
      return result;
    case 'input_required':
      await call.rollback('input_required');
      return result;
    case 'task':
      await options.tasks.hold(outcome, call);
      return result;
    default:
      return outcome satisfies never;
  }
}

type Admission =
  | { readonly kind: 'admitted'; readonly call: GateCall }
  | { readonly kind: 'refused'; readonly refusal: CallRefusal };

async function admit(pending: PendingCall, options: GatedCallOptions): Promise<Admission> {
  const [tool = ''] = pending.boundAs;
  try {
    const resolved = options.stateKey(pending.facts);
    const key = resolved instanceof Promise ? await resolved : resolved;
    if (key === undefined) return { kind: 'refused', refusal: { kind: 'refused', reason: 'no_session', tool } };
    return await reserve(key, tool, pending, options.sessions);
  } catch (error) {
    if (error instanceof StateKeyError) {
      return { kind: 'refused', refusal: { kind: 'refused', reason: 'bad_key', tool, detail: error.message } };
    }
    // The client cancelled while it waited for the session: nobody is there to be told.
    if (pending.facts.signal?.aborted === true) throw error;
    options.onError(error);
    return { kind: 'refused', refusal: { kind: 'refused', reason: 'unavailable', tool } };
  }
}

async function reserve(
  key: string,
  tool: string,
  { facts, boundAs }: PendingCall,
  sessions: GateSessions,
): Promise<Admission> {
  const waiting = facts.signal === undefined ? {} : { signal: facts.signal };
  const admission = await sessions.reserve(key, tool, facts.arguments, waiting);
  if (admission.kind === 'refused') return { kind: 'refused', refusal: admission.decision };
  if (boundAs.length === 1) return admission;
  try {
    for (const other of boundAs.slice(1)) {
      const decision = await sessions.decide(key, other, facts.arguments);
      if (decision.kind === 'allowed') continue;
      await admission.call.rollback('another binding refused');
      return { kind: 'refused', refusal: decision };
    }
    return admission;
  } catch (error) {
    await admission.call.rollback('another binding could not be read');
    throw error;
  }
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

async function commit(
  call: GateCall,
  pending: PendingCall,
  result: unknown,
  options: GatedCallOptions,
): Promise<unknown> {
  try {
    await call.commit(result);
    return result;
  } catch (error) {
    options.onError(error);
    return effectNotRecorded(pending, result);
  }
}

/**
 * The effect happened and the state did not move: the model must know both, and the handler's own answer must not be lost. What
 * exactly failed went to `onError`; it may name hosts that are nobody's business here.
 */
function effectNotRecorded(pending: PendingCall, result: unknown): unknown {
  const text =
    `"${pending.facts.name}" has run and its effect happened, but the new state of this session could not be recorded. ` +
    'Do not run it again: check the effect first.';
  if (pending.request.method !== 'tools/call') throw new GateRpcError(text, { reason: 'effect_not_recorded' });
  const content = isRecord(result) && Array.isArray(result.content) ? result.content : [];
  return { content: [{ type: 'text', text }, ...content], isError: true };
}
