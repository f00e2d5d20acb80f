export type {
  ParseConfigOptions,
  ParsedConfig,
  UpstreamConfig,
  UpstreamEndpoint,
  UpstreamLifecycle,
} from './config.js';
export { parseConfig } from './config.js';
export type { HeadersOfCaller, UpstreamConnection } from './connection.js';
export type { ConfigErrorCode, StateFileErrorCode, UpstreamErrorCode } from './errors.js';
export { ConfigError, StateFileError, UpstreamError } from './errors.js';
export type { HostCapabilities, HostChannel, HostRequestMethod } from './host-channel.js';
export type { NodeProvider, NodeProviderOptions } from './provider.js';
export { createNodeProvider } from './provider.js';
export { specsOf } from './specs.js';
