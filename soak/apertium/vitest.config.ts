import { defineConfig } from 'vitest/config';

/** `npm run test:apertium`: the whole path on a real engine, where it is installed. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['soak/apertium/*.engine.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
