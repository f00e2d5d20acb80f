export type { EraAsker } from './discover-request.js';
export { ServerExitedError } from './exit-error.js';
export { createStdioProbe, type StdioProbeOptions } from './stdio-probe.js';
export { StdioTransport, type StdioTransportOptions } from './stdio-transport.js';
export type { SetTimer } from './timer.js';
export { probeTransport, type TransportLike, type TransportProbeOptions } from './transport.js';
