/**
 * Does a decision answer what a run waits for? Pure: the run's pending ids, what was decided before and the decision
 * in; a verdict out. Nothing is taken or stored here.
 */
import { encodeValue } from '../codec/encode.js';
import type { DecisionProblem } from '../errors.js';
import type { AgentPauseKind } from '../types.js';

/** The result of one tool that the client ran. */
export interface ToolCallResult {
  readonly toolCallId: string;
  readonly result: unknown;
  readonly isError?: boolean;
}

/** A no, with the reason if there is one. */
export interface Rejection {
  readonly toolCallId: string;
  readonly reason?: string;
}

/** What a caller brings: `results` for a run that waits for client tools, `approved` and `rejected` for an approval. */
export interface RunDecision {
  readonly results?: readonly ToolCallResult[];
  readonly approved?: readonly string[];
  readonly rejected?: readonly (string | Rejection)[];
}

/** A decision that covers every pending id exactly once. */
export interface CompleteDecision {
  readonly results: readonly ToolCallResult[];
  readonly approved: readonly string[];
  readonly rejected: readonly Rejection[];
}

/** What has been decided of one pending id. */
export type Verdict =
  | { readonly kind: 'result'; readonly toolCallId: string; readonly result: unknown; readonly isError?: boolean }
  | { readonly kind: 'approved'; readonly toolCallId: string }
  | { readonly kind: 'rejected'; readonly toolCallId: string; readonly reason?: string };

export interface DecisionQuestion {
  readonly pauseKind: AgentPauseKind;
  readonly pending: readonly string[];
  /** From earlier partial decisions. */
  readonly decided: readonly Verdict[];
}

export type DecisionCheck =
  | { readonly kind: 'complete'; readonly decision: CompleteDecision }
  | { readonly kind: 'partial'; readonly decided: readonly Verdict[]; readonly missing: readonly string[] }
  | { readonly kind: 'invalid'; readonly problems: readonly DecisionProblem[] };

/**
 * Checks that every id is pending, answered in the run's own kind, at most once and without contradiction, also with
 * what was decided before (repeating the same verdict is fine).
 */
export function checkDecision(question: DecisionQuestion, decision: unknown): DecisionCheck {
  const parsed = parseDecision(decision);
  if (parsed.kind === 'malformed') return { kind: 'invalid', problems: parsed.problems };
  const problems: DecisionProblem[] = [];
  const decided = new Map(question.decided.map((verdict) => [verdict.toolCallId, verdict]));
  const seen = new Map<string, Verdict>();
  for (const verdict of parsed.verdicts) {
    const id = verdict.toolCallId;
    const twin = seen.get(id);
    const earlier = decided.get(id);
    if (!question.pending.includes(id)) problems.push({ kind: 'not_pending', id });
    else if (twin !== undefined) problems.push({ kind: twin.kind === verdict.kind ? 'doubled' : 'contradicting', id });
    else if ((verdict.kind === 'result') !== (question.pauseKind === 'client_tool')) {
      problems.push({ kind: 'wrong_kind', id });
    } else if (earlier !== undefined && !sameVerdict(earlier, verdict)) problems.push({ kind: 'already_decided', id });
    seen.set(id, verdict);
  }
  if (problems.length > 0) return { kind: 'invalid', problems };

  const all = [...new Map([...decided, ...seen]).values()];
  const missing = question.pending.filter((id) => !decided.has(id) && !seen.has(id));
  if (missing.length > 0) return { kind: 'partial', decided: all, missing };
  return { kind: 'complete', decision: completeDecision(question.pending, all) };
}

type Parsed =
  | { readonly kind: 'verdicts'; readonly verdicts: readonly Verdict[] }
  | { readonly kind: 'malformed'; readonly problems: readonly DecisionProblem[] };

/** Decisions come from forms and clients: every field is looked at before it is believed. */
function parseDecision(decision: unknown): Parsed {
  if (typeof decision !== 'object' || decision === null) return malformed('decision');
  const verdicts: Verdict[] = [];
  for (const field of ['results', 'approved', 'rejected'] as const) {
    const list: unknown = Reflect.get(decision, field);
    if (list === undefined) continue;
    if (!Array.isArray(list)) return malformed(field);
    for (const [i, item] of list.entries()) {
      const verdict = parseVerdict(field, item);
      if (verdict === undefined) return malformed(`${field}[${i}]`);
      verdicts.push(verdict);
    }
  }
  return { kind: 'verdicts', verdicts };
}

function parseVerdict(field: 'results' | 'approved' | 'rejected', item: unknown): Verdict | undefined {
  if (typeof item === 'string') {
    if (field === 'results') return undefined;
    return { kind: field, toolCallId: item };
  }
  if (field === 'approved' || typeof item !== 'object' || item === null) return undefined;
  const toolCallId: unknown = Reflect.get(item, 'toolCallId');
  if (typeof toolCallId !== 'string') return undefined;
  if (field === 'results') {
    const isError: unknown = Reflect.get(item, 'isError');
    const result: unknown = Reflect.get(item, 'result');
    if (isError === undefined) return { kind: 'result', toolCallId, result };
    return typeof isError === 'boolean' ? { kind: 'result', toolCallId, result, isError } : undefined;
  }
  const reason: unknown = Reflect.get(item, 'reason');
  if (reason === undefined) return { kind: 'rejected', toolCallId };
  return typeof reason === 'string' ? { kind: 'rejected', toolCallId, reason } : undefined;
}

function malformed(field: string): Parsed {
  return { kind: 'malformed', problems: [{ kind: 'malformed', id: field }] };
}

function sameVerdict(a: Verdict, b: Verdict): boolean {
  const [left, right] = [encodeValue(a).bytes, encodeValue(b).bytes];
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}

/** In the order in which the run asks. */
function completeDecision(pending: readonly string[], verdicts: readonly Verdict[]): CompleteDecision {
  const byId = new Map(verdicts.map((verdict) => [verdict.toolCallId, verdict]));
  const results: ToolCallResult[] = [];
  const approved: string[] = [];
  const rejected: Rejection[] = [];
  for (const id of pending) {
    const verdict = byId.get(id);
    switch (verdict?.kind) {
      case 'result': {
        const { kind: _, ...result } = verdict;
        results.push(result);
        break;
      }
      case 'approved':
        approved.push(id);
        break;
      case 'rejected': {
        const { kind: _, ...rejection } = verdict;
        rejected.push(rejection);
        break;
      }
      case undefined:
        break;
      default:
        verdict satisfies never;
    }
  }
  return { results, approved, rejected };
}
