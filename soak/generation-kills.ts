/**
 * A hundred kills of the worker, with SIGKILL, while a model is asked and as runs enter each of their steps: whole ones,
 * outlines, approvals and doubled requests, beside refreshes of translations. The test of the suite, in full: each is charged
 * once, and after each kill only what was being written is asked for again. About an hour.
 *
 * Environment: GENERATION_KILLS (100).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const { GENERATION_KILLS = '100' } = process.env;
const run = spawn('npx', ['vitest', 'run', 'test/faults/generation.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, GENERATION_KILLS },
});
[process.exitCode] = await once(run, 'exit');
