/** Conversations of a given size, of text that compresses about as real ones do. */
import type { AgentRunState, AiMessage } from '../src/types.js';

const WORDS =
  'the order was shipped on monday and the customer asks whether a refund of the second item can be approved before its invoice is due please look up account status history address payment method and reply with a short summary'.split(
    ' ',
  );

/** A run whose JSON has about `bytes` bytes. */
export function aRunOf(bytes: number): AgentRunState {
  const random = mulberry32(bytes);
  const messages: AiMessage[] = [];
  let size = 250;
  while (size < bytes) {
    const role = messages.length % 2 === 0 ? 'user' : 'assistant';
    const length = Math.min(600, Math.max(1, bytes - size - 40));
    let content = '';
    while (content.length < length) {
      const word = WORDS[Math.floor(random() * WORDS.length)]!;
      content += `${word}${random() < 0.2 ? Math.floor(random() * 1e6).toString(36) : ''} `;
    }
    messages.push({ role, content });
    size += content.length + 40;
  }
  const toolCall = { id: 'call_1', name: 'approve_refund', arguments: { amount: 4_200, currency: 'EUR' } };
  return {
    messages,
    pendingToolCallIds: [toolCall.id],
    stepsSoFar: 7,
    tokensSoFar: 5_321,
    pauseKind: 'approval',
    pendingApprovalToolCall: { toolCall, isClientTool: false },
  };
}

/** The same numbers in every run of the bench. */
export function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
