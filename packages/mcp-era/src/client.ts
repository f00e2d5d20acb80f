export { connectClient } from './client/connect.js';
export { type MismatchContext, mayBeMismatch } from './client/mismatch.js';
export type { ConnectOptions, EraConnection, EraHeal } from './client/options.js';
export { type EraPrior, priorOf } from './client/prior.js';
export {
  type ClientIdentity,
  type ConnectableClient,
  type ImportModule,
  type OfficialClient,
  SdkMissingError,
} from './client/sdk.js';
export { authContextOf, type EraTarget, type OwnTransportTarget } from './client/target.js';
