/** Paused runs as tests need them. */
import type { AgentRunState } from '../../src/index.js';

/** A run that stopped at an approval of one call. */
export function aPausedRun(overrides: Partial<AgentRunState> = {}): AgentRunState {
  return {
    messages: [
      { role: 'system', content: 'You help with accounts.' },
      { role: 'user', content: [{ type: 'text', text: 'Delete user 42' }] },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'call_1', name: 'delete_user', arguments: { id: 42 } }],
      },
    ],
    pendingToolCallIds: ['call_1'],
    stepsSoFar: 3,
    tokensSoFar: 1234,
    pauseKind: 'approval',
    pendingApprovalToolCall: {
      toolCall: { id: 'call_1', name: 'delete_user', arguments: { id: 42 } },
      isClientTool: false,
    },
    meta: { userId: 'ada', threadId: 't-1' },
    ...overrides,
  };
}

/** A clock that tests move. */
export interface TestClock {
  now(): number;
  advance(ms: number): void;
}

export function aClock(start = 1_750_000_000_000): TestClock {
  let at = start;
  return {
    now: () => at,
    advance(ms) {
      at += ms;
    },
  };
}
