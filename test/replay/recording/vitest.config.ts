import { defineConfig } from 'vitest/config';

/** `npm run record-histories`: runs the scenarios and writes what Temporal kept of them to test/histories/. */
export default defineConfig({
  test: {
    root: new URL('../../..', import.meta.url).pathname,
    include: ['test/replay/recording/*.record.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
