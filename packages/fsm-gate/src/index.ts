export type { AuditKind, AuditRecord } from './audit-types.js';
export type { EventOf, FsmConfig, StateOf } from './config.js';
export type {
  AllowedDecision,
  ArgumentsDecision,
  BusyDecision,
  ClosedDecision,
  GateDecision,
  RefusedDecision,
} from './decision-types.js';
export { EffectNotRecordedError, GateError, type GateErrorCode } from './errors.js';
export type {
  ArgumentGuard,
  DeclaredState,
  GateEvent,
  GateModel,
  GateStep,
  GuardContext,
  ToolBinding,
} from './model.js';
export type {
  Admission,
  CallOptions,
  CallToken,
  Contention,
  GateCall,
  GateSessions,
  GateSessionsOptions,
  GateTimers,
  OperatorNote,
  RunOutcome,
  SessionChange,
  SessionView,
} from './sessions-types.js';
export type { FsmSnapshot, FsmStateStore, MachineMemo, TransitionResult } from './snapshot.js';
export type { CommitOutcome, GateStore, ReserveOutcome, ReserveRequest, StoreChange, StoredSession } from './store.js';
