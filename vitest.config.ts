import { defineConfig } from 'vitest/config';

// One run over every package: its totals are the project's totals.
export default defineConfig({
  test: { projects: ['packages/*', 'apps/*', 'tests'] },
});
