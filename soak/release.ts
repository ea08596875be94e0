/**
 * Runs `npm start` of an earlier commit (OLD_COMMIT; where HEAD left main, or on main the commit before HEAD) on the
 * schema of this one, kills it with open work, and starts this one on its data. All of it must end as promised, once.
 * A change of a workflow that stops open runs, which is allowed before 1.0, shows as translations that never end.
 * About two minutes.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryFolder } from './support/engines.ts';
import { handOver } from './support/handover.ts';

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();

function earlierCommit(): string {
  const { OLD_COMMIT } = process.env;
  if (OLD_COMMIT !== undefined) return OLD_COMMIT;
  const left = git('merge-base', 'HEAD', 'main');
  return left === git('rev-parse', 'HEAD') ? 'HEAD^' : left;
}

const commit = git('rev-parse', earlierCommit());
const { path: folder, remove } = temporaryFolder();
try {
  const files = execFileSync('git', ['archive', commit], { maxBuffer: 1e9 });
  execFileSync('tar', ['-x', '-C', folder], { input: files });
  const lock = 'package-lock.json';
  if (readFileSync(join(folder, lock), 'utf8') === readFileSync(lock, 'utf8')) {
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  } else {
    execFileSync('npm', ['ci'], { cwd: folder, stdio: 'inherit' });
  }
  await handOver({ name: commit, folder }, { name: 'this commit', folder: '.' }, 'SIGKILL');
} finally {
  remove();
}
