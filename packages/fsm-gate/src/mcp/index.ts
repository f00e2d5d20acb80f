export { type AttachedGate, type AttachGateOptions, attachGate } from './attach.js';
export { GateAttachError, type GateAttachErrorCode } from './errors.js';
export {
  createStateHandles,
  type HandleCheck,
  type HandleOwner,
  type StateHandles,
  type StateHandlesOptions,
} from './handles.js';
export type { PrincipalListeners } from './list-changes.js';
export type { ListingMode } from './listing.js';
export { promptName, resourceName } from './names.js';
export {
  createPrincipalHandlers,
  type FetchHandler,
  type ListenBus,
  type ListenEvent,
  type PrincipalHandlers,
  type PrincipalHandlersOptions,
} from './principal-handlers.js';
export {
  type BadKeyRefusal,
  type CallRefusal,
  type NoSessionRefusal,
  type RefusalRenderer,
  type RefusalResult,
  renderRefusal,
  textOfRefusal,
  type UnavailableRefusal,
} from './refusals.js';
export { type RequestAuth, type RequestFacts, subjectOf } from './request-facts.js';
export type { AttachableServer, ProtocolEra, ProtocolServer } from './server.js';
export {
  firstStateKey,
  principalKey,
  StateKeyError,
  type StateKeyResolver,
  stateKeyOfArgument,
  stateKeyOfPrincipal,
  stateKeyOfSession,
} from './state-key.js';
export type { McpTimers } from './timers.js';
