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
export { initFsmEngine, resetXStateCache } from './engine.js';
export { EffectNotRecordedError, GateError, type GateErrorCode } from './errors.js';
export { StateMachineGate } from './gate.js';
export { GateBase, type GateOptions } from './gate-base.js';
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
export type { FsmSnapshot, FsmStateStore, MachineMemo, TransitionResult } from './snapshot.js';
