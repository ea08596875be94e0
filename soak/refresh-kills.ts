/**
 * A hundred refreshes whose worker is killed five times, with SIGKILL: the test of the suite, in full. Each is charged
 * once, and after each kill a refresh sends again only the batches that were in flight. About four minutes.
 *
 * Environment: REFRESHES (100), REFRESH_KILLS (5).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const { REFRESHES = '100', REFRESH_KILLS = '5' } = process.env;
const run = spawn('npx', ['vitest', 'run', 'test/faults/refresh.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, REFRESHES, REFRESH_KILLS },
});
[process.exitCode] = await once(run, 'exit');
