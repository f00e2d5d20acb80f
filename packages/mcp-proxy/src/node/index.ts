export type {
  ParseConfigOptions,
  ParsedConfig,
  UpstreamConfig,
  UpstreamEndpoint,
  UpstreamLifecycle,
} from './config.js';
export { parseConfig } from './config.js';
export type { WatchConfigOptions } from './config-file.js';
export { readConfigFile, readConfigFiles, watchConfigFiles } from './config-file.js';
export type { HeadersOfCaller, UpstreamConnection } from './connection.js';
export type { ConfigErrorCode, StateFileErrorCode, UpstreamErrorCode } from './errors.js';
export { ConfigError, StateFileError, UpstreamError } from './errors.js';
export type { FloodLimit } from './flood-gate.js';
export type { HostCapabilities, HostChannel, HostRequestMethod, LogEntry } from './host-channel.js';
export type { LoginOptions } from './oauth-login.js';
export { login } from './oauth-login.js';
export type { HoldsCredentials, OAuthInteraction, SignIn } from './oauth-store.js';
export { FileOAuthProvider, forgetLogin, storedOAuthProvider } from './oauth-store.js';
export type { NodeProviderOptions } from './open-connection.js';
export type { OpenedProxy, OpenProxyOptions } from './open-proxy.js';
export { openProxy } from './open-proxy.js';
export type { NodeProvider } from './provider.js';
export { createNodeProvider } from './provider.js';
export type { RequiredPage } from './required-pages.js';
export { specsOf } from './specs.js';
export { defaultStateFolder } from './state-files.js';
export type { ConfigLookup } from './stores.js';
export { createMetadataStore, createPinStore, createSpill } from './stores.js';
