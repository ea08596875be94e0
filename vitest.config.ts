import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/fast-check.ts'],
    // Node 24 strips the types itself; nothing here needs a transformer of its own.
    pool: 'forks',
    // Most of a file is waiting for real timers, so that three share two cores well.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
