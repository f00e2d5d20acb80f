import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { name: 'mcp-proxy-long', include: ['test/**/*.check.ts'], testTimeout: 60_000, hookTimeout: 120_000 },
});
