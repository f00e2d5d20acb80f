/** Paused runs to store: the usual, the awkward and the large. */
import type { AgentRunState } from './harness.js';

/** A run that waits for the approval of one tool call. `tag` tells it from others. */
export function aPausedRun(tag = 'sample'): AgentRunState {
  const toolCall = { id: `call-${tag}`, name: 'delete_user', arguments: { id: 42, reason: 'asked for by its owner' } };
  return {
    messages: [
      { role: 'system', content: 'You look after accounts.' },
      { role: 'user', content: [{ type: 'text', text: 'Delete user 42, please.' }] },
      { role: 'assistant', content: '', toolCalls: [toolCall] },
    ],
    pendingToolCallIds: [toolCall.id],
    stepsSoFar: 3,
    tokensSoFar: 1_234,
    pauseKind: 'approval',
    pendingApprovalToolCall: { toolCall, isClientTool: false },
    meta: { tag },
  };
}

/** The tag of a run that {@link aPausedRun} made. */
export function tagOf(state: AgentRunState): string {
  const { meta } = state;
  return typeof meta === 'object' && meta !== null && 'tag' in meta ? String(meta.tag) : '';
}

/** A run with text that breaks careless encodings: NUL, quotes, emoji, combining marks, line separators, long text. */
export function aRunWithAwkwardText(): AgentRunState {
  const awkward = [
    '\u0000',
    '"\\\n\r\t',
    '👩‍👩‍👧',
    'e\u0301',
    '\u2028\u2029',
    '</script>',
    '日本語',
    '\uFEFF',
    'x'.repeat(70_000),
  ];
  return {
    ...aPausedRun('awkward'),
    messages: awkward.map((content) => ({ role: 'user', content })),
    meta: { '': 'empty key', constructor: 'a key', 'a.b': null, list: [0, -1.5, 1e21, true, []] },
  };
}

/** A run whose `meta` holds every kind of value that JSON loses or refuses. */
export function aRunBeyondJson(): AgentRunState {
  const withOwnProto: unknown = JSON.parse('{"__proto__": {"polluted": true}}');
  return {
    ...aPausedRun('beyond-json'),
    meta: {
      date: new Date(1_700_000_000_123),
      noDate: new Date(Number.NaN),
      big: -(2n ** 80n),
      nothing: undefined,
      numbers: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0],
      map: new Map<unknown, unknown>([[{ key: 1 }, new Set(['a', 1n])]]),
      bytes: new Uint8Array([0, 255, 128]),
      loneSurrogate: 'a\uD800b',
      withOwnProto,
    },
  };
}
