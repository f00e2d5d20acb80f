export {
  type AuditChain,
  type AuditChainOptions,
  type AuditHead,
  type ChainedRecord,
  createAuditChain,
  GENESIS,
} from './audit.js';
export type { AuditKind, AuditRecord } from './audit-types.js';
export type { BindOptions } from './binding.js';
export type { EventOf, FsmConfig, StateOf } from './config.js';
export { decide, openTools, refusalText, wayTo } from './decision.js';
export type {
  AllowedDecision,
  ArgumentsDecision,
  BusyDecision,
  ClosedDecision,
  GateDecision,
  RefusedDecision,
} from './decision-types.js';
export { type Drawable, type MermaidOptions, toMermaid } from './diagram.js';
export { initFsmEngine, resetXStateCache } from './engine.js';
export { EffectNotRecordedError, GateError, type GateErrorCode } from './errors.js';
export { StateMachineGate } from './gate.js';
export { GateBase, type GateOptions } from './gate-base.js';
export { type MemoryGateStoreOptions, memoryGateStore } from './memory-store.js';
export type {
  ArgumentGuard,
  DeclaredState,
  EventChooser,
  GateEvent,
  GateLike,
  GateModel,
  GateStep,
  GuardContext,
  ToolBinding,
} from './model.js';
export { outcomeOfResult } from './outcome.js';
export { explorePaths, type GatePath, type PathOptions, type PathStep } from './paths.js';
export { type BadLink, type Replay, type ReplayedSession, type ReplayOptions, replay } from './replay.js';
export { createGateSessions } from './sessions.js';
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
  SendOptions,
  SessionChange,
  SessionView,
} from './sessions-types.js';
export type { FsmSnapshot, FsmStateStore, MachineMemo, TransitionResult } from './snapshot.js';
export { serialisedStore } from './state-store.js';
export type { CommitOutcome, GateStore, ReserveOutcome, ReserveRequest, StoreChange, StoredSession } from './store.js';
export { assertSound, type GateFinding, type GateFindingCode, type VerifyOptions, verifyGate } from './verify.js';
