export type { AuditKind, AuditRecord } from '../audit/audit-types.js';
export { type MemoryGateStoreOptions, memoryGateStore } from './memory-store.js';
export { outcomeOfResult } from './outcome.js';
export { createGateSessions } from './sessions.js';
export type {
  Admission,
  AdmitOptions,
  CallOptions,
  CallToken,
  Contention,
  GateCall,
  GateSessions,
  GateSessionsOptions,
  GateTimers,
  OperatorNote,
  RunOutcome,
  SendOptions,
  SessionChange,
  SessionView,
} from './sessions-types.js';
export { serialisedStore } from './state-store.js';
export type { CommitOutcome, GateStore, ReserveOutcome, ReserveRequest, StoreChange, StoredSession } from './store.js';
