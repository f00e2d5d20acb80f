/** Fails to compile when a name, parameter or result of the contract is lost. Assignability: a superset is welcome. */
import { describe, expectTypeOf, it } from 'vitest';
import type {
  AgentPauseKind,
  AgentRunState,
  AgentRunStore,
  AiContentPart,
  AiMessage,
  CacheAdapter,
  CachedAgentRunStoreOptions,
  CachedSubAgentRunStoreOptions,
  InMemoryRunStoreOptions,
  RunScope,
  StoreRunOptions,
  SubAgentPauseKind,
  SubAgentRunSnapshot,
  SubAgentRunStore,
  ToolCall,
} from '../src/index.js';
import {
  CachedAgentRunStore,
  type CachedRunStoreBase,
  CachedSubAgentRunStore,
  InMemoryAgentRunStore,
  type InMemoryRunStoreBase,
  InMemorySubAgentRunStore,
  newAgentRunId,
} from '../src/index.js';

interface ContractState {
  messages: AiMessage[];
  pendingToolCallIds: string[];
  stepsSoFar: number;
  tokensSoFar: number;
  pauseKind?: 'client_tool' | 'approval';
  pendingApprovalToolCall?: {
    toolCall: { id: string; name: string; arguments: Record<string, unknown> };
    isClientTool: boolean;
  };
  meta?: unknown;
}
interface ContractStore {
  store(runId: string, state: ContractState): Promise<void>;
  load(runId: string): Promise<ContractState | null>;
  consume(runId: string): Promise<ContractState | null>;
}
interface ContractCache {
  get<T>(key: string): Promise<T | null>;
  set(key: string, value: unknown, ttlSeconds?: number): Promise<void>;
  forget(key: string): Promise<void>;
}
declare const cache: ContractCache;

describe('the contract of the states', () => {
  it('keeps both families in one shape', () => {
    expectTypeOf<AgentRunState>().toExtend<ContractState>();
    expectTypeOf<ContractState>().toExtend<AgentRunState>();
    expectTypeOf<SubAgentRunSnapshot>().toExtend<ContractState>();
    expectTypeOf<ContractState>().toExtend<SubAgentRunSnapshot>();
    expectTypeOf<AgentPauseKind>().toEqualTypeOf<'client_tool' | 'approval'>();
    expectTypeOf<SubAgentPauseKind>().toEqualTypeOf<'client_tool' | 'approval'>();
  });

  it('keeps messages, parts and tool calls', () => {
    expectTypeOf<{ role: 'tool'; content: string; toolCallId: string }>().toExtend<AiMessage>();
    expectTypeOf<{ role: 'assistant'; content: AiContentPart[]; toolCalls: ToolCall[] }>().toExtend<AiMessage>();
    expectTypeOf<{ type: 'document'; data: string; mimeType: string; name: string }>().toExtend<AiContentPart>();
    expectTypeOf<{ type: 'image'; data: string; mimeType: string }>().toExtend<AiContentPart>();
    expectTypeOf<{ type: 'text'; text: string }>().toExtend<AiContentPart>();
  });

  it('keeps the options', () => {
    expectTypeOf<{ scope: RunScope; ttlSeconds: number; ifAbsent: boolean }>().toExtend<StoreRunOptions>();
    expectTypeOf<{ tenant: string; principal: string; threadId: string }>().toExtend<RunScope>();
    expectTypeOf<{ ttlSeconds: number; maxRuns: number; now: () => number }>().toExtend<InMemoryRunStoreOptions>();
    expectTypeOf<{
      cache: ContractCache;
      keyPrefix: string;
      ttlSeconds: number;
    }>().toExtend<CachedAgentRunStoreOptions>();
    expectTypeOf<{
      cache: ContractCache;
      keyPrefix: string;
      ttlSeconds: number;
    }>().toExtend<CachedSubAgentRunStoreOptions>();
    expectTypeOf<ContractCache>().toExtend<CacheAdapter>();
  });
});

describe('the contract of the stores', () => {
  it('makes every class a store of its family', () => {
    expectTypeOf(new InMemoryAgentRunStore()).toExtend<ContractStore>();
    expectTypeOf(new InMemoryAgentRunStore()).toExtend<AgentRunStore>();
    expectTypeOf(new InMemoryAgentRunStore()).toExtend<InMemoryRunStoreBase<AgentRunState>>();
    expectTypeOf(new CachedAgentRunStore({ cache })).toExtend<ContractStore>();
    expectTypeOf(new CachedAgentRunStore({ cache })).toExtend<AgentRunStore>();
    expectTypeOf(new CachedAgentRunStore({ cache })).toExtend<CachedRunStoreBase<AgentRunState>>();
    expectTypeOf(new InMemorySubAgentRunStore()).toExtend<SubAgentRunStore>();
    expectTypeOf(new InMemorySubAgentRunStore()).toExtend<ContractStore>();
    expectTypeOf(new CachedSubAgentRunStore({ cache })).toExtend<SubAgentRunStore>();
    expectTypeOf(new CachedSubAgentRunStore({ cache })).toExtend<ContractStore>();
    expectTypeOf(new InMemoryAgentRunStore({ ttlSeconds: 1, maxRuns: 2, now: () => 0 }).clear).toBeCallableWith();
  });

  it('asks no more of a store than the contract does', () => {
    expectTypeOf<ContractStore>().toExtend<AgentRunStore>();
    expectTypeOf<Omit<ContractStore, 'load'>>().toExtend<SubAgentRunStore>();
    expectTypeOf(newAgentRunId()).toEqualTypeOf<string>();
  });
});
