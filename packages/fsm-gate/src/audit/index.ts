export {
  type AuditChain,
  type AuditChainOptions,
  type AuditHead,
  type ChainedRecord,
  createAuditChain,
  GENESIS,
} from './audit.js';
export type { AuditKind, AuditRecord } from './audit-types.js';
export { type BadLink, type Replay, type ReplayedSession, type ReplayOptions, replay } from './replay.js';
