import { defineConfig } from 'vitest/config';

/** `npm run test:searx`: searches by a real searx over a local site, where Debian's packages are. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['soak/searx/*.engine.ts'],
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
