import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/sequencer.ts';

// Test files and the processes that they start load the same modules again and again.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/node', import.meta.url));

// Workers run workflows on their main thread: the five threads of production are half of a start, of which there are hundreds.
// A few tests have them (WITH_THREADS of test/support/processes.ts).
process.env.TEMPORAL_DEBUG ??= '1';

// Packages as production loads them: those of Markdown have another build that checks itself at every step.
process.env.NODE_ENV = 'production';

const common = {
  setupFiles: ['test/support/fast-check.ts', 'test/support/promise-hooks.ts'],
  pool: 'forks' as const,
  // Node 24 strips the types itself; nothing here is transformed or mocked.
  experimental: { viteModuleRunner: false, nodeLoader: false },
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

/** About what a process has one of: its threads, its memory, its tracing, its list of the busiest tenants. */
const APART = ['processes/*', 'threads/*', 'metrics/top', 'tracing/{sdk,spans}'].map(
  (files) => `test/${files}.test.ts`,
);

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Much of a file is waiting for real timers, so that four share two cores well.
    maxWorkers: 4,
    // Tests of one file that run beside each other each have a service of their own.
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...common, name: 'apart', include: APART } },
      {
        test: {
          ...common,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: APART,
          // To load the modules anew for every file would take a fifth of the whole run.
          isolate: false,
        },
      },
    ],
  },
});
