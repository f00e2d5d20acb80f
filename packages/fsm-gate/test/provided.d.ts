/**
 * Types `inject('redisUrl')`. The test-kit does so too, but for its own vitest: the OpenTelemetry peer of this package makes
 * pnpm give it another one.
 */
import 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    redisUrl: string | undefined;
  }
}
