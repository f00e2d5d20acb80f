import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'fsm-gate',
    globalSetup: ['@mcp-interlock/test-kit/redis-setup'],
    include: ['test/**/*.test.ts'],
    // Generous on purpose: a slow machine must not fail a test.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: './tsconfig.test.json' },
  },
});
