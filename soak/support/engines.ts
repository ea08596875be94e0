import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '../../src/db/database.ts';
import { migrateToLatest } from '../../src/db/migrate.ts';
import { startStack } from '../../src/local/stack.ts';
import { bundleWorkflows } from '../../src/temporal/bundle.ts';

/** A migrated database and a Temporal server, and the workflows as one file. */
export interface Engines {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  /** Null without the UI. */
  readonly temporalUiUrl: string | null;
  readonly workflowBundle: string;
  stop(): Promise<void>;
}

/** A folder of the script's own, removed with what is in it. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'wcs-script-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

/** Writes the bundle of all workflows and returns the file's name. */
export async function writeBundle(folder: string): Promise<string> {
  const file = join(folder, 'workflows.cjs');
  await writeFile(file, (await bundleWorkflows()).code);
  return file;
}

/** @param partitionMinutes length of the first partitions; a day by default */
export async function migrate(databaseUrl: string, partitionMinutes?: number): Promise<void> {
  const db = createDatabase({ connectionString: databaseUrl });
  try {
    await migrateToLatest(db, undefined, partitionMinutes);
  } finally {
    await db.destroy();
  }
}

/** Engines that keep nothing on disk: for figures and schedules, not for kills. */
export async function startEphemeralEngines(options: { ui?: boolean } = {}): Promise<Engines> {
  const folder = temporaryFolder();
  const stack = await startStack({
    ephemeral: true,
    env: { ...process.env, DATABASE_URL: '', TEMPORAL_ADDRESS: '' },
    ui: options.ui ?? false,
  });
  const stop = async () => {
    await stack.stop();
    folder.remove();
  };
  try {
    await migrate(stack.databaseUrl);
    const { databaseUrl, temporalAddress, temporalUiUrl } = stack;
    return {
      databaseUrl,
      temporalAddress,
      temporalUiUrl,
      workflowBundle: await writeBundle(folder.path),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
