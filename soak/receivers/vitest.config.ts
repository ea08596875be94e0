import { defineConfig } from 'vitest/config';

/** `npm run test:receivers`: the receivers of the guide in every language that is installed. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/webhooks/verify-examples.test.ts'],
    env: { RECEIVERS: 'all' },
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
