import { defineConfig } from 'vitest/config';
import type {} from './src/redis-setup.js'; // types `inject('redisUrl')`

export default defineConfig({
  test: {
    name: 'test-kit',
    globalSetup: ['./src/redis-setup.ts'],
    include: ['test/**/*.test.ts'],
    // Generous on purpose: a slow machine must not fail a test.
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
