import { execFileSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { createDatabase } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { withEmbeddedDatabase } from '../../src/local/embedded-database.ts';
import { waitForLock } from '../../src/local/lock.ts';
import { dataFolder, endEnginesAfterTest } from './helpers.ts';

/**
 * A data folder as `npm run migrate` leaves it, for tests that are not about a first start: to make the files of a
 * database and its schema is most of what that one costs. Made once in a run, then copied; removed after the test.
 */
export async function migratedFolder(onEnd = onTestFinished): Promise<string> {
  const dataDir = join(dataFolder(onEnd), 'data');
  endEnginesAfterTest(dataDir, onEnd);
  // With owners and modes, which Postgres looks at.
  execFileSync('cp', ['-a', await original(), dataDir]);
  return dataDir;
}

async function original(): Promise<string> {
  // Goes with the run, like the bundle.
  const folder = join(dirname(inject('workflowBundlePath')), 'migrated');
  const attempt = await waitForLock(`${folder}.lock`, 'test', { timeoutMs: 120_000 });
  if ('heldBy' in attempt) throw new Error(`process ${attempt.heldBy.pid} makes ${folder} for too long`);
  try {
    if (!existsSync(folder)) {
      const draft = `${folder}.draft`;
      await withEmbeddedDatabase(draft, migrate);
      renameSync(draft, folder);
    }
    return folder;
  } finally {
    attempt.lock.release();
  }
}

async function migrate(connectionString: string): Promise<void> {
  const db = createDatabase({ connectionString, poolSize: 1 });
  await migrateToLatest(db).finally(() => db.destroy());
}
