/**
 * vitest global setup: gives every suite of a project one Redis as `inject('redisUrl')`.
 * `undefined` means that there is none; suites then skip themselves. With `REQUIRE_REDIS=1` that is a failure.
 */
import type {} from 'vitest';
import { findRedis, HOW_TO_GET_REDIS, type RedisServer, startRedis } from './redis.js';

declare module 'vitest' {
  export interface ProvidedContext {
    redisUrl: string | undefined;
  }
}

interface Project {
  readonly name: string;
  provide(key: 'redisUrl', value: string | undefined): void;
}

export default async function setup(project: Project): Promise<() => Promise<void>> {
  const found = findRedis();
  let server: RedisServer | undefined;
  switch (found.kind) {
    case 'url':
      project.provide('redisUrl', found.url);
      break;
    case 'binary':
      server = await startRedis();
      project.provide('redisUrl', server.url);
      break;
    case 'missing':
      if (process.env.REQUIRE_REDIS === '1') {
        throw new Error(`REQUIRE_REDIS=1, but there is no Redis: ${found.reason}. ${HOW_TO_GET_REDIS}.`);
      }
      process.stderr.write(
        `${project.name}: Redis suites skipped: ${found.reason}. To run them, ${HOW_TO_GET_REDIS}.\n`,
      );
      project.provide('redisUrl', undefined);
      break;
    default:
      found satisfies never;
  }
  return async () => server?.stop();
}
